// The units of the calendar as numbers: which second, minute, hour, day, week, month and year a tick lies in, when a
// tick is a second since 1970-01-01T00:00:00Z.
//
// The calendar is the Gregorian one in UTC, as it is and as it will be, without leap seconds. Units are counted
// through, so that differences of counts are numbers of units; the counts start so that their rest is what people call
// it: of days modulo 7, 0 is Monday; of months modulo 12, 0 is January; of years, the count is the year.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <duewheel/timing_wheel.h>

namespace duewheel {

enum class CalendarUnit : std::size_t { second, minute, hour, day, week, month, year };

inline constexpr std::size_t kCalendarUnitCount = 7;

using CalendarCounts = std::array<Tick, kCalendarUnitCount>;

// The count of each unit in which the tick lies.
inline CalendarCounts calendar_counts(Tick seconds) {
    constexpr Tick kDaysIn400Years = 146'097;  // after which the calendar repeats itself
    const Tick days = seconds / 86'400;
    const std::chrono::year_month_day date{
        std::chrono::sys_days{std::chrono::days{static_cast<std::int64_t>(days % kDaysIn400Years)}}};
    const Tick year = days / kDaysIn400Years * 400 + static_cast<Tick>(static_cast<int>(date.year()));
    const Tick month = year * 12 + static_cast<unsigned>(date.month()) - 1;
    const Tick days_from_a_monday = days + 3;  // 1970-01-01 was a Thursday
    return {seconds, seconds / 60, seconds / 3600, days_from_a_monday, days_from_a_monday / 7, month, year};
}

}  // namespace duewheel
