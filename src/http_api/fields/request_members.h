// Members of several calls, and helpers for reading them.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// Stores the value of a member; an absent member leaves the target unchanged.
template <class T, class Into>
Status assign(Result<std::optional<T>> read, Into& into) {
    if (!read) return std::move(read).error();
    if (*read) into = static_cast<Into>(**read);
    return {};
}

// A member that a patch removes is treated as absent.
template <class Into>
void reset_if_removed(const JsonRequest& request, std::string_view member, Into& into) {
    if (request.removes(member)) into = Into();
}

// A duration or an instant, removed under either of its names.
template <class Into>
void reset_if_time_removed(const JsonRequest& request, std::string_view member, Into& into) {
    if (request.removes_time(member)) into = Into();
}

// The members of a request that accepts only these.
Result<JsonRequest> read_members(const HttpRequest& request, std::span<const std::string_view> known);

// A merge patch (RFC 7396), kept until its command is executed. The views of `json` point into `text`.
struct MergePatch {
    std::string text;
    JsonRequest json;
};
// Reads a merge patch in which only these members are known; their values are read when it is executed. Codes: those of
// read_members().
Result<std::shared_ptr<const MergePatch>> read_patch(const HttpRequest& request,
                                                     std::span<const std::string_view> known);

// `delay` or `due`; `conflicting_members` if both are given. An instant in the past is due now; a numeric one more than
// a year ago is refused (`bad_instant`).
Status read_when(const JsonRequest& request, const HttpApiOptions& options, When& into);

}  // namespace duewheel
