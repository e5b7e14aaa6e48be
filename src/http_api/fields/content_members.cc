#include "http_api/fields/content_members.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/base64.h"
#include "base/byte_size.h"
#include "base/error_codes.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/message_headers.h"
#include "http_api/requests/retry_request.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kBodyMembers[] = {"body", "body_base64", "json"};

bool is_json_type(std::string_view content_type) {
    return equal_ignoring_case(essence(content_type), kJsonType);
}

// Whether there is a body in any form, or a patch removes it.
bool changes_body(const JsonRequest& request) {
    return has_body(request) || std::any_of(std::begin(kBodyMembers), std::end(kBodyMembers),
                                            [&](std::string_view member) { return request.removes(member); });
}

Status read_body(const JsonRequest& request, const HttpApiOptions& options, PutCommand& put) {
    std::string_view given;
    for (const std::string_view member : kBodyMembers) {
        if (!request.has(member)) continue;
        if (!given.empty()) {
            return Error{"conflicting_members"_code,
                         "give `" + std::string(given) + "` or `" + std::string(member) + "`, not both",
                         std::string(member)};
        }
        given = member;
    }
    if (const std::optional<std::string_view> json = request.json_text("json")) {
        if (put.content_type.empty()) put.content_type = kJsonType;
        if (!is_json_type(put.content_type)) {
            return Error{
                "conflicting_members"_code,
                "`json` has the type application/json: omit `content_type`, or give the content as `body`, a string",
                "content_type"};
        }
        put.body = *json;
    }
    if (Status read = assign(request.text("body"), put.body); !read) {
        Error error = std::move(read).error();
        error.message += "; use `json` for other JSON and `body_base64` for other bytes";
        return error;
    }
    const Result<std::optional<std::string_view>> encoded = request.text("body_base64");
    if (!encoded) return encoded.error();
    if (*encoded) {
        std::optional<std::string> bytes = parse_base64(**encoded);
        if (!bytes) {
            return Error{"bad_base64"_code,
                         "`body_base64` must be standard base64 with padding and without line breaks", "body_base64"};
        }
        put.body = *std::move(bytes);
    }
    return check_body_size(put.body, options);
}

Status read_priority(const JsonRequest& request, std::int32_t& into) {
    const Result<std::optional<std::int64_t>> priority = request.integer("priority");
    if (!priority) return priority.error();
    using Limits = std::numeric_limits<std::int32_t>;
    reset_if_removed(request, "priority", into);
    const std::int64_t value = priority->value_or(into);
    if (value < Limits::min() || value > Limits::max()) {
        return Error{"out_of_range"_code,
                     "`priority` must be an integer from -2147483648 to 2147483647; messages with smaller values are "
                     "delivered first",
                     "priority"};
    }
    into = static_cast<std::int32_t>(value);
    return {};
}

// A name of the caller's own. `why` says what messages with the same one have in common.
Status read_label(const JsonRequest& request, std::string_view member, std::size_t bytes_max, ErrorCode code,
                  std::string_view why, std::string& into) {
    const Result<std::optional<std::string_view>> read = request.text(member);
    if (!read) return read.error();
    reset_if_removed(request, member, into);
    if (!*read) return {};
    if (!is_label(**read, bytes_max)) {
        return Error{code,
                     "`" + std::string(member) + "` must be a string of 1 to " + std::to_string(bytes_max) +
                         " bytes in UTF-8 without control characters; messages with the same one " + std::string(why),
                     std::string(member)};
    }
    into = **read;
    return {};
}

Status read_content_type(const JsonRequest& request, std::string& into) {
    reset_if_removed(request, "content_type", into);
    if (Status read = assign(request.text("content_type"), into); !read) return read;
    if (into.empty() || is_media_type(into)) return {};
    return Error{"bad_content_type"_code,
                 "`content_type` must be a media type such as \"text/plain\", of up to " +
                     std::to_string(kMediaTypeBytesMax) + " ASCII characters",
                 "content_type"};
}

}  // namespace

bool is_label(std::string_view text, std::size_t bytes_max) {
    const bool has_control = std::any_of(text.begin(), text.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    return !text.empty() && text.size() <= bytes_max && !has_control && is_utf8(text);
}

bool has_body(const JsonRequest& json) {
    return std::any_of(std::begin(kBodyMembers), std::end(kBodyMembers),
                       [&](std::string_view member) { return json.has(member); });
}

Status check_body_size(std::string_view body, const HttpApiOptions& options) {
    if (body.size() <= options.body_bytes_max) return {};
    return Error{"body_too_large"_code,
                 "a message body has up to " + format_byte_size(static_cast<std::int64_t>(options.body_bytes_max)) +
                     ": store the content elsewhere and put its address into the message",
                 "body"};
}

Status read_content_members(const JsonRequest& json, const HttpApiOptions& options, PutCommand& put) {
    Status read = read_label(json, "order_key", kOrderKeyBytesMax, "bad_order_key"_code,
                             "are delivered one after the other", put.order_key);
    if (read) {
        read = read_label(json, "group", kGroupBytesMax, "bad_group"_code, "share a turn, and the limits of groups",
                          put.group);
    }
    if (read) read = read_priority(json, put.priority);
    if (read) read = read_retry(json, put.retry);
    if (changes_body(json)) {
        put.body.clear();
        put.content_type.clear();
    }
    if (read) read = read_content_type(json, put.content_type);
    if (read) read = read_message_headers(json, options, put.headers);
    if (read) read = read_body(json, options, put);
    if (read) read = fit_null_value(json, put.body, put.headers);
    return read;
}

}  // namespace duewheel
