#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "calendar/month_days.h"
#include "calendar/text_scanner.h"
#include <duewheel/exclusion_calendar.h>

namespace duewheel {
namespace {

using std::chrono::days;
using std::chrono::month_day;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::year_month_day;

constexpr days kRangeMost{400 * 366};

struct Place {
    std::size_t line;
    std::size_t column;
};

Error refusal(Place place, std::string_view why) {
    return Error{ErrorCode::bad_exclusion,
                 "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " +
                     std::string(why) +
                     ". An entry is a weekday (SAT), a day of every year (12-25), a date (2026-12-25), or a range of "
                     "dates (2026-12-28..2026-12-31); # begins a comment.",
                 {}};
}

bool is_space(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r';
}

// "2026-12-25", of which the text begins with a digit; none where it is not formed so.
std::optional<year_month_day> take_date(TextScanner& text) {
    const std::optional<int> year = text.take_fixed(4);
    if (!year || !text.take('-')) return std::nullopt;
    const std::optional<int> month = text.take_fixed(2);
    if (!month || !text.take('-')) return std::nullopt;
    const std::optional<int> day = text.take_fixed(2);
    if (!day) return std::nullopt;
    return year_month_day(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                          std::chrono::day(static_cast<unsigned>(*day)));
}

std::optional<month_day> take_yearly(TextScanner& text) {
    const std::optional<int> month = text.take_fixed(2);
    if (!month || !text.take('-')) return std::nullopt;
    const std::optional<int> day = text.take_fixed(2);
    if (!day) return std::nullopt;
    return month_day(std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day)));
}

// One entry, with `place` where it begins.
Status read_entry(std::string_view entry, Place place, ExclusionCalendar& calendar) {
    if (const std::optional<unsigned> weekday = weekday_of_name(entry)) {
        calendar.exclude(std::chrono::weekday(*weekday));
        return {};
    }
    TextScanner text(entry);
    const auto here = [&] { return Place{place.line, place.column + text.column() - 1}; };
    if (TextScanner trial = text; const std::optional<month_day> yearly = take_yearly(trial)) {
        if (!trial.at_end()) return refusal(place, "this is not an entry");
        if (!yearly->ok()) return refusal(place, "this day does not exist in any year");
        calendar.exclude(*yearly);
        return {};
    }
    const std::optional<year_month_day> first = take_date(text);
    if (!first) return refusal(place, "this is not an entry");
    if (!first->ok()) return refusal(place, "this date does not exist");
    if (text.at_end()) {
        calendar.exclude(*first);
        return {};
    }
    if (!text.take("..")) return refusal(here(), "expected the next entry after the date, or .. and the last date");
    const Place second = here();
    const std::optional<year_month_day> last = take_date(text);
    if (!last || !text.at_end()) return refusal(second, "a date is expected here");
    if (!last->ok()) return refusal(second, "this date does not exist");
    if (*last < *first) return refusal(second, "the range ends before it begins");
    if (sys_days(*last) - sys_days(*first) > kRangeMost) return refusal(second, "the range is longer than 400 years");
    calendar.exclude(*first, *last);
    return {};
}

Status read_line(std::string_view line, std::size_t number, ExclusionCalendar& calendar) {
    line = line.substr(0, line.find('#'));
    for (std::size_t at = 0; at < line.size();) {
        if (is_space(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && !is_space(line[end])) ++end;
        if (Status read = read_entry(line.substr(at, end - at), {number, at + 1}, calendar); !read) return read;
        at = end;
    }
    return {};
}

// Checks the days that a program names; what a text names is checked where it is read.
void require(bool exists, const char* what) {
    if (exists) return;
    throw std::invalid_argument("ExclusionCalendar: there is no such " + std::string(what) +
                                ". Exclude one that is ok().");
}

}  // namespace

Result<ExclusionCalendar> ExclusionCalendar::parse(std::string_view text) {
    ExclusionCalendar calendar;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (Status read = read_line(text.substr(0, end), number, calendar); !read) return std::move(read).error();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return calendar;
}

void ExclusionCalendar::exclude(std::chrono::weekday weekday) {
    require(weekday.ok(), "weekday");
    empty_ = false;
    weekdays_ = static_cast<std::uint8_t>(weekdays_ | 1U << weekday.c_encoding());
}

void ExclusionCalendar::exclude(month_day day) {
    require(day.ok(), "day of the year");
    empty_ = false;
    yearly_[static_cast<unsigned>(day.month())] |= 1U << static_cast<unsigned>(day.day());
}

void ExclusionCalendar::exclude(year_month_day date) {
    exclude(date, date);
}

// The ranges stay in order and apart, so that a month is found by one search: what the new one touches becomes part of
// it.
void ExclusionCalendar::exclude(year_month_day first, year_month_day last) {
    require(first.ok() && last.ok(), "date");
    Range fresh{sys_days(first), sys_days(last)};
    if (fresh.last < fresh.first) return;
    empty_ = false;
    const auto begin = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](const Range& range) { return range.last + days(1) < fresh.first; });
    const auto end = std::partition_point(begin, ranges_.end(),
                                          [&](const Range& range) { return range.first <= fresh.last + days(1); });
    if (begin != end) {
        fresh.first = std::min(fresh.first, begin->first);
        fresh.last = std::max(fresh.last, std::prev(end)->last);
    }
    ranges_.insert(ranges_.erase(begin, end), fresh);
}

bool ExclusionCalendar::excludes(year_month_day date) const {
    return (days_in(date.year() / date.month()) >> static_cast<unsigned>(date.day()) & 1) != 0;
}

std::uint32_t ExclusionCalendar::days_in(year_month month) const {
    const MonthShape shape = shape_of(month);
    std::uint32_t excluded = yearly_[static_cast<unsigned>(month.month())];
    if (weekdays_ != 0) excluded |= shape.days_on(weekdays_);
    const sys_days begin = shape.first;
    const sys_days last = begin + days(shape.length - 1);
    auto range =
        std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& one) { return one.last < begin; });
    for (; range != ranges_.end() && range->first <= last; ++range) {
        const auto from = static_cast<unsigned>((std::max(range->first, begin) - begin).count()) + 1;
        const auto to = static_cast<unsigned>((std::min(range->last, last) - begin).count()) + 1;
        excluded |= days_through(to) & ~days_through(from - 1);
    }
    return excluded & shape.all();
}

}  // namespace duewheel
