#include "http_api/fields/json_number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace duewheel {
namespace {

// More than a body has digits.
constexpr std::int64_t kExponentMax = 1'000'000'000;
constexpr std::int64_t kDigitsMax = 19;  // of 64 bits

std::int64_t read_exponent(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto [stopped, failed] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (failed != std::errc()) exponent = text.starts_with('-') ? -kExponentMax : kExponentMax;
    return std::clamp(exponent, -kExponentMax, kExponentMax);
}

// 12.50e3 is the digits "125" with the point after the fifth place: 0.125 times ten to the fifth. Neither the first nor
// the last digit is a zero.
struct Decimal {
    bool negative = false;
    std::string digits;
    std::int64_t point = 0;
};

Decimal read_decimal(std::string_view text) {
    Decimal decimal;
    decimal.negative = text.starts_with('-');
    if (decimal.negative) text.remove_prefix(1);
    const std::size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
    if (mantissa_end < text.size()) decimal.point = read_exponent(text.substr(mantissa_end + 1));
    const std::string_view mantissa = text.substr(0, mantissa_end);
    const std::size_t before_point = std::min(mantissa.find('.'), mantissa.size());
    decimal.digits = mantissa;
    if (before_point < mantissa.size()) decimal.digits.erase(before_point, 1);
    const std::size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
    decimal.digits.erase(0, zeros);
    decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
    decimal.point += static_cast<std::int64_t>(before_point) - static_cast<std::int64_t>(zeros);
    return decimal;
}

JsonNumber nearest(bool negative) {
    using Limits = std::numeric_limits<std::int64_t>;
    return {true, true, negative ? Limits::min() : Limits::max()};
}

JsonNumber whole_of(Decimal decimal) {
    JsonNumber number{true, false, 0};
    if (decimal.digits.empty()) return {true, false, 0};
    if (decimal.point < static_cast<std::int64_t>(decimal.digits.size())) return {};
    if (decimal.point > kDigitsMax) return nearest(decimal.negative);
    decimal.digits.append(static_cast<std::size_t>(decimal.point) - decimal.digits.size(), '0');
    if (decimal.negative) decimal.digits.insert(0, 1, '-');
    const char* end = decimal.digits.data() + decimal.digits.size();
    if (std::from_chars(decimal.digits.data(), end, number.value).ec != std::errc()) return nearest(decimal.negative);
    return number;
}

}  // namespace

JsonNumber read_json_number(std::string_view text) {
    JsonNumber number{true, false, 0};
    const auto [stopped, refused] = std::from_chars(text.data(), text.data() + text.size(), number.value);
    if (refused == std::errc() && stopped == text.data() + text.size()) return number;

    return whole_of(read_decimal(text));
}

JsonNumber read_json_thousandths(std::string_view text) {
    Decimal decimal = read_decimal(text);
    decimal.point += 3;
    return whole_of(std::move(decimal));
}

}  // namespace duewheel
