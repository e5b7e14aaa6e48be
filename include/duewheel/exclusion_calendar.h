// Days on which nothing fires: holidays, weekends, the freeze at the end of the year. Give it to a cron_schedule.h.
//
// Choose it where a rule would need an exception for each year; what comes every week a rule says itself. What it gives
// up: whole days alone, and no notion of where holidays come from.
//
// Example:
//     const Result<ExclusionCalendar> closed = ExclusionCalendar::parse(
//         "SAT SUN                    # weekdays\n"
//         "12-25                      # a day of every year\n"
//         "2026-12-28..2026-12-31     # from the first through the last\n");
//     if (!closed) return closed.error();
//     assert(closed->excludes(2026y / December / 30) && !closed->excludes(2026y / December / 1));
//
// The text is made for a file: one or more entries a line, `#` begins a comment. A date is a local one, in the zone of
// the schedule it is used in, and it is the nominal date that counts: a time that clocks skip belongs to the day it
// names. Refused: times of day (a rule says those), and ranges of more than 400 years.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <duewheel/status.h>

namespace duewheel {

class ExclusionCalendar {
  public:
    // Excludes nothing.
    ExclusionCalendar() = default;

    // Reads a text as above. Code bad_exclusion, with line and column. O(entries log entries).
    static Result<ExclusionCalendar> parse(std::string_view text);

    // All four throw std::invalid_argument for a day that does not exist.
    void exclude(std::chrono::weekday weekday);
    // A day of every year; the 29th of February is one of leap years alone.
    void exclude(std::chrono::month_day day);
    // One date.
    void exclude(std::chrono::year_month_day date);
    // All dates from the first through the last; none when they are the wrong way round.
    void exclude(std::chrono::year_month_day first, std::chrono::year_month_day last);

    bool excludes(std::chrono::year_month_day date) const;
    bool empty() const { return empty_; }

    // The excluded days of a month: bit d stands for day d. O(log of the ranges + those of the month).
    std::uint32_t days_in(std::chrono::year_month month) const;

  private:
    struct Range {
        std::chrono::sys_days first;
        std::chrono::sys_days last;
    };

    bool empty_ = true;
    std::uint8_t weekdays_ = 0;                  // bit 0 is Sunday
    std::array<std::uint32_t, 13> yearly_ = {};  // by month, bit d is day d
    std::vector<Range> ranges_;                  // in order, none touches another
};

}  // namespace duewheel
