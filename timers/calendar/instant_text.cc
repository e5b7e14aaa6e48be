#include "calendar/instant_text.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "calendar/text_scanner.h"

namespace duewheel {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kSecondMs = 1'000;

Error refusal(std::size_t column, std::string_view why) {
    return Error{ErrorCode::bad_instant,
                 "column " + std::to_string(column) + ": " + std::string(why) +
                     ". Write it as in RFC 3339, such as 2027-01-01T06:00:00Z or 2027-01-01T07:00:00.250+01:00.",
                 {}};
}

// A time of day, and the second 60 apart, because only UTC says whether it exists.
struct TimeOfDay {
    std::int64_t whole_seconds_ms = 0;
    std::int64_t fraction_ms = 0;        // up to 1000
    std::size_t leap_second_column = 0;  // 0: none
};

// Midnight of the day as if it were one of UTC.
Result<std::int64_t> parse_date(TextScanner& text) {
    using namespace std::chrono;
    const std::optional<int> years = text.take_fixed(4);
    if (!years) return refusal(text.column(), "a year of four digits is expected");
    if (!text.take('-')) return refusal(text.column(), "a - is expected after the year");
    if (*years < 1970) return refusal(1, "years before 1970 are not accepted");

    const std::size_t month_column = text.column();
    const std::optional<int> months = text.take_fixed(2);
    if (!months) return refusal(month_column, "a month of two digits is expected");
    if (*months < 1 || *months > 12) return refusal(month_column, "there is no such month");
    if (!text.take('-')) return refusal(text.column(), "a - is expected after the month");

    const std::size_t day_column = text.column();
    const std::optional<int> days_of_month = text.take_fixed(2);
    if (!days_of_month) return refusal(day_column, "a day of two digits is expected");
    const year_month_day date(year(*years), month(static_cast<unsigned>(*months)),
                              day(static_cast<unsigned>(*days_of_month)));
    if (!date.ok()) return refusal(day_column, "the month has no such day");
    return sys_days(date).time_since_epoch().count() * kDayMs;
}

// The digits after the point, rounded up to milliseconds: 1000 when they round up to the next second.
Result<std::int64_t> parse_fraction(TextScanner& text) {
    constexpr int kDigitsMax = 9;
    const std::size_t start = text.column();
    std::int64_t milliseconds = 0;
    bool more = false;
    for (std::int64_t place_ms = 100; text.sees_digit(); place_ms /= 10) {
        if (text.column() == start + kDigitsMax) return refusal(text.column(), "at most nine digits may follow");
        const int digit = text.take_digit();
        milliseconds += digit * place_ms;
        if (place_ms == 0 && digit != 0) more = true;
    }
    if (text.column() == start) return refusal(start, "a digit is expected after the point");
    return milliseconds + (more ? 1 : 0);
}

Result<TimeOfDay> parse_time(TextScanner& text) {
    const std::size_t hour_column = text.column();
    const std::optional<int> hours = text.take_fixed(2);
    if (!hours) return refusal(hour_column, "an hour of two digits is expected");
    if (*hours == 24) return refusal(hour_column, "there is no hour 24; write 00:00:00 of the next day");
    if (*hours > 23) return refusal(hour_column, "there is no such hour");
    if (!text.take(':')) return refusal(text.column(), "a : is expected after the hour");

    const std::size_t minute_column = text.column();
    const std::optional<int> minutes = text.take_fixed(2);
    if (!minutes) return refusal(minute_column, "a minute of two digits is expected");
    if (*minutes > 59) return refusal(minute_column, "there is no such minute");
    if (!text.take(':')) return refusal(text.column(), "seconds are missing");

    const std::size_t second_column = text.column();
    const std::optional<int> seconds = text.take_fixed(2);
    if (!seconds) return refusal(second_column, "a second of two digits is expected");
    if (*seconds > 60) return refusal(second_column, "there is no such second");

    TimeOfDay time;
    time.whole_seconds_ms = *hours * kHourMs + *minutes * kMinuteMs + *seconds * kSecondMs;
    if (*seconds == 60) time.leap_second_column = second_column;
    if (text.take('.')) {
        const Result<std::int64_t> fraction = parse_fraction(text);
        if (!fraction) return fraction.error();
        time.fraction_ms = *fraction;
    }
    return time;
}

// How far the text's clock is ahead of UTC.
Result<std::int64_t> parse_offset(TextScanner& text) {
    const std::size_t start = text.column();
    if (text.take('Z') || text.take('z')) return std::int64_t{0};
    const bool ahead = text.take('+');
    if (!ahead && !text.take('-')) {
        return refusal(start, "Z or an offset from UTC such as +01:00 is expected");
    }
    const std::optional<int> hours = text.take_fixed(2);
    const bool colon = text.take(':');
    const std::optional<int> minutes = text.take_fixed(2);
    if (!hours || !colon || !minutes) return refusal(start, "an offset looks like +01:00");
    if (*hours > 23 || *minutes > 59) return refusal(start, "there is no such offset");
    const std::int64_t distance = *hours * kHourMs + *minutes * kMinuteMs;
    return ahead ? distance : -distance;
}

void append_padded(std::string& text, std::uint64_t number, std::size_t length) {
    const std::string digits = std::to_string(number);
    text.append(length - digits.size(), '0');
    text += digits;
}

}  // namespace

