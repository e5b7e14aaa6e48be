// Decides what happens to the nominal times of a schedule that have come: pure functions, without the engine.
//
// A run that is created within `on_time_ms` of its nominal time is on time. An older one was missed, while the server
// was down or its disk or the queue was full, and the misfire policy of the schedule decides:
//
//     every minute, last run 11:57, down until 12:02:30, on time within 5 s
//     once    12:02 creates a run, into which 11:58 to 12:01 are merged
//     all     11:58, 11:59, 12:00, 12:01, 12:02 create a run each: up to `catch_up_max` in a row; more are skipped
//     skip    none; five are skipped
//
// With a window, times older than it are skipped first, even if they would be on time. An overlap policy then checks
// the previous run: while that is unfinished, a run is skipped, with what would have been merged into it, or waits for
// its end. Of runs that come while one waits, the newest takes its place, and the others are merged into it. A run that
// is older than the window when it may start is skipped.
//
// Nothing is merged into a run for which there is no space: the whole sequence waits with it.
//
// Each step depends only on the previous one, so a long sequence of missed times can be processed in parts, each
// durable before the next, with the same result as at once.
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
    bool last_is_unfinished = false;  // the newest run; relevant only for overlap policies
};

struct PlannedRun {
    DueMs nominal_ms = 0;
    std::uint64_t number = 0;

    bool operator==(const PlannedRun&) const = default;
};

struct SchedulePlan {
    std::vector<PlannedRun> runs;
    ScheduleState after;  // its revision and newest run are unchanged
    std::size_t steps = 0;
    // Nominal times that this plan skips; 0: none.
    DueMs passed_from_ms = 0;
    DueMs passed_to_ms = 0;

    bool changes_nothing() const { return runs.empty() && steps == 0; }
};

// The schedule is not paused.
SchedulePlan plan_runs(const ScheduleState& state, const ScheduleTimes& times, DueMs now, const PlanLimits& limits);

// The nominal time after the next one, with `times` of the rule counted; 0: none.
DueMs time_after_next(const ScheduleState& state, const ScheduleTimes& times);

}  // namespace duewheel
