// Days on which nothing fires: holidays, weekends, the freeze at the end of the year. Pass it to a cron_schedule.h.
//
// Choose it if a rule would need an exception for each year; weekly exceptions can be in the rule itself. Drawback: it
// knows only whole days, and does not know holidays by itself.
//
// Example:
//     const Result<ExclusionCalendar> closed = ExclusionCalendar::parse(
//         "SAT SUN                    # weekdays\n"
//         "12-25                      # a day of every year\n"
//         "2026-12-28..2026-12-31     # from the first through the last\n");
//     if (!closed) return closed.error();
//     assert(closed->excludes(2026y / December / 30) && !closed->excludes(2026y / December / 1));
//
// The format is made for a file: one or more entries per line, `#` starts a comment. Dates are local, in the zone of
// the schedule, and refer to the nominal date: a time that a clock change skips belongs to its original day. Refused
// are times of day (use the rule for those), and ranges of more than 400 years.
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

    // Parses such a text. Code bad_exclusion, with line and column. O(entries log entries).
    static Result<ExclusionCalendar> parse(std::string_view text);

    // All four throw std::invalid_argument for a day that does not exist.
    void exclude(std::chrono::weekday weekday);
    // A day of every year; the 29th of February exists only in leap years.
    void exclude(std::chrono::month_day day);
    // One date.
    void exclude(std::chrono::year_month_day date);
    // All dates from the first through the last; none if they are in the wrong order.
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
    std::vector<Range> ranges_;                  // in order, not adjacent
};

}  // namespace duewheel
