// A histogram of fixed size for latencies: recording takes a few integer operations, and percentiles have a bounded
// relative error.
//
// The buckets are log-linear, as in G. Tene's HdrHistogram: numbers below 128 have a bucket each. Above that, each
// power of two is divided into 64 buckets of equal width, over the whole range of 64 bits. A bucket is at most 1/64 as
// wide as its smallest number, so a percentile is never below the true one and less than 1/64 (1.6 %) above it.
//     1000 has 10 bits, so its lowest 3 bits are dropped: 1000 >> 3 = 125, the bucket of 1000 .. 1007
// The object has 30 KiB. It has no unit; the caller chooses one. For one thread: each thread can record into its own
// histogram, and merge() adds them up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace duewheel {

class Histogram {
  public:
    static constexpr std::uint64_t kWhole = 100'000;  // the value of 100 % for percentile()

    constexpr void record(std::uint64_t value) { record(value, 1); }

    // Like `times` calls of record(value).
    constexpr void record(std::uint64_t value, std::uint64_t times) {
        if (times == 0) return;
        counts_[bucket_of(value)] += times;
        count_ += times;
        sum_ = added(sum_, value > kMax / times ? kMax : value * times);
        min_ = std::min(min_, value);
        max_ = std::max(max_, value);
    }

    constexpr std::uint64_t count() const { return count_; }
    // The sum; it stays at the largest number that fits once it is reached.
    constexpr std::uint64_t sum() const { return sum_; }
    // The exact extremes; 0 if nothing was recorded.
    constexpr std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
    constexpr std::uint64_t max() const { return max_; }

    // The smallest bucket bound that at least `parts` of 100,000 recorded values do not exceed: 50,000 is the median,
    // 99,999 the 99.999th percentile, 100,000 the exact maximum. 0 if nothing was recorded. O(buckets).
    constexpr std::uint64_t percentile(std::uint64_t parts) const {
        assert(parts <= kWhole);
        const std::uint64_t rest = (count_ % kWhole) * parts;
        const std::uint64_t rank =
            std::max<std::uint64_t>(1, count_ / kWhole * parts + rest / kWhole + (rest % kWhole != 0 ? 1 : 0));
        std::uint64_t passed = 0;
        for (std::size_t bucket = 0; bucket < kBucketCount; ++bucket) {
            passed += counts_[bucket];
            if (passed >= rank) return std::clamp(last_of(bucket), min_, max_);
        }
        return max_;
    }

    // The number of values up to `value`, including its whole bucket: exact if `value` is the end of a bucket, such as
    // each 2^n - 1. O(buckets).
    constexpr std::uint64_t count_up_to(std::uint64_t value) const {
        const std::size_t last = bucket_of(value);
        std::uint64_t passed = 0;
        for (std::size_t bucket = 0; bucket <= last; ++bucket) passed += counts_[bucket];
        return passed;
    }

    // Adds all values that `other` recorded. O(buckets).
    constexpr void merge(const Histogram& other) {
        for (std::size_t bucket = 0; bucket < kBucketCount; ++bucket) counts_[bucket] += other.counts_[bucket];
        count_ += other.count_;
        sum_ = added(sum_, other.sum_);
        min_ = std::min(min_, other.min_);
        max_ = std::max(max_, other.max_);
    }

    constexpr void clear() { *this = Histogram(); }

  private:
    static constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    static constexpr int kBits = 6;
    static constexpr std::size_t kPerPower = std::size_t{1} << kBits;
    static constexpr std::size_t kBucketCount = kPerPower * (64 - kBits + 1);

    static constexpr std::uint64_t added(std::uint64_t a, std::uint64_t b) { return b > kMax - a ? kMax : a + b; }

    // Without its `dropped` low bits the value is in [64, 128), or below if none are dropped.
    static constexpr std::size_t bucket_of(std::uint64_t value) {
        const int dropped = std::max(0, static_cast<int>(std::bit_width(value)) - (kBits + 1));
        return static_cast<std::size_t>(dropped) * kPerPower + static_cast<std::size_t>(value >> dropped);
    }

    // The largest value in a bucket.
    static constexpr std::uint64_t last_of(std::size_t bucket) {
        if (bucket < 2 * kPerPower) return bucket;
        const std::size_t dropped = bucket / kPerPower - 1;
        const std::uint64_t first = static_cast<std::uint64_t>(bucket - dropped * kPerPower) << dropped;
        return first + ((std::uint64_t{1} << dropped) - 1);
    }

    std::array<std::uint64_t, kBucketCount> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t min_ = kMax;
    std::uint64_t max_ = 0;
};

}  // namespace duewheel
