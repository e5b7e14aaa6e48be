#include "http_api/requests/patch_request.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/put_request.h"

namespace duewheel {
namespace {

constexpr std::string_view kMembers[] = {"delay",   "delay_ms",     "due",      "due_ms", "expires_in", "expires_in_ms",
                                         "expires", "expires_ms",   "priority", "retry",  "body",       "body_base64",
                                         "json",    "content_type", "headers",  "kafka"};
constexpr std::string_view kContentMembers[] = {"body", "body_base64", "json", "content_type", "headers", "kafka"};

bool concerns(const JsonRequest& json, std::string_view member) {
    return json.has(member) || json.removes(member);
}

bool concerns_time(const JsonRequest& json, std::string_view member) {
    return json.has_time(member) || json.removes_time(member);
}

// The content of a message with what the patch says of it.
Result<Content> changed_content(const JsonRequest& json, const HttpApiOptions& options, const MessageContent& kept) {
    PutCommand put;
    copy_content(kept, put);
    if (Status read = read_content_members(json, options, put); !read) return std::move(read).error();
    Content content;
    move_content(put, content);
    return content;
}

Status read_rules(const JsonRequest& json, const HttpApiOptions& options, PatchMessageCommand& patch) {
    PutCommand put;  // for the members that are read with those of a content
    if (Status read = read_content_members(json, options, put); !read) return read;
    if (concerns(json, "priority")) patch.priority = put.priority;
    if (concerns(json, "retry")) patch.retry = put.retry;
    if (!concerns_time(json, "expires") && !concerns_time(json, "expires_in")) return {};
    return read_expiry(json, patch.expires.emplace());
}

}  // namespace

Result<Command> read_message_patch(const HttpRequest& request, const HttpApiOptions& options, std::string name_space,
                                   MessageId id, MessageKey by_key) {
    const Result<std::shared_ptr<const MergePatch>> read = read_patch(request, kMembers);
    if (!read) return read.error();
    const JsonRequest& json = (*read)->json;
    PatchMessageCommand patch{.name_space = std::move(name_space), .id = id, .by_key = std::move(by_key)};
    for (const std::string_view member : {"delay", "due"}) {
        if (!json.removes_time(member)) continue;
        return Error{"missing_member"_code,
                     "a message has a due time always: give another one in `" + std::string(member) + "`, or omit it",
                     std::string(member)};
    }
    if (json.has_time("delay") || json.has_time("due")) {
        if (Status fine = read_when(json, options, patch.when.emplace()); !fine) return std::move(fine).error();
    }
    if (Status fine = read_rules(json, options, patch); !fine) return std::move(fine).error();
    const bool has_content = std::any_of(std::begin(kContentMembers), std::end(kContentMembers),
                                         [&](std::string_view member) { return concerns(json, member); });
    const bool only_moves = !has_content && !patch.priority && !patch.retry && !patch.expires;
    if (only_moves && !patch.when) {
        return Error{"missing_member"_code,
                     "give `delay` (such as \"10m\") or `due` (such as \"2027-01-01T06:00:00Z\"), or what else of the "
                     "message is to be changed",
                     "delay"};
    }
    if (only_moves) {
        return Command(RescheduleCommand{std::move(patch.name_space), id, *patch.when, std::move(patch.by_key)});
    }
    if (has_content) {
        // The patch lives as long as the command that needs its text.
        patch.content = [patch = *read, &options](const MessageContent& kept) {
            return changed_content(patch->json, options, kept);
        };
        patch.bytes = request.body.size();
    }
    return Command(std::move(patch));
}

}  // namespace duewheel
