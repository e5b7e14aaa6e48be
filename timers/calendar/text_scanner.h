// Reads a short text from left to right and tracks the column, for parsers whose errors point at it.
//
// Works on bytes, not characters: everything that the parsers of this module accept is ASCII, and a column of a text
// with other characters counts bytes. A digit is '0' to '9' in every locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace duewheel {

class TextScanner {
  public:
    explicit constexpr TextScanner(std::string_view text) : text_(text) {}

    constexpr bool at_end() const { return at_ == text_.size(); }
    // The column of the next byte; the first is 1.
    constexpr std::size_t column() const { return at_ + 1; }
    constexpr bool sees(char wanted) const { return !at_end() && text_[at_] == wanted; }
    constexpr bool sees_digit() const { return !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; }

    constexpr bool take(char wanted) {
        if (!sees(wanted)) return false;
        ++at_;
        return true;
    }
    constexpr bool take(std::string_view wanted) {
        if (!text_.substr(at_).starts_with(wanted)) return false;
        at_ += wanted.size();
        return true;
    }

    // The bytes up to the first one that is not `wanted`; they may be none.
    template <class Wanted>
    constexpr std::string_view take_while(Wanted wanted) {
        const std::size_t start = at_;
        while (!at_end() && wanted(text_[at_])) ++at_;
        return text_.substr(start, at_ - start);
    }

    // The digit that sees_digit() saw.
    constexpr int take_digit() { return text_[at_++] - '0'; }

    // A number of exactly `length` digits (at most 9). None, and nothing is consumed, if there are fewer.
    constexpr std::optional<int> take_fixed(std::size_t length) {
        const std::size_t start = at_;
        int number = 0;
        for (std::size_t i = 0; i < length; ++i) {
            if (!sees_digit()) {
                at_ = start;
                return std::nullopt;
            }
            number = number * 10 + take_digit();
        }
        return number;
    }

    // All digits at this point, at least one. None if the number is too large for 63 bits.
    constexpr std::optional<std::int64_t> take_number() {
        constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
        std::int64_t number = 0;
        while (sees_digit()) {
            const int digit = take_digit();
            if (number > (kMax - digit) / 10) return std::nullopt;
            number = number * 10 + digit;
        }
        return number;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

// Whether a text consists of digits, and there is at least one.
constexpr bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace duewheel
