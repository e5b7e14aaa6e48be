#include "calendar/duration.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "calendar/text_scanner.h"

namespace duewheel {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Unit {
    std::string_view name;
    std::int64_t length_ms;
};

constexpr Unit kWeek{"w", 604'800'000};
constexpr Unit kDay{"d", 86'400'000};
constexpr Unit kHour{"h", 3'600'000};
constexpr Unit kMinute{"m", 60'000};
constexpr Unit kSecond{"s", 1'000};
constexpr Unit kMillisecond{"ms", 1};

constexpr Unit kUnits[] = {kWeek, kDay, kHour, kMinute, kSecond, kMillisecond};

constexpr std::string_view kTooLong = "the duration is too long to count in milliseconds";

Error refusal(std::size_t column, std::string_view why) {
    return Error{"bad_duration",
                 "column " + std::to_string(column) + ": " + std::string(why) +
                     ". Write integers with the units w d h m s ms, larger units first, such as 250ms or 3d12h, or ISO "
                     "8601 such as PT10M or P3DT12H.",
                 {}};
}

// total += number * unit, or false when that is too much.
bool add(std::int64_t& total, std::int64_t number, std::int64_t unit_ms) {
    if (number > kMax / unit_ms || number * unit_ms > kMax - total) return false;
    total += number * unit_ms;
    return true;
}

// "ms" is looked for first, because "m" begins it.
const Unit* take_unit(TextScanner& text) {
    if (text.take("ms")) return &kUnits[5];
    for (const Unit& unit : kUnits) {
        if (text.take(unit.name)) return &unit;
    }
    return nullptr;
}

std::string_view why_no_number(const TextScanner& text) {
    if (text.sees('-')) return "a duration cannot be negative";
    if (text.sees('.') || text.sees(',')) return "a number must begin with a digit";
    if (text.sees(' ')) return "a duration has no spaces";
    return "a number is expected here";
}

std::string_view why_no_unit(const TextScanner& text) {
    if (text.at_end()) return "a unit is missing after the number";
    if (text.sees('.') || text.sees(',')) return "a fraction is not accepted; use a smaller unit, as in 1h30m for 1.5h";
    if (text.sees(' ')) return "a duration has no spaces";
    return "this is not a unit";
}

Result<std::int64_t> parse_compact(TextScanner text) {
    std::int64_t total = 0;
    std::int64_t smallest_so_far = kMax;
    while (!text.at_end()) {
        const std::size_t start = text.column();
        if (!text.sees_digit()) return refusal(start, why_no_number(text));
        const std::optional<std::int64_t> number = text.take_number();
        if (!number) return refusal(start, kTooLong);
        const std::size_t unit_column = text.column();
        const Unit* unit = take_unit(text);
        if (unit == nullptr) return refusal(unit_column, why_no_unit(text));
        if (unit->length_ms >= smallest_so_far) {
            return refusal(unit_column, "each unit may appear once, after all larger ones");
        }
        smallest_so_far = unit->length_ms;
        if (!add(total, *number, unit->length_ms)) return refusal(start, kTooLong);
    }
    return total;
}

struct Fraction {
    std::int64_t milliseconds = 0;
    bool exact = true;
};

// The digits after the point; at least one stands here.
Fraction take_fraction(TextScanner& text) {
    Fraction fraction;
    for (std::int64_t place_ms = 100; text.sees_digit(); place_ms /= 10) {
        const int digit = text.take_digit();
        fraction.milliseconds += digit * place_ms;
        if (place_ms == 0 && digit != 0) fraction.exact = false;
    }
    return fraction;
}

struct IsoUnit {
    char letter;
    std::int64_t length_ms;
};

constexpr IsoUnit kIsoDays[] = {{'D', kDay.length_ms}};
constexpr IsoUnit kIsoTimes[] = {{'H', kHour.length_ms}, {'M', kMinute.length_ms}, {'S', kSecond.length_ms}};

std::string_view why_no_iso_unit(const TextScanner& text, bool in_time) {
    if (text.at_end()) return "a unit is missing after the number";
    if (!in_time && (text.sees('Y') || text.sees('M'))) {
        return "years and months are not accepted, because their length depends on the calendar; use days";
    }
    if (!in_time && (text.sees('H') || text.sees('S'))) return "hours, minutes and seconds must follow a T";
    if (!in_time && text.sees('W')) return "weeks cannot be combined with other units, as in P2W";
    return "this is not a unit, or it appears twice or after a smaller one";
}

// Reads "12H30M" or "3D" up to a T or the end.
Status add_iso_parts(TextScanner& text, std::span<const IsoUnit> units, bool in_time, std::int64_t& total) {
    while (!text.at_end() && !(text.sees('T') && !in_time)) {
        const std::size_t start = text.column();
        if (!text.sees_digit()) return refusal(start, why_no_number(text));
        const std::optional<std::int64_t> number = text.take_number();
        if (!number) return refusal(start, kTooLong);

        const std::size_t point = text.column();
        std::optional<Fraction> fraction;
        if (text.take('.') || text.take(',')) {
            if (!text.sees_digit()) return refusal(text.column(), "a digit is missing after the point");
            fraction = take_fraction(text);
        }
        while (!units.empty() && !text.sees(units.front().letter)) units = units.subspan(1);
        if (units.empty()) return refusal(text.column(), why_no_iso_unit(text, in_time));
        const IsoUnit unit = units.front();
        text.take(unit.letter);
        units = units.subspan(1);

        if (fraction && unit.letter != 'S') return refusal(point, "only seconds may have a fraction");
        if (fraction && !fraction->exact) return refusal(point, "more than three decimals are not supported");
        if (!add(total, *number, unit.length_ms) || (fraction && !add(total, fraction->milliseconds, 1))) {
            return refusal(start, kTooLong);
        }
    }
    return {};
}

// "P2W": the weeks, when the text after the P is that; none when it is something else.
Result<std::optional<std::int64_t>> parse_iso_weeks(TextScanner text) {
    const std::size_t start = text.column();
    if (!text.sees_digit()) return std::optional<std::int64_t>();
    const std::optional<std::int64_t> number = text.take_number();
    if (!number || !text.take('W')) return std::optional<std::int64_t>();
    if (!text.at_end()) return refusal(text.column(), "weeks cannot be combined with other units; use days instead");
    std::int64_t total = 0;
    if (!add(total, *number, kWeek.length_ms)) return refusal(start, kTooLong);
    return std::optional(total);
}

// `text` stands after the P.
Result<std::int64_t> parse_iso(TextScanner text) {
    Result<std::optional<std::int64_t>> weeks = parse_iso_weeks(text);
    if (!weeks) return std::move(weeks).error();
    if (*weeks) return **weeks;

    std::int64_t total = 0;
    if (text.at_end()) return refusal(text.column(), "a number is expected here");
    if (Status added = add_iso_parts(text, kIsoDays, false, total); !added) return std::move(added).error();
    if (text.take('T')) {
        if (text.at_end()) return refusal(text.column(), "hours, minutes or seconds are expected after the T");
        if (Status added = add_iso_parts(text, kIsoTimes, true, total); !added) return std::move(added).error();
    }
    return total;
}

}  // namespace

Result<std::int64_t> parse_duration(std::string_view text) {
    TextScanner scanner(text);
    if (scanner.at_end()) return refusal(1, "the duration is empty");
    if (scanner.take('P')) return parse_iso(scanner);
    return parse_compact(scanner);
}

std::string format_duration(std::int64_t milliseconds) {
    std::string text(milliseconds < 0 ? "-" : "");
    // Negated as unsigned, because the least number has no positive twin.
    std::uint64_t left = static_cast<std::uint64_t>(milliseconds);
    if (milliseconds < 0) left = 0 - left;
    if (left == 0) return "0ms";
    for (const Unit& unit : kUnits) {
        const auto length = static_cast<std::uint64_t>(unit.length_ms);
        const bool skipped = unit.name == kWeek.name && left % length != 0;
        if (skipped || left < length) continue;
        text += std::to_string(left / length);
        text += unit.name;
        left %= length;
    }
    return text;
}

}  // namespace duewheel
