// A point in time, and the range of time that the calendars of this library cover.
//
// An instant is a std::chrono::sys_time in milliseconds: Unix time, without leap seconds. A local time is what a wall
// clock at some place shows; only a zone (duewheel/zone.h) converts between them.
//
// Choose it for times that people and files name; timers with a delay take the std::chrono::nanoseconds of a
// timer_clock.h. Drawback: its resolution is a millisecond.
//
// Calendar rules have results from 1970 through the year 2399 (UTC). The laws of time zones are not known so far ahead;
// the end exists so that every search ends. Intervals need none of this: they use wheel time (tick.h), which clock
// changes do not affect.
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
