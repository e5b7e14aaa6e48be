// A wheel for std::chrono: wraps any of the three wheels (timing_wheel.h, id_timing_wheel.h, intrusive_timing_wheel.h)
// and takes instants of a clock instead of ticks.
//
// Why choose it: it rounds correctly. A deadline is rounded up to a tick and the current time is rounded down, so no
// timer is early, and one on the edge of a tick is not a tick late; a deadline beyond the end of the clock never fires.
// It reads no clock: the caller passes the time, such as steady_clock::now(), or any time in a test. Drawback: a
// division for each call, some nanoseconds.
//
// Example:
//     const steady_clock::time_point begin = steady_clock::now();
//     ChronoWheel<TimingWheel> wheel(begin, 1ms);
//     const TimerHandle request = wheel.schedule_at(begin + 20ms, 7);
//     wheel.schedule_at(begin + 2h, 8);
//     assert(wheel.wheel().cancel(request) && wheel.next_expiry() == begin + 2h);
//     wheel.advance_to(begin + 2h, [](std::uint64_t cookie, Tick) { assert(cookie == 8); });
//     ChronoWheel<IdTimingWheel> idle(begin, 1ms, 1000);     // a timer for each of 1,000 connections
//     idle.schedule_at(begin + 30s, 17);
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/tick.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

// Single-owner, like the wheel in it. Instants of Clock are counted in integers.
template <class Wheel, class Clock = std::chrono::steady_clock>
class ChronoWheel {
  public:
    using Instant = typename Clock::time_point;
    using Duration = typename Clock::duration;
    static_assert(std::integral<typename Clock::rep>);

    // Its tick 0 starts at `begin`; `arguments` are those of the wheel's constructor before the time. Throws
    // std::invalid_argument for a tick of zero or less, and like the wheel's constructor.
    template <class... Arguments>
    ChronoWheel(Instant begin, Duration tick, Arguments&&... arguments)
        : begin_(begin), tick_(checked(tick)), wheel_(std::forward<Arguments>(arguments)...) {}

    // Schedules a timer, which fires at the first tick at or after the deadline: `timer` is a cookie for TimingWheel,
    // whose handle is returned; an id for IdTimingWheel; the timer itself for IntrusiveTimingWheel. Instant::max()
    // never fires. Costs and throws like the wheel's schedule().
    template <class Timer>
    auto schedule_at(Instant deadline, Timer&& timer) {
        if constexpr (std::same_as<Wheel, TimingWheel>) {
            return wheel_.schedule(tick_of(deadline), timer);
        } else {
            return wheel_.schedule(std::forward<Timer>(timer), tick_of(deadline));
        }
    }
    // For timers of a TimingWheel; others are moved by schedule_at(). False if it is not pending.
    [[nodiscard]] bool reschedule_at(TimerHandle handle, Instant deadline) requires std::same_as<Wheel, TimingWheel> {
        return wheel_.reschedule(handle, tick_of(deadline));
    }

    // Like that of the wheel, with the time as an argument.
    template <class Sink>
    std::size_t advance_to(Instant now, Sink&& sink, std::size_t budget = std::numeric_limits<std::size_t>::max()) {
        return wheel_.advance_to(ticks_until(now, Round::down), std::forward<Sink>(sink), budget);
    }

    // When advance_to() next has something to fire; Instant::max() if never.
    [[nodiscard]] Instant next_expiry() { return instant_of(wheel_.next_expiry()); }

    // The tick of a deadline, and the start of a tick: Instant::max() beyond the end of the clock.
    [[nodiscard]] Tick tick_of(Instant deadline) const {
        return deadline == Instant::max() ? kNever : ticks_until(deadline, Round::up);
    }
    [[nodiscard]] Instant instant_of(Tick tick) const {
        const std::uint64_t left = span(begin_, Instant::max());
        return tick > left / tick_
                   ? Instant::max()
                   : Instant(Duration(static_cast<typename Clock::rep>(
                         static_cast<std::uint64_t>(begin_.time_since_epoch().count()) + tick * tick_)));
    }

    // For everything unrelated to time: cancel(), size(), clear(), check().
    [[nodiscard]] Wheel& wheel() { return wheel_; }

  private:
    enum class Round : std::uint8_t { down, up };

    static std::uint64_t checked(Duration tick) {
        if (tick.count() > 0) return static_cast<std::uint64_t>(tick.count());
        throw std::invalid_argument("ChronoWheel: a tick of " + std::to_string(tick.count()) +
                                    " of the clock's units. Take at least 1.");
    }
    // Unsigned, because the difference of two instants can exceed a Duration.
    static std::uint64_t span(Instant from, Instant to) {
        return static_cast<std::uint64_t>(to.time_since_epoch().count()) -
               static_cast<std::uint64_t>(from.time_since_epoch().count());
    }
    Tick ticks_until(Instant instant, Round round) const {
        if (instant <= begin_) return 0;
        const std::uint64_t since = span(begin_, instant);
        return since / tick_ + (round == Round::up && since % tick_ > 0 ? 1 : 0);
    }

    const Instant begin_;
    const std::uint64_t tick_;  // in the clock's units
    Wheel wheel_;
};

}  // namespace duewheel
