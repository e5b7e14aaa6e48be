#include "message/retry_rule.h"

#include <algorithm>
#include <string>

#include "base/error_codes.h"
#include "message/growing_interval.h"

namespace duewheel {
namespace {

Status check_range(std::int64_t value, std::int64_t least, std::int64_t most, const char* member, const char* rule) {
    if (value >= least && value <= most) return {};
    return Error{"out_of_range"_code, rule, std::string("retry.") + member};
}

// Each bit of the result depends on every bit of the input.
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace

Result<RetryRule> chosen_rule(const RetryChoice& choice, const RetryRule& base) {
    const std::int64_t attempts = choice.attempts.value_or(base.attempts);
    const std::int64_t factor = choice.factor_permille.value_or(base.factor_permille);
    const std::int64_t jitter = choice.jitter_permille.value_or(base.jitter_permille);
    std::int64_t first = choice.first_ms.value_or(base.first_ms);
    std::int64_t most = choice.max_ms.value_or(std::max(base.max_ms, first));
    if (!choice.first_ms) first = std::min(first, most);

    Status legal =
        check_range(attempts, 1, kRetryAttemptsMax, "attempts", "`attempts` must be from 1 (no retries) to 1000000");
    if (legal) legal = check_range(first, 0, kRetryBackoffMaxMs, "first", "`first` must be up to 3660 days");
    if (legal) {
        legal = check_range(factor, kRetryFactorMin, kRetryFactorMax, "factor",
                            "`factor` must be from 1 (a constant backoff) to 100");
    }
    if (legal) legal = check_range(most, 0, kRetryBackoffMaxMs, "max", "`max` must be up to 3660 days");
    if (legal) {
        legal = check_range(most, first, kRetryBackoffMaxMs, "max",
                            "`max`, the longest backoff, must not be less than `first`, the shortest");
    }
    if (legal) {
        legal = check_range(jitter, 0, kRetryJitterMax, "jitter",
                            "`jitter` must be from 0 (none) to 1 (up to twice the backoff)");
    }
    if (!legal) return std::move(legal).error();
    return RetryRule{static_cast<std::uint32_t>(attempts), first, static_cast<std::uint32_t>(factor), most,
                     static_cast<std::uint32_t>(jitter)};
}

std::int64_t backoff_after_failure_ms(const RetryRule& rule, std::uint32_t failure, std::uint64_t id) {
    const std::int64_t rest_ms =
        grown_interval_us(rule.first_ms * 1000, rule.factor_permille, rule.max_ms * 1000, failure) / 1000;
    const auto jitter = static_cast<std::int64_t>(rule.jitter_permille);
    if (jitter == 0) return rest_ms;
    const std::uint64_t hash = mixed(id * 0x9e3779b97f4a7c15 + failure);
    const auto drawn = static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(2 * jitter + 1)) - jitter;
    return rest_ms + (rest_ms / 1000 * drawn + rest_ms % 1000 * drawn / 1000);
}

}  // namespace duewheel
