#include "resource/retry_fields.h"

namespace duewheel {
namespace {

// The numbers follow each other from 1: the log of several resources has them at a place of their own.
constexpr Field kRetryRows[] = {
    count<&RetryChoice::attempts>(
        1, "attempts", "Deliveries before it becomes a dead letter; 1: no retries",
        {.page = "number of deliveries, 1 to 1,000,000; 1: no retry. 10 by default", .limit = "limits.attempts_max"}),
    duration<&RetryChoice::first_ms>(2, "first", "Backoff after the first failure",
                                     {.page = "backoff after the first failure, `\"1s\"` by default"}),
    decimal<&RetryChoice::factor_permille>(
        3, "factor", "Factor by which the backoff grows with each failure: 2 doubles it",
        {.page = "the backoff is multiplied by it after each failure: 1 to 100, up to three decimals; 1: constant. 2 "
                 "by default",
         .min = kRetryFactorMin,
         .max = kRetryFactorMax}),
    duration<&RetryChoice::max_ms>(
        4, "max", "Maximum backoff",
        {.page = "the longest backoff, at least `first`, `\"1h\"` by default. If only one of the two is given and "
                 "contradicts the other's default, the other is adjusted: `max` of 1 ms makes `first` 1 ms, `first` of "
                 "2 h makes `max` 2 h"}),
    decimal<&RetryChoice::jitter_permille>(
        5, "jitter", "Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer",
        {.page = "each backoff is made longer or shorter by up to this fraction, 0 to 1, so that messages that failed "
                 "together are not retried together. 0.2 by default",
         .max = kRetryJitterMax}),
};

}  // namespace

template <>
const FieldTable& fields_of<RetryChoice>() {
    static const FieldTable table("a retry rule holds", kRetryRows);
    return table;
}

}  // namespace duewheel
