// Walks from one matching local time to the next: the time of day inside a day, the day inside a month, month by month.
// Every step is a scan for a bit; the longest walk is over all months of the calendar.
#include <bit>
#include <cassert>

#include "calendar/cron_days.h"
#include "calendar/month_days.h"
#include <duewheel/cron_rule.h>

namespace duewheel {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::seconds;
using std::chrono::year_month;
using std::chrono::year_month_day;

// A month more than the calendar has on each side, because local clocks are ahead of or behind UTC.
constexpr year_month kFirstMonth = std::chrono::year(1969) / std::chrono::December;
constexpr year_month kLastMonth = std::chrono::year(2400) / std::chrono::January;
constexpr unsigned kNone = 64;

// The lowest bit that is not below `from`, or kNone.
unsigned lowest_from(std::uint64_t bits, unsigned from) {
    return from >= 64 ? kNone : static_cast<unsigned>(std::countr_zero(bits & ~std::uint64_t{0} << from));
}

// The highest bit that is not above `to`, or kNone.
unsigned highest_to(std::uint64_t bits, unsigned to) {
    const std::uint64_t left = bits & ~std::uint64_t{0} >> (63 - to);
    return left == 0 ? kNone : 63 - static_cast<unsigned>(std::countl_zero(left));
}

struct TimeOfDay {
    unsigned hour;
    unsigned minute;
    unsigned second;

    explicit TimeOfDay(seconds since_midnight)
        : hour(static_cast<unsigned>(since_midnight / hours(1))),
          minute(static_cast<unsigned>(since_midnight / minutes(1)) % 60),
          second(static_cast<unsigned>(since_midnight.count()) % 60) {}
};

seconds since_midnight(unsigned hour, unsigned minute, unsigned second) {
    return hours(hour) + minutes(minute) + seconds(second);
}

seconds first_time(const CronFields& fields) {
    return since_midnight(lowest_from(fields.hours, 0), lowest_from(fields.minutes, 0), lowest_from(fields.seconds, 0));
}

seconds last_time(const CronFields& fields) {
    return since_midnight(highest_to(fields.hours, 63), highest_to(fields.minutes, 63), highest_to(fields.seconds, 63));
}

std::optional<seconds> time_at_or_after(const CronFields& fields, TimeOfDay from) {
    unsigned hour = lowest_from(fields.hours, from.hour);
    if (hour == kNone) return std::nullopt;
    if (hour == from.hour) {
        unsigned minute = lowest_from(fields.minutes, from.minute);
        if (minute == from.minute) {
            const unsigned second = lowest_from(fields.seconds, from.second);
            if (second != kNone) return since_midnight(hour, minute, second);
            minute = lowest_from(fields.minutes, from.minute + 1);
        }
        if (minute != kNone) return since_midnight(hour, minute, lowest_from(fields.seconds, 0));
        hour = lowest_from(fields.hours, from.hour + 1);
    }
    if (hour == kNone) return std::nullopt;
    return since_midnight(hour, lowest_from(fields.minutes, 0), lowest_from(fields.seconds, 0));
}

std::optional<seconds> time_at_or_before(const CronFields& fields, TimeOfDay from) {
    unsigned hour = highest_to(fields.hours, from.hour);
    if (hour == from.hour) {
        unsigned minute = highest_to(fields.minutes, from.minute);
        if (minute == from.minute) {
            const unsigned second = highest_to(fields.seconds, from.second);
            if (second != kNone) return since_midnight(hour, minute, second);
            minute = from.minute == 0 ? kNone : highest_to(fields.minutes, from.minute - 1);
        }
        if (minute != kNone) return since_midnight(hour, minute, highest_to(fields.seconds, 63));
        hour = from.hour == 0 ? kNone : highest_to(fields.hours, from.hour - 1);
    }
    if (hour == kNone) return std::nullopt;
    return since_midnight(hour, highest_to(fields.minutes, 63), highest_to(fields.seconds, 63));
}

// The matching days of a month that are not excluded.
std::uint32_t open_days(const CronFields& fields, const ExclusionCalendar& closed, year_month month) {
    const std::uint32_t matching = matching_days(fields, month);
    return matching == 0 || closed.empty() ? matching : matching & ~closed.days_in(month);
}

LocalSecond at(year_month month, unsigned day, seconds time) {
    return local_days{month / std::chrono::day(day)} + time;
}

}  // namespace

bool CronRule::matches(LocalSecond local) const {
    return at_or_after(local) == local;
}

std::optional<LocalSecond> CronRule::at_or_after(LocalSecond from, const ExclusionCalendar& closed) const {
    if (from < LocalSecond(local_days{kFirstMonth / 1})) from = local_days{kFirstMonth / 1};
    if (from >= LocalSecond(local_days{kLastMonth / 1} + days(31))) return std::nullopt;
    const local_days midnight = std::chrono::floor<days>(from);
    const year_month_day date(midnight);
    year_month month = date.year() / date.month();
    const auto day = static_cast<unsigned>(date.day());

    std::uint32_t matching = open_days(fields_, closed, month) & ~days_through(day - 1);
    if (matching >> day & 1) {
        if (const auto time = time_at_or_after(fields_, TimeOfDay(from - midnight))) return midnight + *time;
        matching &= ~days_through(day);
    }
    while (matching == 0) {
        month += months(1);
        if (month > kLastMonth) return std::nullopt;
        matching = open_days(fields_, closed, month);
    }
    return at(month, static_cast<unsigned>(std::countr_zero(matching)), first_time(fields_));
}

std::optional<LocalSecond> CronRule::at_or_before(LocalSecond from, const ExclusionCalendar& closed) const {
    if (from < LocalSecond(local_days{kFirstMonth / 1})) return std::nullopt;
    const LocalSecond end = local_days{kLastMonth / 1} + days(31);
    if (from >= end) from = end - seconds(1);
    const local_days midnight = std::chrono::floor<days>(from);
    const year_month_day date(midnight);
    year_month month = date.year() / date.month();
    const auto day = static_cast<unsigned>(date.day());

    std::uint32_t matching = open_days(fields_, closed, month) & days_through(day);
    if (matching >> day & 1) {
        if (const auto time = time_at_or_before(fields_, TimeOfDay(from - midnight))) return midnight + *time;
        matching &= days_through(day - 1);
    }
    while (matching == 0) {
        if (month == kFirstMonth) return std::nullopt;
        month -= months(1);
        matching = open_days(fields_, closed, month);
    }
    return at(month, 31 - static_cast<unsigned>(std::countl_zero(matching)), last_time(fields_));
}

}  // namespace duewheel
