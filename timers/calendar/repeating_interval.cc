// Occurrences are calculated from the start by their number, and found by binary search: no walk, no drift.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "calendar/instant_text.h"
#include "calendar/text_scanner.h"
#include <duewheel/repeating_interval.h>

namespace duewheel {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::milliseconds;
using std::chrono::months;
using std::chrono::year_month;
using std::chrono::year_month_day;

constexpr std::chrono::years kYearsMost(430);  // of each part of a period, as texts have it
constexpr days kCalendarDays = std::chrono::duration_cast<days>(kCalendarEnd - kCalendarBegin);

Error refusal(std::size_t column, std::string_view why) {
    return Error{ErrorCode::bad_interval,
                 "column " + std::to_string(column) + ": " + std::string(why) +
                     ". Write a repeating interval as R5/2026-01-01T00:00:00Z/PT1H: the number of times, or R alone "
                     "for no end; the start; the period, or the end of the first one.",
                 {}};
}

// The message of another parser about a part, without its final period.
std::string_view said(const Error& error) {
    const std::string_view message = error.message;
    return message.substr(0, message.size() - (message.ends_with('.') ? 1 : 0));
}

bool is_empty(const Period& period) {
    return period == Period{};
}

// A number beyond all occurrences inside the calendar: each part of the period alone leaves the calendar by then.
std::uint64_t number_beyond(const Period& period) {
    std::int64_t beyond = std::numeric_limits<std::int64_t>::max();
    if (period.months.count() > 0)
        beyond = std::min<std::int64_t>(beyond, kCalendarDays / days(28) / period.months.count());
    if (period.days.count() > 0) beyond = std::min<std::int64_t>(beyond, kCalendarDays / period.days);
    if (period.time.count() > 0) beyond = std::min<std::int64_t>(beyond, milliseconds(kCalendarDays) / period.time);
    return static_cast<std::uint64_t>(beyond) + 2;
}

// The first number below `end` for which `holds`, or `end`. What holds once must hold for all later ones.
template <class Holds>
std::uint64_t first_number(std::uint64_t end, Holds&& holds) {
    std::uint64_t begin = 0;
    while (begin < end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        if (holds(middle)) {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

// Whether a date and time says where on earth it is: "Z", "+01:00".
bool has_offset(std::string_view text) {
    return text.find_first_of("Zz+-", text.find_first_of("Tt ")) != text.npos;
}

struct ReadInstant {
    Instant instant;
    std::chrono::local_time<milliseconds> local;  // as it is written, also where clocks skip that
    bool is_local;                                // without an offset
};

// RFC 3339, or without its offset local time in the zone.
Result<ReadInstant> read_instant(std::string_view text, std::size_t column, std::string_view what, const Zone& zone) {
    const bool is_local = text.find_first_of("Tt ") != text.npos && !has_offset(text);
    Result<InstantMs> read = parse_instant(is_local ? std::string(text) + "Z" : std::string(text));
    if (!read) return refusal(column, "in the " + std::string(what) + ", " + std::string(said(read.error())));
    const milliseconds since(*read);
    const std::chrono::local_time<milliseconds> said_local(since);
    const Instant instant = is_local ? zone.instant_of(said_local) : Instant(since);
    if (instant < kCalendarBegin || instant >= kCalendarEnd) {
        return refusal(column, "the " + std::string(what) + " is not in the years 1970 to 2399");
    }
    return ReadInstant{instant, is_local ? said_local : zone.local(instant), is_local};
}

struct Parts {
    std::optional<std::uint64_t> count;
    std::string_view start;
    std::size_t start_column;
    std::string_view period;
    std::size_t period_column;
};

Result<Parts> split(std::string_view text) {
    TextScanner scanner(text);
    if (!scanner.take('R')) return refusal(1, "it must begin with R");
    Parts parts{};
    const std::size_t number_column = scanner.column();
    if (scanner.sees_digit()) {
        const std::optional<std::int64_t> number = scanner.take_number();
        if (!number) return refusal(number_column, "this number is too large");
        if (*number == 0) return refusal(number_column, "R0 never occurs");
        parts.count = static_cast<std::uint64_t>(*number);
    } else {
        scanner.take("-1");
    }
    if (!scanner.take('/')) return refusal(scanner.column(), "a number or / is expected after R");
    parts.start_column = scanner.column();
    const std::size_t slash = text.find('/', parts.start_column - 1);
    if (slash == text.npos) return refusal(text.size() + 1, "the period is missing");
    parts.start = text.substr(parts.start_column - 1, slash - parts.start_column + 1);
    parts.period = text.substr(slash + 1);
    parts.period_column = slash + 2;
    if (parts.start.starts_with('P')) {
        return refusal(parts.start_column, "a period before an end is not supported: give the start");
    }
    return parts;
}

}  // namespace

Result<RepeatingInterval> RepeatingInterval::parse(std::string_view text, Zone zone) {
    Result<Parts> parts = split(text);
    if (!parts) return std::move(parts).error();
    const Result<ReadInstant> start = read_instant(parts->start, parts->start_column, "start", zone);
    if (!start) return start.error();
    if (!parts->period.starts_with('P')) {
        const Result<ReadInstant> end =
            read_instant(parts->period, parts->period_column, "end of the first period", zone);
        if (!end) return end.error();
        if (end->instant <= start->instant)
            return refusal(parts->period_column, "the first period ends before it begins");
        const Period stretch{.time = end->instant - start->instant};
        return RepeatingInterval(start->instant, start->local, start->is_local, stretch, parts->count, std::move(zone));
    }
    Result<Period> period = parse_period(parts->period);
    if (!period) return refusal(parts->period_column, "in the period, " + std::string(said(period.error())));
    if (is_empty(*period)) return refusal(parts->period_column, "the period is empty");
    return RepeatingInterval(start->instant, start->local, start->is_local, *period, parts->count, std::move(zone));
}

RepeatingInterval::RepeatingInterval(Instant start, Period period, std::optional<std::uint64_t> count, Zone zone)
    : RepeatingInterval(start, zone.local(start), false, period, count, zone) {}

RepeatingInterval::RepeatingInterval(Instant start, LocalTime local_start, bool starts_by_clocks, Period period,
                                     std::optional<std::uint64_t> count, Zone zone)
    : start_(start),
      local_start_(local_start),
      starts_by_clocks_(starts_by_clocks),
      period_(period),
      count_(count),
      zone_(std::move(zone)),
      end_(0) {
    if (is_empty(period)) throw std::invalid_argument("RepeatingInterval: the period is empty. Set at least one part.");
    if (period.months.count() < 0 || period.days.count() < 0 || period.time.count() < 0) {
        throw std::invalid_argument("RepeatingInterval: the period is negative. No part may be less than zero.");
    }
    if (period.months > kYearsMost || period.days > std::chrono::floor<days>(kYearsMost) || period.time > kYearsMost) {
        throw std::invalid_argument("RepeatingInterval: a part of the period is too long. Use up to 430 years.");
    }
    if (start < kCalendarBegin || start >= kCalendarEnd) {
        throw std::invalid_argument("RepeatingInterval: the start is out of range. Use a start from 1970 to 2399.");
    }
    if (count == 0) {
        throw std::invalid_argument(
            "RepeatingInterval: it would occur 0 times. Use a count of at least 1, or none for no end.");
    }
    const std::uint64_t beyond = number_beyond(period);
    end_ =
        first_number(std::min(beyond, count.value_or(beyond)), [&](std::uint64_t n) { return at(n) >= kCalendarEnd; });
}

// The local time of occurrence n without the parts of the period that are stretches of time.
RepeatingInterval::LocalTime RepeatingInterval::walked(std::uint64_t n) const {
    const auto times = static_cast<std::int64_t>(n);
    const local_days midnight = std::chrono::floor<days>(local_start_);
    const year_month_day date(midnight);
    const year_month month = date.year() / date.month() + months(period_.months.count() * times);
    const year_month_day last(month / std::chrono::last);
    const local_days day = local_days(month / std::min(date.day(), last.day())) + days(period_.days.count() * times);
    return day + (local_start_ - midnight);
}

Instant RepeatingInterval::at(std::uint64_t n) const {
    if (n == 0) return start_;
    const milliseconds exact = period_.time * static_cast<std::int64_t>(n);
    return (walks_calendar() ? zone_.instant_of(walked(n)) : start_) + exact;
}

// The local time of an occurrence for which clocks skip it.
std::optional<RepeatingInterval::LocalTime> RepeatingInterval::skipped_time(Instant occurrence) const {
    const std::uint64_t n = first_after(occurrence - milliseconds(1));
    if (n >= end_ || at(n) != occurrence || (n != 0 && !walks_calendar())) return std::nullopt;
    const LocalTime local = walked(n);
    if (zone_.local(zone_.instant_of(local)) == local) return std::nullopt;
    return local + period_.time * static_cast<std::int64_t>(n);
}

bool RepeatingInterval::is_shifted(Instant occurrence) const {
    return skipped_time(occurrence).has_value();
}

RepeatingInterval::LocalTime RepeatingInterval::local_time(Instant occurrence) const {
    return skipped_time(occurrence).value_or(zone_.local(occurrence));
}

std::uint64_t RepeatingInterval::first_after(Instant instant) const {
    return first_number(end_, [&](std::uint64_t n) { return at(n) > instant; });
}

std::optional<Instant> RepeatingInterval::occurrence(std::uint64_t n) const {
    if (n >= end_) return std::nullopt;
    return at(n);
}

std::optional<Instant> RepeatingInterval::next(Instant after) const {
    return occurrence(first_after(after));
}

std::optional<Instant> RepeatingInterval::previous(Instant before) const {
    if (before <= start_) return std::nullopt;
    return at(first_after(before - milliseconds(1)) - 1);
}

std::vector<Instant> RepeatingInterval::upcoming(Instant after, std::size_t count) const {
    std::vector<Instant> instants;
    for (std::uint64_t n = first_after(after); n < end_ && instants.size() < count; ++n) instants.push_back(at(n));
    return instants;
}

}  // namespace duewheel
