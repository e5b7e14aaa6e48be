// The number of attempts of a message, and the backoff between them.
//
// The backoff starts at `first` and grows by `factor` with each failure, up to `max`. Then it is varied by up to
// `jitter` in both directions, so that messages that failed together are not retried together. The jitter is a hash of
// id and attempt: the same failure always gives the same instant, in tests and in replays.
//
//     attempts 5, first 1 s, factor 2, max 5 s, no jitter:    1 s, 2 s, 4 s, 5 s, dead
//
// Pure values and functions: no clock, no floating point.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"

namespace duewheel {

// Complete: every member is set.
struct RetryRule {
    std::uint32_t attempts = 0;         // deliveries before the message is dead; 1: no retries
    std::int64_t first_ms = 0;          // after the first failure
    std::uint32_t factor_permille = 0;  // 1000: constant
    std::int64_t max_ms = 0;            // before the jitter
    std::uint32_t jitter_permille = 0;  // of the backoff

    bool operator==(const RetryRule&) const = default;
};

// As requested. An absent member is inherited.
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

// Applies `choice` to `base`. An absent `max` is at least the chosen `first`, and an absent `first` at most the chosen
// `max`. Code `out_of_range`, with the member as "retry.first".
Result<RetryRule> chosen_rule(const RetryChoice& choice, const RetryRule& base);

// The backoff after failure number `failure`, from 1. At least 0. O(log most / log factor).
std::int64_t backoff_after_failure_ms(const RetryRule& rule, std::uint32_t failure, std::uint64_t id);

}  // namespace duewheel
