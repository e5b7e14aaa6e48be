#include "http_api/requests/lease_end_request.h"

#include <utility>
#include <variant>

#include "http_api/fields/request_members.h"
#include "message/failure_reason.h"

namespace duewheel {
namespace {

constexpr std::string_view kFailMembers[] = {"reason", "retry_in", "retry_in_ms"};
constexpr std::string_view kExtendMembers[] = {"lease", "lease_ms"};
constexpr std::string_view kReleaseMembers[] = {"delay", "delay_ms"};

}  // namespace

std::span<const std::string_view> lease_end_members(CallPath::What what) {
    switch (what) {
        case CallPath::What::fail:
        case CallPath::What::fail_batch:
            return kFailMembers;
        case CallPath::What::extend:
        case CallPath::What::extend_batch:
            return kExtendMembers;
        case CallPath::What::release:
        case CallPath::What::release_batch:
            return kReleaseMembers;
        default:
            return {};
    }
}

Result<Command> read_lease_end(const JsonRequest& json, CallPath::What what) {
    switch (what) {
        case CallPath::What::fail:
        case CallPath::What::fail_batch: {
            FailCommand fail;
            std::string_view reason;
            Status read = take(json.text("reason"), reason);
            if (read) read = take(json.duration_ms("retry_in"), fail.retry_in_ms);
            if (!read) return std::move(read).error();
            fail.reason = stored_reason(reason);
            return Command(std::move(fail));
        }
        case CallPath::What::extend:
        case CallPath::What::extend_batch: {
            ExtendCommand extend;
            if (Status read = take(json.duration_ms("lease"), extend.lease_ms); !read) return std::move(read).error();
            return Command(extend);
        }
        case CallPath::What::release:
        case CallPath::What::release_batch: {
            ReleaseCommand release;
            if (Status read = take(json.duration_ms("delay"), release.delay_ms); !read) return std::move(read).error();
            return Command(release);
        }
        case CallPath::What::hold_lease:
            return Command(HoldLeaseCommand{});
        default:
            return Command(AckCommand{});
    }
}

void set_lease(Command& command, const LeaseToken& lease) {
    std::visit(
        [&](auto& ends) {
            if constexpr (requires { ends.lease = lease; }) ends.lease = lease;
        },
        command);
}

}  // namespace duewheel
