// Ticks, the time of the wheels. A tick has any length, such as a millisecond or a frame of a game; a wheel gets the
// current tick as an argument and never asks for it. This header also has arithmetic that is error-prone by hand: sums
// that overflow, and deadlines that can be shifted so that many coincide. Choose it with a wheel that you advance
// yourself; timer_service.h takes durations. Drawback: a tick has no unit, so only the caller prevents confusion of
// milliseconds and seconds.
//
// Example:
//     assert(tick_after(100, 20) == 120);
//     assert(tick_after(kNever - 5, 20) == kNever);
//     assert(relaxed_tick(1000, 50) == 1024);      // up to 50 ticks late, at the same tick as many others
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace duewheel {

using Tick = std::uint64_t;

// The deadline of a timer that never fires. No wheel reaches it: the last possible tick is the one before.
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();
inline constexpr Tick kLastTick = kNever - 1;

// `delay` ticks after `now`; never, if that is beyond the last tick.
constexpr Tick tick_after(Tick now, Tick delay) {
    return delay < kNever - now ? now + delay : kNever;
}

// The roundest tick from `deadline` to `deadline + slack`, both included, the last of several: for timers that may be
// up to `slack` late and are never early. Deadlines that can share a tick then do, so a loop wakes up less often: a
// thousand timers within a minute with a slack of a second fire at sixteen ticks. Round means in digits of base 64,
// those of the wheels. The result is an ordinary deadline: the wheel does not know the slack, passes the rounded tick
// to the sink, and moves the timer down as often as others of that tick.
//
// Example: relaxed_tick(1000, 50) is 1024 = 16 * 64; relaxed_tick(1000, 10) is 1010, because no multiple of 64 is near.
constexpr Tick relaxed_tick(Tick deadline, Tick slack) {
    if (deadline == 0 || deadline == kNever || slack == 0) return deadline;
    const Tick latest = slack < kLastTick - deadline ? deadline + slack : kLastTick;
    // There is a multiple of 64^n in the window exactly if the last tick before it and the last tick in it differ in
    // digit n or above.
    const unsigned highest_bit = static_cast<unsigned>(std::bit_width((deadline - 1) ^ latest)) - 1;
    const unsigned zero_bits = highest_bit / 6 * 6;
    return latest >> zero_bits << zero_bits;
}

}  // namespace duewheel
