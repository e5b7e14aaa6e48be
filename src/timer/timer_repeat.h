// What a timer needs that fires again, or at an instant of the wall: when it is due next, told what the time is.
//
//     rate     a period from the nominal start of the run before; what late runs mean is the caller's MissedPeriods
//     delay    a period from the end of the run before
//     cron     the next instant of the calendar after the one before
//     wall     at an instant of the wall: once, unless its task says when next
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
    // Of rate and delay. While the task runs they are its thread's; while the timer is pending the baton guards them.
    std::chrono::nanoseconds period{0};
    TimerInstant nominal{};  // of the present run
    TimerInstant begun{};    // when the driver came to it
    Instant wall{};          // of the present run, of cron and wall
    std::optional<CronSchedule> schedule{};
    bool keeps_to_wall = false;           // whatever WallJump says of others
    std::optional<Instant> next{};        // of wall: what its task wants, if it is to come again
    std::optional<TimerInstant> moved{};  // of rate and delay: what its task wants in place of the next instant

    std::chrono::milliseconds wall_ahead{0};  // of the clock's axis, when `wall` was last translated

    // The list of those at wall instants that are in the wheel; guarded by the baton.
    TimerNode* next_at_wall = nullptr;
    TimerNode* prev_at_wall = nullptr;
};

// After a run that has ended at `now`: moves `repeat` on to the next one. False when there is none.
bool move_on(TimerRepeat& repeat, TimerInstant now, Instant wall_now);

// The instant on the clock's axis at which the wall shows `wall`, if nobody sets it.
TimerInstant instant_of_wall(Instant wall, TimerInstant now, Instant wall_now);

}  // namespace duewheel
