// Ticks: the only time the wheels know. A tick is what the owner says it is, a millisecond or a frame of a game; a
// wheel is told the present one and never asks. Here is also the arithmetic that goes wrong when it is done by hand:
// sums that pass the end, and deadlines that may be moved a little so that many fall together. Choose it with a wheel
// that you turn by hand; a timer_service.h takes durations. What it gives up: a tick knows no unit, so the caller alone
// keeps milliseconds from seconds.
//
// Example:
//     assert(tick_after(100, 20) == 120);
//     assert(tick_after(kNever - 5, 20) == kNever);
//     assert(relaxed_tick(1000, 50) == 1024);      // up to 50 ticks late, and with many others at that tick
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace duewheel {

using Tick = std::uint64_t;

// The deadline of a timer that never fires. No wheel gets there: the last tick it can stand at is the one before.
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();
inline constexpr Tick kLastTick = kNever - 1;

// `delay` ticks after `now`; never, if that lies beyond the last tick.
constexpr Tick tick_after(Tick now, Tick delay) {
    return delay < kNever - now ? now + delay : kNever;
}

// The roundest tick from `deadline` to `deadline + slack`, both included, of several the last: for timers that may be
// up to `slack` late and are never early. Deadlines that may share a tick then do, so a loop wakes less often: a
// thousand timers a minute ahead with a slack of a second fire at sixteen ticks. Round is meant in digits of base 64,
// the wheels' own. What it gives is a deadline like any other: the wheel knows of no slack, tells the rounder tick to
// the sink, and moves the timer down as often as others of that tick.
//
// Example: relaxed_tick(1000, 50) is 1024 = 16 * 64, relaxed_tick(1000, 10) is 1010, as no multiple of 64 is near.
constexpr Tick relaxed_tick(Tick deadline, Tick slack) {
    if (deadline == 0 || deadline == kNever || slack == 0) return deadline;
    const Tick latest = slack < kLastTick - deadline ? deadline + slack : kLastTick;
    // A multiple of 64^n lies in the window exactly if the last tick before it and the last tick in it differ in digit
    // n or above.
    const unsigned highest_bit = static_cast<unsigned>(std::bit_width((deadline - 1) ^ latest)) - 1;
    const unsigned zero_bits = highest_bit / 6 * 6;
    return latest >> zero_bits << zero_bits;
}

}  // namespace duewheel
