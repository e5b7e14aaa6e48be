// The clocks of the timer library: the current time, and alarms.
//
// Example:
//     const TimerClock& clock = monotonic_clock();
//     const TimerInstant begin = clock.now();
//     const std::unique_ptr<TimerAlarm> alarm = clock.make_alarm();
//     alarm->set(begin + 1ms);
//     while (clock.now() < begin + 1ms) alarm->wait();
//
// A TimerInstant counts nanoseconds on one clock. That clock never goes back and never jumps: it is the monotonic
// clock, or the boot clock, which also advances while the machine is suspended, or a clock for tests. The wall clock is
// not used for that, because people set it; it is only converted: a timer for 09:00 knows its wall clock time, and
// TimerService determines what happens to it when the wall clock jumps.
//
// Choose the monotonic clock unless timers should count the time that the machine is suspended, as the boot clock does.
// Drawback: the wall clock cannot be used directly.
//
// Why an interface. The library gets the time and sleeps only through one of these, so a test replaces both at once:
// ManualClock (duewheel/manual_clock.h) drives the same threads as the real clocks, without waiting.
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

    // The wall clock. It can jump in both directions.
    [[nodiscard]] virtual Instant wall_now() const = 0;

    // For one thread that sleeps on this clock. Throws std::system_error if the system has no more of them.
    [[nodiscard]] virtual std::unique_ptr<TimerAlarm> make_alarm() const = 0;
};

using TimerInstant = TimerClock::time_point;

// The instant of an event that never happens.
inline constexpr TimerInstant kNeverInstant = TimerInstant::max();

// A delay that never ends.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

// The sum, or kNeverInstant if there is no such instant.
constexpr TimerInstant instant_after(TimerInstant now, std::chrono::nanoseconds delay) {
    if (delay.count() > 0 && now > kNeverInstant - delay) return kNeverInstant;
    return now + delay;
}

// The alarm that a thread sleeps on. It rings when its clock has reached the instant that it was set to.
class TimerAlarm {
  public:
    virtual ~TimerAlarm() = default;

    // Any thread. Replaces the previous instant; a past instant rings at once, kNeverInstant never.
    virtual void set(TimerInstant instant) = 0;

    // One thread at a time: blocks until it rings. Spurious returns are possible.
    virtual void wait() = 0;

    // Becomes readable when the alarm rings, for poll() and the like; -1 if the clock has none. Call rung() then.
    [[nodiscard]] virtual int descriptor() const { return -1; }
    virtual void rung() {}

    // From now on it also rings when the wall clock is set, if the system reports that. Any thread.
    virtual void ring_when_wall_is_set() {}
};

// Advances evenly while the machine runs, and does not advance while it is suspended.
[[nodiscard]] const TimerClock& monotonic_clock();

// Advances also while the machine is suspended: timers that became due meanwhile are due at once afterwards.
[[nodiscard]] const TimerClock& boot_clock();

}  // namespace duewheel
