#include "engine/commands/command.h"

#include "base/enum_name.h"

namespace duewheel {

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
