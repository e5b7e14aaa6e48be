// How often a message is tried, and how long it rests after a failure.
//
// The rest before the next attempt grows from `first` by `factor` with each failure, up to `max`; then it is moved by
// up to `jitter` either way, so that what failed together does not come back together. The jitter is a hash of the id
// and the attempt: the same failure always gives the same instant, in a test as in a replay.
//
//     attempts 5, first 1 s, factor 2, most 5 s, no jitter:   1 s, 2 s, 4 s, 5 s, dead
//
// Pure values and functions: no clock, no floating point.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"

namespace duewheel {

// Whole: every member means what it says.
struct RetryRule {
    std::uint32_t attempts = 0;         // deliveries until the message is dead; 1: it is never tried again
    std::int64_t first_ms = 0;          // after the first failure
    std::uint32_t factor_permille = 0;  // 1000: always the same
    std::int64_t max_ms = 0;            // before the jitter
    std::uint32_t jitter_permille = 0;  // of the rest

    bool operator==(const RetryRule&) const = default;
};

// What somebody said of a rule. A member that is missing is as in the rule that would hold without it.
struct RetryChoice {
    std::optional<std::int64_t> attempts;
    std::optional<std::int64_t> first_ms;
    std::optional<std::int64_t> factor_permille;
    std::optional<std::int64_t> max_ms;
    std::optional<std::int64_t> jitter_permille;

    bool is_empty() const { return *this == RetryChoice{}; }
    bool operator==(const RetryChoice&) const = default;
};

inline constexpr std::int64_t kRetryAttemptsMax = 1'000'000;
inline constexpr std::int64_t kRetryFactorMin = 1'000;
inline constexpr std::int64_t kRetryFactorMax = 100'000;
inline constexpr std::int64_t kRetryBackoffMaxMs = 10LL * 366 * 24 * 3600 * 1000;
inline constexpr std::int64_t kRetryJitterMax = 1'000;

// The rule that `choice` makes of `base`. A missing `max` is at least the `first` that was chosen, and a missing
// `first` at most the `max`. Code `out_of_range`, with the member as "retry.first".
Result<RetryRule> chosen_rule(const RetryChoice& choice, const RetryRule& base);

// How long a message rests after its failure number `failure`, 1 being the first. At least 0. O(log most / log factor).
std::int64_t backoff_after_failure_ms(const RetryRule& rule, std::uint32_t failure, std::uint64_t id);

}  // namespace duewheel
