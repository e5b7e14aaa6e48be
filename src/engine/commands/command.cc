#include "engine/commands/command.h"

#include "base/enum_name.h"

namespace duewheel {

Command::Command() = default;
Command::Command(const Command& other) = default;
Command::Command(Command&& other) noexcept = default;
Command& Command::operator=(const Command& other) = default;
Command& Command::operator=(Command&& other) noexcept = default;
Command::~Command() = default;

Reply::Reply() = default;
Reply::Reply(const Reply& other) = default;
Reply::Reply(Reply&& other) noexcept = default;
Reply& Reply::operator=(const Reply& other) = default;
Reply& Reply::operator=(Reply&& other) noexcept = default;
Reply::~Reply() = default;

std::string_view change_outcome_name(ChangeOutcome outcome) {
    return enum_name<ChangeOutcome::gone>(
        outcome, {"cancelled", "cancelling", "rescheduled", "fired", "held", "kicked", "waiting", "in_flight",
                  "delivered", "dead", "expired", "changed", "gone"});
}

std::string_view limited_by_name(LimitedBy limit) {
    return enum_name<LimitedBy::queue_rate>(limit, {"", "leased", "rate", "backoff", "queue_leased", "queue_rate"});
}

std::string_view lease_outcome_name(LeaseOutcome outcome) {
    return enum_name<LeaseOutcome::cancelled>(
        outcome, {"done", "retrying", "dead", "extended", "released", "held", "expired", "purged", "cancelled"});
}

}  // namespace duewheel
