// How often an address may send an access token that is not valid, before it has to wait.
//
// Each address has a bucket of kBurst failures that is refilled by one per second, kept as the time at which it is full
// again (GCRA). Addresses share a fixed number of buckets, by their hash: a flood of addresses takes no memory, and an
// address may have to wait for the failures of another one. So the limit applies only to requests that fail anyway:
// valid tokens of the same address, such as that of a proxy, are not affected.
//
// Takes the time as an argument; single-threaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace duewheel {

class FailedTokenLimit {
  public:
    static constexpr std::int64_t kIntervalNs = 1'000'000'000;
    static constexpr int kBurst = 20;
    static constexpr std::size_t kBuckets = 4'096;

    // A failure at `now_ns` by a monotonic clock. 0: it is within the limit, and is counted. Otherwise how many
    // milliseconds from now the next one is; then it is not counted. O(1).
    std::int64_t admit(std::string_view address, std::int64_t now_ns);

  private:
    std::array<std::int64_t, kBuckets> full_ns_{};
};

}  // namespace duewheel
