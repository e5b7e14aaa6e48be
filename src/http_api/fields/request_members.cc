#include "http_api/fields/request_members.h"

#include <cstdint>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "http_api/fields/field_syntax.h"

namespace duewheel {
namespace {

// A numeric instant further in the past is treated as a mistake.
constexpr std::int64_t kPastByNumberMs = std::int64_t{365} * 86'400'000;

}  // namespace

Result<JsonRequest> read_members(const HttpRequest& request, std::span<const std::string_view> known) {
    if (!request.body.empty() && !is_json(request)) {
        return Error{"unsupported_media_type"_code, "this call takes JSON: send Content-Type: application/json",
                     "Content-Type"};
    }
    Result<JsonRequest> json = JsonRequest::parse(request.body);
    if (!json) return json;
    if (Status fine = json->only(known); !fine) return std::move(fine).error();
    return json;
}

Result<std::shared_ptr<const MergePatch>> read_patch(const HttpRequest& request,
                                                     std::span<const std::string_view> known) {
    const std::optional<std::string_view> type = request.header("Content-Type");
    const bool says_patch = type && equal_ignoring_case(essence(*type), "application/merge-patch+json");
    if (!request.body.empty() && !says_patch && !is_json(request)) {
        return Error{
            "unsupported_media_type"_code,
            "this call takes a JSON merge patch: send Content-Type: application/merge-patch+json or application/json",
            "Content-Type"};
    }
    const auto patch = std::make_shared<MergePatch>();
    patch->text = request.body;
    Result<JsonRequest> json = JsonRequest::parse(patch->text);
    if (!json) return std::move(json).error();
    patch->json = *std::move(json);
    patch->json.read_as_patch();
    if (Status fine = patch->json.only(known); !fine) return std::move(fine).error();
    return std::shared_ptr<const MergePatch>(patch);
}

Status read_when(const JsonRequest& request, const HttpApiOptions& options, When& into) {
    if (request.has_time("delay") && request.has_time("due")) {
        return Error{"conflicting_members"_code, "give `delay` or `due`, not both", "due"};
    }
    if (Status read = assign(request.duration_ms("delay"), into.delay_ms); !read) return read;
    const Result<std::optional<std::int64_t>> due = request.instant_ms("due");
    if (!due) return due.error();
    if (!*due) return {};
    into.at_ms = **due;
    if (request.has("due") || **due >= options.server_ms() - kPastByNumberMs) return {};
    return Error{"bad_instant"_code,
                 "`due_ms` is " + format_instant(**due) +
                     ", more than a year ago: check its unit; if it is right, give it as a string in `due`",
                 "due_ms"};
}

}  // namespace duewheel
