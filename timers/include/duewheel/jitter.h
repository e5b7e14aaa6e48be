// A delay that spreads firings that would all be at the same instant: at midnight, at the full hour.
//
// Choose it if many are due at one instant and none needs to be; retries have their own (patterns/retry.h). Drawback:
// the order of the spread firings is lost.
//
// Example:
//     const Instant midnight = sys_days{2026y / November / 22};
//     const Instant due = with_jitter(midnight, "report-42", {.max = 30s});
//     assert(due >= midnight && due <= midnight + 30s);
//
// It is not random: the same name, nominal instant and seed give the same delay on every machine and after every
// restart, so that two nodes agree on it and a preview is correct. It is never early. With a `max` as long as the
// period or longer, two firings can change their order. Not for secrets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include <duewheel/instant.h>

namespace duewheel {

struct Jitter {
    std::chrono::milliseconds max{0};  // the longest delay; 0 or less: none
    std::uint64_t seed = 0;            // another one spreads the same names differently
};

// The nominal instant plus 0 to `max`, all milliseconds equally likely over names and instants. Saturates at the
// largest instant. O(length of the name).
Instant with_jitter(Instant nominal, std::string_view name, Jitter jitter);

}  // namespace duewheel
