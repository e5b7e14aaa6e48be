// A schedule in memory.
#pragma once

#include <optional>

#include "engine/rules/rule_table.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"

namespace duewheel {

struct Schedule : NamedRule<ScheduleState> {
    std::optional<ScheduleTimes> times;   // none: its zone cannot be loaded any more
    std::optional<ScheduleTimes> coming;  // of the record in the batch, if that changes them

    bool is_inactive() const { return state.paused || !times || state.has_ended(); }
    // When the run of a nominal time is due: that time plus the jitter, which depends only on the name and the time.
    DueMs due_of(DueMs nominal_ms) const;
};

using ScheduleTable = RuleTable<Schedule>;

}  // namespace duewheel
