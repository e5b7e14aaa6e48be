// Reads ISO 8601 periods, whose years, months and days depend on the calendar. See calendar/duration.h for durations in
// milliseconds.
#include <limits>
#include <optional>
#include <string>

#include "calendar/text_scanner.h"
#include <duewheel/repeating_interval.h>

namespace duewheel {
namespace {

// No part is longer than the calendar, which keeps every sum far inside 64 bits.
constexpr std::int64_t kYearsMost = 430;
constexpr std::int64_t kMillisecondsMost = kYearsMost * 366 * 86'400'000;

constexpr std::string_view kTooLong = "this is longer than the calendar";

Error refusal(std::size_t column, std::string_view why) {
    return Error{ErrorCode::bad_duration,
                 "column " + std::to_string(column) + ": " + std::string(why) +
                     ". Write a period as in ISO 8601, such as P1M, P1DT12H or PT30M.",
                 {}};
}

enum class Part { months, days, time };

struct PeriodUnit {
    char letter;
    bool after_t;
    Part part;
    std::int64_t size;  // in months, days or milliseconds
};

// In the order in which they must stand.
constexpr PeriodUnit kUnits[] = {{'Y', false, Part::months, 12},     {'M', false, Part::months, 1},
                                 {'W', false, Part::days, 7},        {'D', false, Part::days, 1},
                                 {'H', true, Part::time, 3'600'000}, {'M', true, Part::time, 60'000},
                                 {'S', true, Part::time, 1'000}};

constexpr std::int64_t most_of(Part part) {
    return part == Part::months ? kYearsMost * 12 : part == Part::days ? kYearsMost * 366 : kMillisecondsMost;
}

// The digits after a decimal point, as milliseconds; none where there are none, or more than three that matter.
std::optional<std::int64_t> take_fraction(TextScanner& text) {
    if (!text.sees_digit()) return std::nullopt;
    std::int64_t milliseconds = 0;
    bool exact = true;
    for (std::int64_t place = 100; text.sees_digit(); place /= 10) {
        const int digit = text.take_digit();
        milliseconds += digit * place;
        exact = exact && (place > 0 || digit == 0);
    }
    return exact ? std::optional(milliseconds) : std::nullopt;
}

std::string_view why_no_number(const TextScanner& text) {
    if (text.sees('-') || text.sees('+')) return "a period has no sign";
    if (text.sees('T')) return "T may appear once";
    return "a number is expected here";
}

}  // namespace

Result<Period> parse_period(std::string_view whole) {
    TextScanner text(whole);
    if (!text.take('P')) return refusal(1, "a period must begin with P");
    std::int64_t sums[3] = {0, 0, 0};
    const PeriodUnit* next = std::begin(kUnits);
    bool after_t = false;
    do {
        if (!after_t && text.take('T')) after_t = true;
        const std::size_t start = text.column();
        if (!text.sees_digit()) return refusal(start, why_no_number(text));
        const std::optional<std::int64_t> number = text.take_number();
        if (!number) return refusal(start, kTooLong);
        std::optional<std::int64_t> fraction = 0;
        const std::size_t point = text.column();
        const bool has_fraction = text.take('.') || text.take(',');
        if (has_fraction) fraction = take_fraction(text);

        while (next != std::end(kUnits) && !(next->after_t == after_t && text.sees(next->letter))) ++next;
        if (next == std::end(kUnits)) {
            return refusal(text.column(),
                           "a unit is expected here: Y M W D, after a T also H M S, each once, larger units first");
        }
        text.take(next->letter);
        if (has_fraction && next->letter != 'S') return refusal(point, "only seconds may have a fraction");
        if (!fraction) return refusal(point, "a fraction has one to three digits: milliseconds");
        std::int64_t& sum = sums[static_cast<std::size_t>(next->part)];
        const std::int64_t most = most_of(next->part);
        if (*number > most / next->size || *number * next->size + *fraction > most - sum) {
            return refusal(start, kTooLong);
        }
        sum += *number * next->size + *fraction;
        ++next;
    } while (!text.at_end());
    return Period{std::chrono::months(static_cast<int>(sums[0])), std::chrono::days(static_cast<int>(sums[1])),
                  std::chrono::milliseconds(sums[2])};
}

}  // namespace duewheel
