#include "engine/command.h"

#include <iterator>

namespace duewheel {

std::string_view change_outcome_name(ChangeOutcome outcome) {
    constexpr std::string_view kNames[] = {"cancelled", "rescheduled", "fired", "held",    "kicked", "waiting",
                                           "in_flight", "delivered",   "dead",  "expired", "gone"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(ChangeOutcome::gone) + 1);
    return kNames[static_cast<std::size_t>(outcome)];
}

std::string_view lease_outcome_name(LeaseOutcome outcome) {
    constexpr std::string_view kNames[] = {"done",     "retrying", "dead",    "extended",
                                           "released", "held",     "expired", "purged"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(LeaseOutcome::purged) + 1);
    return kNames[static_cast<std::size_t>(outcome)];
}

}  // namespace duewheel
