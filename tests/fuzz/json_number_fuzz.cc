// Numbers of JSON: parsed exactly, compared with arithmetic on their digits, whatever their exponent.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/fuzz_target.h"
#include "http_api/fields/json_number.h"

namespace duewheel::json_number_fuzz {
namespace {

constexpr int kExponentMax = 400;  // beyond, the obvious way below takes too long

struct Parts {
    bool negative = false;
    std::string whole, fraction;
    int exponent = 0;
};

bool take_digits(std::string_view& text, std::string& into) {
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        into += text.front();
        text.remove_prefix(1);
    }
    return !into.empty();
}

// By JSON's grammar; nothing where it is no number, or one with an exponent that is too far out.
std::optional<Parts> parts_of(std::string_view text) {
    Parts parts;
    const auto take = [&](char c) { return text.starts_with(c) && (text.remove_prefix(1), true); };
    parts.negative = take('-');
    if (!take_digits(text, parts.whole) || (parts.whole.size() > 1 && parts.whole.front() == '0')) return std::nullopt;
    if (take('.') && !take_digits(text, parts.fraction)) return std::nullopt;
    if (take('e') || take('E')) {
        const bool minus = text.starts_with('-');
        if (minus || text.starts_with('+')) text.remove_prefix(1);
        std::string digits;
        if (!take_digits(text, digits) || digits.size() > 4) return std::nullopt;
        parts.exponent = std::stoi(digits) * (minus ? -1 : 1);
        if (parts.exponent > kExponentMax || parts.exponent < -kExponentMax) return std::nullopt;
    }
    if (!text.empty()) return std::nullopt;
    return parts;
}

// Moves the point by hand, one digit a time.
JsonNumber reckoned(Parts parts) {
    for (; parts.exponent > 0; --parts.exponent) {
        parts.whole += parts.fraction.empty() ? '0' : parts.fraction.front();
        if (!parts.fraction.empty()) parts.fraction.erase(0, 1);
    }
    for (; parts.exponent < 0; ++parts.exponent) {
        parts.fraction.insert(0, 1, parts.whole.back());
        parts.whole.pop_back();
        if (parts.whole.empty()) parts.whole += '0';
    }
    if (parts.fraction.find_first_not_of('0') != std::string::npos) return {};
    __extension__ using Wide = __int128;
    const Wide most = parts.negative ? Wide{INT64_MAX} + 1 : Wide{INT64_MAX};
    Wide value = 0;
    for (const char digit : parts.whole) {
        value = value * 10 + (digit - '0');
        if (value > most) return {true, true, parts.negative ? INT64_MIN : INT64_MAX};
    }
    return {true, false, static_cast<std::int64_t>(parts.negative ? -value : value)};
}

}  // namespace

void fuzz(std::string_view input) {
    if (input.size() > 500) return;
    const std::optional<Parts> parts = parts_of(input);
    if (!parts) return;
    const JsonNumber expected = reckoned(*parts);
    const JsonNumber number = read_json_number(input);
    require(number.whole == expected.whole, "a fraction was taken for a whole number, or the other way round");
    if (!number.whole) return;
    require(number.beyond == expected.beyond && number.value == expected.value, "a number was taken as another",
            std::to_string(number.value));
}

}  // namespace duewheel::json_number_fuzz
