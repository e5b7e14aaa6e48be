#include "resource/retry_fields.h"

namespace duewheel {
namespace {

// The numbers follow each other from 1: the log of several resources has them at a place of their own.
constexpr Field kRows[] = {
    count<&RetryChoice::attempts>(1, "attempts", "Deliveries before it becomes a dead letter; 1: no retries",
                                  {.min = 1, .limit = "limits.attempts_max"}),
    duration<&RetryChoice::first_ms>(2, "first", "Backoff after the first failure"),
    decimal<&RetryChoice::factor_permille>(3, "factor",
                                           "Factor by which the backoff grows with each failure: 2 doubles it",
                                           {.min = kRetryFactorMin, .max = kRetryFactorMax}),
    duration<&RetryChoice::max_ms>(4, "max", "Maximum backoff"),
    decimal<&RetryChoice::jitter_permille>(5, "jitter",
                                           "Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer",
                                           {.max = kRetryJitterMax}),
};

}  // namespace

template <>
const FieldTable& fields_of<RetryChoice>() {
    static const FieldTable table("a retry rule holds", kRows);
    return table;
}

}  // namespace duewheel
