#include "access/failed_token_limit.h"

#include <algorithm>
#include <functional>

namespace duewheel {

std::int64_t FailedTokenLimit::admit(std::string_view address, std::int64_t now_ns) {
    std::int64_t& full_ns = full_ns_[std::hash<std::string_view>{}(address) % kBuckets];
    const std::int64_t from = std::max(full_ns, now_ns);
    const std::int64_t wait_ns = from - now_ns - (kBurst - 1) * kIntervalNs;
    if (wait_ns > 0) return (wait_ns + 999'999) / 1'000'000;
    full_ns = from + kIntervalNs;
    return 0;
}

}  // namespace duewheel
