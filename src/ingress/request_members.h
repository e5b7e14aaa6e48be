// Members that more than one call takes, and how many are read in a row.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/call_path.h"
#include "ingress/http_api.h"
#include "ingress/json_request.h"
#include "net/http_message.h"

namespace duewheel {

// Puts what a member says into its place; one that is absent leaves the place as it is.
template <class T, class Into>
Status take(Result<std::optional<T>> read, Into& into) {
    if (!read) return std::move(read).error();
    if (*read) into = static_cast<Into>(**read);
    return {};
}

// What a patch removes is as if it had never been given.
template <class Into>
void reset_if_removed(const JsonRequest& request, std::string_view member, Into& into) {
    if (request.removes(member)) into = Into();
}

// A duration or an instant, removed under either of its names.
template <class Into>
void reset_if_time_removed(const JsonRequest& request, std::string_view member, Into& into) {
    if (request.removes_time(member)) into = Into();
}

// The members of a request that takes these and no others.
Result<JsonRequest> read_members(const HttpRequest& request, std::span<const std::string_view> known);

// A merge patch (RFC 7396), kept until its command is carried out. The views of `json` lead into `text`.
struct MergePatch {
    std::string text;
    JsonRequest json;
};
// Of members of which it takes these and no others; what they say is read when it is carried out. Codes as of
// read_members().
Result<std::shared_ptr<const MergePatch>> read_patch(const HttpRequest& request,
                                                     std::span<const std::string_view> known);

// Code bad_id.
Result<MessageId> parse_message_id(std::string_view text);

// The path's namespace and queue, decoded. Codes: bad_path, bad_namespace, bad_queue_name.
Result<std::string> read_namespace(const CallPath& path, const HttpApiOptions& options);
Result<std::string> read_queue(const CallPath& path, const HttpApiOptions& options);

// The members of the command that ends or extends a lease by this call, whose token is still to be set.
Result<Command> read_lease_end(const JsonRequest& json, CallPath::What what);
void set_lease(Command& command, const LeaseToken& lease);
// The members that it takes beside the token.
std::span<const std::string_view> lease_end_members(CallPath::What what);

// `delay` or `due`; `conflicting_members` where both are given. An instant in the past is due now; one by number that
// is more than a year ago is refused (`bad_instant`).
Status read_when(const JsonRequest& request, const HttpApiOptions& options, When& into);
// The member `flex`: how much later than that it may be. Codes of durations.
Status read_flex(const JsonRequest& request, std::int64_t& into_ms);

}  // namespace duewheel
