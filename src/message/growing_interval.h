// An interval that grows from `first_us` by a factor at each step, up to `most_us`. For retries and recurrence.
//
// In microseconds, so that an interval of a few milliseconds grows by small factors too. All products fit: at most
// 3.2e14 us / 1000 x 100,000. Rounded down at each step, without floating point, so that it is the same everywhere.
#pragma once

#include <algorithm>
#include <cstdint>

namespace duewheel {

// The interval of step `step`, from 1. O(log most / log factor).
inline std::int64_t grown_interval_us(std::int64_t first_us, std::int64_t factor_permille, std::int64_t most_us,
                                      std::uint64_t step) {
    std::int64_t rest_us = std::min(first_us, most_us);
    if (factor_permille <= 1000 || rest_us <= 0) return rest_us;
    for (std::uint64_t grown = 1; grown < step && rest_us < most_us; ++grown) {
        rest_us = rest_us / 1000 * factor_permille + rest_us % 1000 * factor_permille / 1000;
    }
    return std::min(rest_us, most_us);
}

}  // namespace duewheel
