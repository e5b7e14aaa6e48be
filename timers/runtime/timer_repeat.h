// The state of a timer that fires repeatedly, or at a wall clock time: when it is due next. Takes the time as an
// argument.
//
//     rate     a period from the nominal start of the previous run; MissedPeriods decides about late runs
//     delay    a period from the end of the previous run
//     cron     the next instant of the calendar after the previous one
//     wall     at a wall clock time: once, unless its task sets the next one
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <duewheel/cron_schedule.h>
#include <duewheel/timer_clock.h>
#include <duewheel/timer_node.h>
#include <duewheel/timer_service.h>

namespace duewheel {

struct TimerRepeat {
    enum class Kind : std::uint8_t { rate, delay, cron, wall };

    bool is_at_wall() const { return kind == Kind::cron || kind == Kind::wall; }

    Kind kind = Kind::rate;
    MissedPeriods missed = MissedPeriods::burst;
    // Members of rate and delay. While the task runs they belong to its thread; while the timer is pending the baton
    // guards them.
    std::chrono::nanoseconds period{0};
    TimerInstant nominal{};  // of the present run
    TimerInstant begun{};    // when the driver came to it
    Instant wall{};          // of the present run, of cron and wall
    std::optional<CronSchedule> schedule{};
    bool keeps_to_wall = false;     // whatever WallJump is for others
    std::optional<Instant> next{};  // of wall: the next time requested by its task
    std::optional<TimerInstant>
        moved{};  // of rate and delay: the instant requested by its task instead of the next one

    std::chrono::milliseconds wall_ahead{0};  // of the clock, when `wall` was last converted

    // The list of those at wall clock times on the wheel; guarded by the baton.
    TimerNode* next_at_wall = nullptr;
    TimerNode* prev_at_wall = nullptr;
};

// After a run that has ended at `now`: advances `repeat` to the next one. False if there is none.
bool move_on(TimerRepeat& repeat, TimerInstant now, Instant wall_now);

// The instant of the clock at which the wall clock shows `wall`, unless it is set.
TimerInstant instant_of_wall(Instant wall, TimerInstant now, Instant wall_now);

}  // namespace duewheel
