// The clocks of the timer runtime: what time it is, and something that rings.
//
// Example:
//     const TimerClock& clock = monotonic_clock();
//     const TimerInstant begin = clock.now();
//     const std::unique_ptr<TimerAlarm> alarm = clock.make_alarm();
//     alarm->set(begin + 1ms);
//     while (clock.now() < begin + 1ms) alarm->wait();
//
// A TimerInstant counts nanoseconds on the axis of one clock. That axis never goes back and never jumps: it is the
// monotonic clock's, or the boot clock's, which also counts while the machine is suspended, or a test's. The wall clock
// is no axis, as people set it; it only translates: a timer for 09:00 knows its wall instant, and TimerService says
// what becomes of it when the wall jumps.
//
// Choose the monotonic one unless timers are to count the time that the machine is suspended, which the boot clock
// does. What it gives up: a wall clock as an axis.
//
// Why an interface. The library asks for the time and sleeps nowhere but through one of these, so a test replaces both
// at once: ManualClock (duewheel/manual_clock.h) drives the same threads as the real ones, without waiting.
#pragma once

#include <chrono>
#include <memory>

#include <duewheel/instant.h>

namespace duewheel {

class TimerAlarm;

// All functions may be called by any thread.
class TimerClock {
  public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<TimerClock>;
    static constexpr bool is_steady = true;

    virtual ~TimerClock() = default;

    // Rounded down, never before the origin, never less than before.
    [[nodiscard]] virtual time_point now() const = 0;

    // What the wall shows. It may jump, both ways.
    [[nodiscard]] virtual Instant wall_now() const = 0;

    // For one thread that sleeps on this clock. Throws std::system_error where the system has no more of them.
    [[nodiscard]] virtual std::unique_ptr<TimerAlarm> make_alarm() const = 0;
};

using TimerInstant = TimerClock::time_point;

// The instant of what never happens.
inline constexpr TimerInstant kNeverInstant = TimerInstant::max();

// A delay that never ends.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

// The sum, or kNeverInstant where there is no such instant.
constexpr TimerInstant instant_after(TimerInstant now, std::chrono::nanoseconds delay) {
    if (delay.count() > 0 && now > kNeverInstant - delay) return kNeverInstant;
    return now + delay;
}

// What a thread sleeps on. It rings when its clock has reached the instant it was set to.
class TimerAlarm {
  public:
    virtual ~TimerAlarm() = default;

    // Any thread. Replaces what was set before; an instant that has passed rings at once, kNeverInstant not at all.
    virtual void set(TimerInstant instant) = 0;

    // One thread at a time: blocks until it rings. It may also return for no reason.
    virtual void wait() = 0;

    // Becomes readable when the alarm rings, for poll() and its kin; -1 where the clock has none. Call rung() then.
    [[nodiscard]] virtual int descriptor() const { return -1; }
    virtual void rung() {}

    // From now on it also rings when somebody sets the wall clock, where the system tells. Any thread.
    virtual void ring_when_wall_is_set() {}
};

// Goes on evenly while the machine runs, and stands still while it is suspended.
[[nodiscard]] const TimerClock& monotonic_clock();

// Goes on while the machine is suspended: what was due meanwhile is due at once afterwards.
[[nodiscard]] const TimerClock& boot_clock();

}  // namespace duewheel
