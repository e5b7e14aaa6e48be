// What becomes of a schedule's nominal times that have come: pure decisions, without the engine.
//
// A nominal time comes, and within `on_time_ms` of it its run is made: it was on time. What is older was missed, while
// the server was down, its disk or the queue full, and the schedule's misfire policy decides:
//
//     every minute, last run 11:57, down until 12:02:30, on time within 5 s
//     once    12:02 makes a run, into which 11:58 to 12:01 are merged
//     all     11:58, 11:59, 12:00, 12:01, 12:02 make a run each: at most `catch_up_max` in a row, the rest is skipped
//     skip    none; five are skipped
//
// With a window what is older than it is skipped before all that, also what would be on time. An overlap policy then
// looks at the run before: while that is unfinished, a run is skipped, with what would have been merged into it, or
// waits for its end. Of those that come while one waits the newest waits in its place, and the others are merged into
// it; what is older than the window when it may go is skipped.
//
// Nothing is merged into a run that has no room: the whole row waits with it.
//
// Each step is decided by what came before it alone, so a long row of missed times may be walked in shares, each
// durable before the next, and gives the same as in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "message/schedule_state.h"
#include "message/schedule_times.h"

namespace duewheel {

struct PlanLimits {
    std::int64_t on_time_ms = 5'000;
    std::uint32_t catch_up_max = 1'000;
    std::size_t runs_max = 100;       // of one plan
    std::size_t steps_max = 10'000;   // nominal times of one plan
    bool last_is_unfinished = false;  // the newest run; matters to overlap policies alone
};

struct PlannedRun {
    DueMs nominal_ms = 0;
    std::uint64_t number = 0;

    bool operator==(const PlannedRun&) const = default;
};

struct SchedulePlan {
    std::vector<PlannedRun> runs;
    ScheduleState after;  // its revision and newest run are still those of before
    std::size_t steps = 0;
    // Nominal times that this plan passes over; 0: none.
    DueMs passed_from_ms = 0;
    DueMs passed_to_ms = 0;

    bool changes_nothing() const { return runs.empty() && steps == 0; }
};

// The schedule is not paused.
SchedulePlan plan_runs(const ScheduleState& state, const ScheduleTimes& times, DueMs now, const PlanLimits& limits);

// The next nominal time after the one that is next now, with `times` of the rule counted; 0: none.
DueMs time_after_next(const ScheduleState& state, const ScheduleTimes& times);

}  // namespace duewheel
