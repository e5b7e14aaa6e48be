#include "calendar/duration.h"

#include <algorithm>
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
    return Error{ErrorCode::bad_duration,
                 "column " + std::to_string(column) + ": " + std::string(why) +
                     ". Write numbers with the units w d h m s ms, larger units first, such as 250ms, 1.5s or 3d12h, "
                     "or ISO 8601 such as PT10M or P3DT12H.",
                 {}};
}

// total += number * unit, or false when that is too much.
bool add(std::int64_t& total, std::int64_t number, std::int64_t unit_ms) {
    if (number > kMax / unit_ms || number * unit_ms > kMax - total) return false;
    total += number * unit_ms;
    return true;
}

// Units of other programs and languages, in lower case.
struct ForeignUnit {
    std::string_view name;
    const Unit& ours;
};

constexpr ForeignUnit kForeignUnits[] = {
    {"millisecond", kMillisecond},
    {"milliseconds", kMillisecond},
    {"millis", kMillisecond},
    {"msec", kMillisecond},
    {"msecs", kMillisecond},
    {"毫秒", kMillisecond},
    {"second", kSecond},
    {"seconds", kSecond},
    {"sec", kSecond},
    {"secs", kSecond},
    {"秒", kSecond},
    {"秒钟", kSecond},
    {"minute", kMinute},
    {"minutes", kMinute},
    {"min", kMinute},
    {"mins", kMinute},
    {"分", kMinute},
    {"分钟", kMinute},
    {"hour", kHour},
    {"hours", kHour},
    {"hr", kHour},
    {"hrs", kHour},
    {"时", kHour},
    {"小时", kHour},
    {"day", kDay},
    {"days", kDay},
    {"天", kDay},
    {"日", kDay},
    {"week", kWeek},
    {"weeks", kWeek},
    {"wk", kWeek},
    {"周", kWeek},
    {"星期", kWeek},
};
constexpr std::string_view kTooSmallUnits[] = {"us",   "µs",          "μs",           "usec",       "ns",
                                               "nsec", "microsecond", "microseconds", "nanosecond", "nanoseconds"};
constexpr std::string_view kCalendarUnits[] = {"mo", "mon", "month", "months", "y", "yr", "year", "years", "月", "年"};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The letters of a unit, ours or not. Letters beyond ASCII have only bytes from 0x80 on.
std::string_view take_word(TextScanner& text) {
    return text.take_while(
        [](char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80; });
}

const Unit* find_unit(std::string_view name) {
    const Unit* found =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& each) { return each.name == name; });
    return found == std::end(kUnits) ? nullptr : found;
}

// `word` is in lower case.
const Unit* unit_meant_by(std::string_view word) {
    if (const Unit* ours = find_unit(word)) return ours;
    const ForeignUnit* found = std::find_if(std::begin(kForeignUnits), std::end(kForeignUnits),
                                            [&](const ForeignUnit& each) { return each.name == word; });
    return found == std::end(kForeignUnits) ? nullptr : &found->ours;
}

std::string_view why_no_number(const TextScanner& text) {
    if (text.sees('-')) return "a duration cannot be negative";
    if (text.sees('.') || text.sees(',')) return "a number must begin with a digit";
    if (text.sees(' ')) return "a duration has no spaces";
    return "a number is expected here";
}

// `text` stands after `number`, where a unit is expected and none of ours follows.
std::string why_no_unit(std::string_view number, TextScanner text) {
    if (text.at_end()) return "a unit is missing after the number";
    if (text.sees('.')) return "a digit is missing after the point";
    if (text.sees(',')) return "decimals follow a point, as in 1.5s";
    const bool has_space = !text.take_while([](char c) { return c == ' '; }).empty();
    std::string word(take_word(text));
    std::transform(word.begin(), word.end(), word.begin(), lower);
    const auto is_among = [&](std::span<const std::string_view> words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (const Unit* meant = unit_meant_by(word)) {
        return std::string(has_space ? "a duration has no spaces" : "the unit has another name") + "; write " +
               std::string(number) + std::string(meant->name);
    }
    if (is_among(kTooSmallUnits)) return "the smallest unit is ms, a millisecond";
    if (is_among(kCalendarUnits)) {
        return "years and months are not accepted, because their length depends on the calendar; use days, such as 30d";
    }
    return has_space ? "a duration has no spaces" : "this is not a unit";
}

// "5" of ".50", which is taken. Nothing is taken if no digit follows the point.
std::string_view take_decimals(TextScanner& text) {
    TextScanner ahead = text;
    if (!ahead.take('.') || !ahead.sees_digit()) return {};
    std::string_view digits = ahead.take_while([](char c) { return c >= '0' && c <= '9'; });
    text = ahead;
    return digits.substr(0, digits.find_last_not_of('0') + 1);
}

// Decimals of a unit without zeros at their end; none if they are not whole milliseconds. More than ten never are: no
// unit has more than ten factors of 2.
std::optional<std::int64_t> decimals_ms(std::string_view digits, std::int64_t unit_ms) {
    if (digits.size() > 10) return std::nullopt;
    std::int64_t number = 0;
    std::int64_t scale = 1;
    for (const char digit : digits) {
        number = number * 10 + (digit - '0');
        scale *= 10;
    }
    if (number * unit_ms % scale != 0) return std::nullopt;
    return number * unit_ms / scale;
}

Result<std::int64_t> parse_compact(const std::string_view whole) {
    TextScanner text(whole);
    std::int64_t total = 0;
    std::int64_t smallest_so_far = kMax;
    while (!text.at_end()) {
        const std::size_t start = text.column();
        if (!text.sees_digit()) return refusal(start, why_no_number(text));
        const std::optional<std::int64_t> number = text.take_number();
        if (!number) return refusal(start, kTooLong);
        const std::size_t point = text.column();
        const std::string_view decimals = take_decimals(text);
        const std::size_t unit_column = text.column();
        const TextScanner at_unit = text;
        const Unit* unit = find_unit(take_word(text));
        if (unit == nullptr) {
            return refusal(unit_column, why_no_unit(whole.substr(start - 1, unit_column - start), at_unit));
        }
        if (unit->length_ms >= smallest_so_far) {
            return refusal(unit_column, "each unit may appear once, after all larger ones");
        }
        smallest_so_far = unit->length_ms;
        if (point != unit_column && !text.at_end()) return refusal(point, "only the last number may have decimals");
        const std::optional<std::int64_t> of_decimals = decimals_ms(decimals, unit->length_ms);
        if (!of_decimals) return refusal(point, "this is not a whole number of milliseconds; use fewer decimals");
        if (!add(total, *number, unit->length_ms) || !add(total, *of_decimals, 1)) return refusal(start, kTooLong);
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
    return parse_compact(text);
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
