// A point in time, and the stretch of time that calendars of this library reckon in.
//
// An instant is a std::chrono::sys_time in milliseconds: Unix time, without leap seconds. A local time is what a clock
// on the wall of some place shows; only a zone (duewheel/zone.h) turns one into the other.
//
// Choose it for what people and files name; timers that wait a while take the std::chrono::nanoseconds of a
// timer_clock.h. What it gives up: anything finer than a millisecond.
//
// Rules about the calendar are answered from 1970 through the year 2399 (UTC). The laws that make time zones are not
// known so far ahead; the end is there so that every search has one. What is due by an interval needs none of this:
// that is wheel time (tick.h), which no clock change touches.
//
// Example:
//     const Instant noon = sys_days{2026y / November / 21} + 12h;
//     assert(noon.time_since_epoch() == 1'795'262'400s);
#pragma once

#include <chrono>

namespace duewheel {

using Instant = std::chrono::sys_time<std::chrono::milliseconds>;
using LocalSecond = std::chrono::local_seconds;

// The first instant of the calendar, and the first one after it.
inline constexpr Instant kCalendarBegin{std::chrono::sys_days{std::chrono::January / 1 / 1970}};
inline constexpr Instant kCalendarEnd{std::chrono::sys_days{std::chrono::January / 1 / 2400}};

}  // namespace duewheel
