// The days of a month as bits of one word: bit d stands for day d, so bit 0 is never set.
//
// A rule about days (weekdays, the last Friday, the working day nearest to the 15th) is one word per month, and the
// next matching day is found by a scan for a bit.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace duewheel {

// Days 1 to `day`, which is 0 to 31.
constexpr std::uint32_t days_through(unsigned day) {
    return static_cast<std::uint32_t>((std::uint64_t{2} << day) - 1) & ~std::uint32_t{1};
}

struct MonthShape {
    std::chrono::sys_days first;
    unsigned length;
    unsigned first_weekday;  // 0 is Sunday

    constexpr std::uint32_t all() const { return days_through(length); }

    constexpr unsigned weekday_of(unsigned day) const { return (first_weekday + day - 1) % 7; }

    // The days that are in a set of weekdays: bit 0 is Sunday.
    constexpr std::uint32_t days_on(std::uint8_t weekdays) const {
        // The set as it is in the first week, repeated for five weeks.
        const std::uint64_t week = (weekdays >> first_weekday | weekdays << (7 - first_weekday)) & 0x7f;
        constexpr std::uint64_t kFiveWeeks = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;
        return static_cast<std::uint32_t>(week * kFiveWeeks << 1) & all();
    }

    // The working day nearest to a day of this month, without leaving the month.
    constexpr unsigned nearest_working_day(unsigned day) const {
        switch (weekday_of(day)) {
            case 6:
                return day > 1 ? day - 1 : day + 2;
            case 0:
                return day < length ? day + 1 : day - 2;
            default:
                return day;
        }
    }
};

constexpr MonthShape shape_of(std::chrono::year_month month) {
    const std::chrono::sys_days first{month / 1};
    const std::chrono::year_month_day_last last = month / std::chrono::last;
    return {first, static_cast<unsigned>(last.day()), std::chrono::weekday(first).c_encoding()};
}

inline constexpr std::array<std::string_view, 7> kWeekdayNames = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
inline constexpr std::array<std::string_view, 12> kMonthNames = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                                 "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

constexpr char upper_case(char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

constexpr bool same_name(std::string_view text, std::string_view name) {
    if (text.size() != name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (upper_case(text[i]) != name[i]) return false;
    }
    return true;
}

// The index of a name of three letters in a table, in any case; none if it is not in it.
template <std::size_t size>
constexpr std::optional<unsigned> position_of_name(std::string_view text,
                                                   const std::array<std::string_view, size>& names) {
    for (std::size_t i = 0; i < size; ++i) {
        if (same_name(text, names[i])) return static_cast<unsigned>(i);
    }
    return std::nullopt;
}

// 0 is Sunday.
constexpr std::optional<unsigned> weekday_of_name(std::string_view text) {
    return position_of_name(text, kWeekdayNames);
}

}  // namespace duewheel
