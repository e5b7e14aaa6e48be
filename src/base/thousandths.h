// Numbers with up to three decimals, held as whole thousandths: a backoff factor of 1.5 is 1500.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace duewheel {

// 1500 is "1.5", and 2000 is "2". Not for negative numbers.
inline std::string format_thousandths(std::int64_t thousandths) {
    std::string text = std::to_string(thousandths / 1000);
    if (thousandths % 1000 == 0) return text;
    std::string decimals = std::to_string(1000 + thousandths % 1000).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return text + "." + decimals;
}

// From up to 15 digits, with one to three of them after a decimal point or without one. Nothing for any other text.
inline std::optional<std::int64_t> parse_thousandths(std::string_view text) {
    constexpr std::size_t kDigitsMax = 15;
    const std::size_t point = text.find('.');
    std::string digits(text.substr(0, point));
    std::string decimals(point == std::string_view::npos ? "0" : text.substr(point + 1));
    if (digits.empty() || digits.size() > kDigitsMax || decimals.empty() || decimals.size() > 3) return std::nullopt;
    decimals.resize(3, '0');
    digits += decimals;
    if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    std::int64_t thousandths = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), thousandths);
    return thousandths;
}

}  // namespace duewheel
