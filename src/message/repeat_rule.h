// When a loop's occurrences are due.
//
// The first is due when the put says, and each later one a rest after the one before: always the same, or growing by
// `factor` up to `max`. Occurrences count from 1. Their times follow from the rule and the first one alone: nothing
// that happens to an occurrence, and no time that a server was away, moves the next.
//
//     every 10 s, times 4, first due at 0:                       0, 10 s, 20 s, 30 s
//     every 1 s, factor 2, most 5 s, times 5, first due at 0:    0, 1 s, 3 s, 7 s, 12 s
//
// Pure values and functions: no clock, no floating point.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"

namespace duewheel {

// Whole: every member means what it says.
struct RepeatRule {
    std::int64_t every_ms = 0;          // the rest after the first occurrence
    std::uint64_t times = 0;            // occurrences in all; 0: without end
    std::uint32_t factor_permille = 0;  // 1000: always the same rest
    std::int64_t max_ms = 0;            // the longest rest
    std::int64_t start_ms = 0;          // when the first occurrence is due
    std::int64_t end_ms = 0;            // no occurrence is due after it; 0: without end

    bool operator==(const RepeatRule&) const = default;
};

// What somebody asked for. Without a factor the rest is always the same; without `max` it grows up to the longest.
struct RepeatChoice {
    std::int64_t every_ms = 0;
    std::optional<std::int64_t> times;
    std::optional<std::int64_t> factor_permille;
    std::optional<std::int64_t> max_ms;
    std::optional<std::int64_t> until_ms;  // an instant

    bool operator==(const RepeatChoice&) const = default;
};

inline constexpr std::int64_t kRepeatEveryMaxMs = 10LL * 366 * 24 * 3600 * 1000;
inline constexpr std::int64_t kRepeatFactorMin = 1'000;
inline constexpr std::int64_t kRepeatFactorMax = 100'000;

// The rule of a loop whose first occurrence is due at `start_ms`. Code `out_of_range`, with the member as
// "repeat.every".
Result<RepeatRule> chosen_repeat(const RepeatChoice& choice, std::int64_t start_ms, std::uint64_t times_max);

// The rest between occurrence `number` and the one after it. At least 1 ms. O(log most / log factor).
std::int64_t interval_after_occurrence_ms(const RepeatRule& rule, std::uint64_t number);

// When the occurrence after `number` is due, which was due at `due_ms`; nothing where it was the last one.
std::optional<std::int64_t> next_occurrence_ms(const RepeatRule& rule, std::uint64_t number, std::int64_t due_ms);

}  // namespace duewheel
