// How many deliveries may start in a time, as a value and in its byte form: of a queue, or of each of its groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "resource/field.h"

namespace duewheel {

inline constexpr std::int64_t kRateCountMax = 100'000;
inline constexpr std::int64_t kRatePerMaxMs = 24LL * 3600 * 1000;

struct RateRule {
    std::uint64_t count = 0;  // deliveries in each `per`
    std::int64_t per_ms = 0;  // 0: a second
    std::uint64_t burst =
        0;  // that may start at once after a pause; 0: what comes in a tenth of a second, at least one

    bool operator==(const RateRule&) const = default;

    // The time between two deliveries, rounded up.
    std::int64_t interval_us() const {
        const auto per_us = (per_ms == 0 ? 1'000 : per_ms) * 1'000;
        return (per_us + static_cast<std::int64_t>(count) - 1) /
               static_cast<std::int64_t>(std::max<std::uint64_t>(count, 1));
    }
    std::int64_t burst_size() const {
        constexpr std::int64_t kTenthUs = 100'000;
        return burst != 0 ? static_cast<std::int64_t>(burst) : std::max<std::int64_t>(kTenthUs / interval_us(), 1);
    }
};

template <>
const FieldTable& fields_of<RateRule>();

// Refuses a burst of more than what comes in a day: what is left of a burst stays in memory for each group until all
// of it is there again. `path`: of the rate, in the request.
Status check_burst(const std::optional<RateRule>& rate, std::string_view path);

}  // namespace duewheel
