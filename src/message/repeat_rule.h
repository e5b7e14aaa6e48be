// The due times of the occurrences of a recurring message.
//
// The first is due at the due time of the put, and each later one after an interval: fixed, or growing by `factor` up
// to `max`. Occurrences count from 1. Their times follow from the rule and the first time alone; neither the fate of an
// occurrence nor downtime of the server moves the next.
//
//     every 10 s, times 4, first due at 0:                       0, 10 s, 20 s, 30 s
//     every 1 s, factor 2, max 5 s, times 5, first due at 0:     0, 1 s, 3 s, 7 s, 12 s
//
// Pure values and functions: no clock, no floating point.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"

namespace duewheel {

// Complete: every member is set.
struct RepeatRule {
    std::int64_t every_ms = 0;          // the interval after the first occurrence
    std::uint64_t times = 0;            // total number of occurrences; 0: unlimited
    std::uint32_t factor_permille = 0;  // 1000: a fixed interval
    std::int64_t max_ms = 0;            // the longest interval
    std::int64_t start_ms = 0;          // when the first occurrence is due
    std::int64_t end_ms = 0;            // no occurrence is due after it; 0: unlimited

    bool operator==(const RepeatRule&) const = default;
};

// As requested. Without a factor the interval is fixed; without `max` it grows up to the longest allowed one.
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

// The rule of a recurring message whose first occurrence is due at `start_ms`. Code `out_of_range`, with the member as
// "repeat.every".
Result<RepeatRule> chosen_repeat(const RepeatChoice& choice, std::int64_t start_ms, std::uint64_t times_max);

// The interval after occurrence `number`. At least 1 ms. O(log most / log factor).
std::int64_t interval_after_occurrence_ms(const RepeatRule& rule, std::uint64_t number);

// The due time of the occurrence after `number`, which was due at `due_ms`; none if that was the last one.
std::optional<std::int64_t> next_occurrence_ms(const RepeatRule& rule, std::uint64_t number, std::int64_t due_ms);

}  // namespace duewheel
