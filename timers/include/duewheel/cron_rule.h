// A cron expression: the local times that a rule matches, without a time zone.
//
// Choose it for rules that people write; for "every 90 minutes", which cron cannot express, use repeating_interval.h.
// Drawback: it does not count, so a rule has no first, last or hundredth firing.
//
// Example:
//     const Result<CronRule> rule = CronRule::parse("0 9 * * MON-FRI");        // nine o'clock on working days
//     if (!rule) return rule.error();        // bad_cron: "column 3, hour: there is no hour 24; ..."
//     const local_days saturday{2026y / November / 21};
//     assert(rule->at_or_after(saturday) == saturday + days(2) + 9h);
//
// Two syntaxes are supported, and the text determines which one it is (docs/calendar.md has the whole grammar):
//
//     crontab   5 fields: minute hour day month weekday, or 6 with seconds first; Sunday is 0 or 7; if both day and
//               weekday are restricted, either is sufficient
//     quartz    6 or 7 fields: second minute hour day month weekday [year]; Sunday is 1; exactly one of day and weekday
//               is `?`, which distinguishes it from crontab
//
// A schedule determines the instants at which it fires: duewheel/cron_schedule.h.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <duewheel/exclusion_calendar.h>
#include <duewheel/instant.h>
#include <duewheel/status.h>

namespace duewheel {

// The first is not named after its system, whose name compilers define as a macro.
enum class CronForm : std::uint8_t { crontab, quartz };

// The longest accepted expression, in bytes.
inline constexpr std::size_t kCronBytesMax = 1000;

// The fields of an expression as sets of bits: bit n stands for the number n; bit 0 of a weekday is Sunday.
struct CronFields {
    std::uint64_t seconds = 0;
    std::uint64_t minutes = 0;
    std::uint32_t hours = 0;
    std::uint32_t days = 0;                 // days of the month
    std::uint32_t days_before_last = 0;     // L is 0, L-3 is 3
    std::uint32_t nearest = 0;              // 15W: the working day nearest to the 15th
    std::uint32_t nearest_before_last = 0;  // LW, L-3W
    std::uint16_t months = 0;
    std::uint8_t weekdays = 0;
    std::uint8_t last_weekdays = 0;                 // FRIL: the last Friday of the month
    std::array<std::uint8_t, 5> nth_weekdays = {};  // FRI#2 is in nth_weekdays[1]
    // Whether a day matches by its number or by its weekday; otherwise it needs both.
    bool either = false;
    // The years of Quartz's last field from 1970 on; empty: every year.
    std::optional<std::array<std::uint64_t, 4>> years;
};

// An immutable value. All functions are pure; each visits at most the months of the calendar, about 5,000.
class CronRule {
  public:
    // Code bad_cron, with column and field and a hint. O(length of the text).
    static Result<CronRule> parse(std::string_view text);

    // The original expression.
    const std::string& text() const { return text_; }
    CronForm form() const { return form_; }
    // What the expression matches, in sets of numbers.
    const CronFields& fields() const { return fields_; }
    // Whether it matches every hour of the day: a rule about hours and not about times of day.
    bool every_hour() const { return fields_.hours == 0xff'ffff; }

    bool matches(LocalSecond local) const;

    // The first matching local time that is not before `from`, and the last that is not after it, on days that are not
    // excluded. None if there is none from December 1969 to January 2400, the range of local clocks during the years of
    // the calendar: "30 February" returns that at once.
    std::optional<LocalSecond> at_or_after(LocalSecond from, const ExclusionCalendar& closed = {}) const;
    std::optional<LocalSecond> at_or_before(LocalSecond from, const ExclusionCalendar& closed = {}) const;

  private:
    CronRule(std::string_view text, CronForm form, const CronFields& fields)
        : text_(text), form_(form), fields_(fields) {}

    std::string text_;
    CronForm form_;
    CronFields fields_;
};

}  // namespace duewheel
