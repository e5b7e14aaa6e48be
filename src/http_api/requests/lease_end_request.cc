#include "http_api/requests/lease_end_request.h"

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error_codes.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/lease_rows.h"
#include "http_api/fields/work_members.h"
#include "message/failure_reason.h"

namespace duewheel {
namespace {

// A number says which part of the work is done.
Status check_progress(const ExtendCommand& extend) {
    if (!extend.progress || is_progress(*extend.progress)) return {};
    return Error{"bad_progress"_code, "`progress` must be a number from 0 to 1, or other JSON such as {\"page\": 7}",
                 "progress"};
}

Status check_failure(FailCommand& fail) {
    fail.reason = stored_reason(fail.reason);
    if (!fail.dead || !fail.retry_in_ms) return {};
    return Error{"conflicting_members"_code, "give `dead` or `retry_in`, not both: a dead letter is not retried",
                 "retry_in"};
}

template <class Ends>
Result<Command> read_members_of(const JsonRequest& json, const Command* common) {
    Ends ends = common != nullptr ? std::get<Ends>(*common) : Ends();
    if (Status read = read_known_fields(json, fields_of<Ends>(), &ends); !read) return std::move(read).error();
    Status sound;
    if constexpr (std::is_same_v<Ends, FailCommand>) sound = check_failure(ends);
    if constexpr (std::is_same_v<Ends, ExtendCommand>) sound = check_progress(ends);
    if (!sound) return std::move(sound).error();
    return Command(std::move(ends));
}

struct Ending {
    const FieldTable& (*table)();
    Result<Command> (*read)(const JsonRequest& json, const Command* common);
};
template <class Ends>
constexpr Ending kEnding = {fields_of<Ends>, read_members_of<Ends>};

Ending ending_of(CallPath::What what) {
    switch (what) {
        case CallPath::What::fail:
        case CallPath::What::fail_batch:
            return kEnding<FailCommand>;
        case CallPath::What::extend:
        case CallPath::What::extend_batch:
            return kEnding<ExtendCommand>;
        case CallPath::What::release:
        case CallPath::What::release_batch:
            return kEnding<ReleaseCommand>;
        case CallPath::What::hold_lease:
            return kEnding<HoldLeaseCommand>;
        default:
            return kEnding<AckCommand>;
    }
}

}  // namespace

std::span<const std::string_view> lease_end_members(CallPath::What what) {
    return ending_of(what).table().members_of({});
}

Result<Command> read_lease_end(const JsonRequest& json, CallPath::What what, const Command* common) {
    return ending_of(what).read(json, common);
}

void set_lease(Command& command, const LeaseToken& lease) {
    std::visit(
        [&](auto& ends) {
            if constexpr (requires { ends.lease = lease; }) ends.lease = lease;
        },
        command);
}

}  // namespace duewheel