Result<InstantMs> parse_instant(std::string_view whole) {
    TextScanner text(whole);
    if (text.at_end()) return refusal(1, "the instant is empty");
    if (is_number(whole)) return refusal(1, "a number has no unit and may be seconds or milliseconds");
    const Result<std::int64_t> date = parse_date(text);
    if (!date) return date.error();
    if (!text.take('T') && !text.take('t') && !text.take(' ')) {
        return refusal(text.column(), "a T and the time of day are expected after the date");
    }
    const Result<TimeOfDay> time = parse_time(text);
    if (!time) return time.error();
    const Result<std::int64_t> offset = parse_offset(text);
    if (!offset) return offset.error();
    if (!text.at_end()) return refusal(text.column(), "nothing may follow the offset");

    const InstantMs second = *date + time->whole_seconds_ms - *offset;
    const InstantMs instant = second + time->fraction_ms;
    if (instant < 0) return refusal(1, "instants before 1970 in UTC are not accepted");
    if (instant > kLastInstant) return refusal(1, "instants after 9999 in UTC are not accepted");
    // Leap seconds are put in where a day of UTC ends, so the second after one begins a day.
    if (time->leap_second_column != 0 && second % kDayMs != 0) {
        return refusal(time->leap_second_column, "a second 60 exists only at 23:59:60 in UTC");
    }
    return instant;
}

Result<InstantMs> instant_from_ms(std::int64_t milliseconds) {
    if (milliseconds < 0 || milliseconds > kLastInstant) {
        return Error{
            ErrorCode::bad_instant,
            "An instant in milliseconds since 1970 must be from 0 to 253402300799999, the end of the year 9999.",
            {}};
    }
    return milliseconds;
}

std::string format_instant(InstantMs instant) {
    using namespace std::chrono;
    if (instant < 0 || instant > kLastInstant) return std::to_string(instant);
    const sys_time<milliseconds> point{milliseconds(instant)};
    const sys_days midnight = floor<days>(point);
    const year_month_day date(midnight);
    const hh_mm_ss<milliseconds> time(point - midnight);
    std::string text;
    const auto append = [&text](std::int64_t number, std::size_t length) {
        append_padded(text, static_cast<std::uint64_t>(number), length);
    };
    append(int{date.year()}, 4);
    text += '-';
    append(unsigned{date.month()}, 2);
    text += '-';
    append(unsigned{date.day()}, 2);
    text += 'T';
    append(time.hours().count(), 2);
    text += ':';
    append(time.minutes().count(), 2);
    text += ':';
    append(time.seconds().count(), 2);
    text += '.';
    append(time.subseconds().count(), 3);
    text += 'Z';
    return text;
}

}  // namespace duewheel
