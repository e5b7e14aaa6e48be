#include "base/histogram.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"

namespace duewheel {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(Histogram, an_empty_one_is_all_zeros) {
    const Histogram histogram;
    EXPECT_EQ(histogram.count(), 0u);
    EXPECT_EQ(histogram.sum(), 0u);
    EXPECT_EQ(histogram.min(), 0u);
    EXPECT_EQ(histogram.max(), 0u);
    EXPECT_EQ(histogram.percentile(50'000), 0u);
    EXPECT_EQ(histogram.percentile(100'000), 0u);
    EXPECT_EQ(histogram.count_up_to(kLargest), 0u);
}

TEST(Histogram, small_numbers_are_exact) {
    Histogram histogram;
    for (std::uint64_t value = 0; value < 100; ++value) histogram.record(value);
    EXPECT_EQ(histogram.percentile(0), 0u);
    EXPECT_EQ(histogram.percentile(1'000), 0u);
    EXPECT_EQ(histogram.percentile(1'001), 1u);
    EXPECT_EQ(histogram.percentile(50'000), 49u);
    EXPECT_EQ(histogram.percentile(99'000), 98u);
    EXPECT_EQ(histogram.percentile(100'000), 99u);
    EXPECT_EQ(histogram.sum(), 4950u);
    EXPECT_EQ(histogram.count_up_to(49), 50u);
}

TEST(Histogram, a_lone_number_is_every_percentile_of_itself) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1000},
                                      std::uint64_t{1} << 40, kLargest - 1, kLargest}) {
        Histogram histogram;
        histogram.record(value);
        EXPECT_EQ(histogram.percentile(0), value);
        EXPECT_EQ(histogram.percentile(50'000), value);
        EXPECT_EQ(histogram.min(), value);
        EXPECT_EQ(histogram.max(), value);
    }
}

// The two lowest numbers of each power of two, and the last below it, over the whole range.
TEST(Histogram, no_number_is_reported_lower_or_a_64th_higher) {
    for (int power = 1; power < 64; ++power) {
        const std::uint64_t base = std::uint64_t{1} << power;
        for (const std::uint64_t value : {base - 1, base, base + 1, base + base / 3}) {
            Histogram histogram;
            histogram.record(0);
            histogram.record(value);
            histogram.record(value);
            histogram.record(kLargest);
            const std::uint64_t reported = histogram.percentile(75'000);
            EXPECT_GE(reported, value);
            EXPECT_LT(reported - value, std::max<std::uint64_t>(1, value / 64 + 1)) << value;
        }
        Histogram split;
        split.record(base - 1);
        split.record(base);
        EXPECT_EQ(split.count_up_to(base - 1), 1u) << base;
        EXPECT_EQ(split.percentile(50'000), base - 1);
    }
}

TEST(Histogram, percentiles_agree_with_the_sorted_list) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        Histogram histogram;
        std::vector<std::uint64_t> all;
        std::uint64_t sum = 0;
        const std::uint64_t count = 1 + random.below(3000);
        for (std::uint64_t i = 0; i < count; ++i) {
            all.push_back(random.next() >> (20 + random.below(44)));
            histogram.record(all.back());
            sum += all.back();
        }
        std::sort(all.begin(), all.end());
        EXPECT_EQ(histogram.count(), all.size());
        EXPECT_EQ(histogram.sum(), sum);
        EXPECT_EQ(histogram.min(), all.front());
        EXPECT_EQ(histogram.max(), all.back());
        for (std::uint64_t parts = 0; parts <= 100'000; parts += 1 + random.below(5000)) {
            const std::size_t rank = std::max<std::size_t>(1, (all.size() * parts + 99'999) / 100'000);
            const std::uint64_t exact = all[rank - 1];
            const std::uint64_t reported = histogram.percentile(parts);
            ASSERT_GE(reported, exact) << parts;
            ASSERT_LE(reported - exact, exact / 64) << parts;
        }
    }
}

TEST(Histogram, merging_is_recording_everything_in_one) {
    Random random(3);
    Histogram left;
    Histogram right;
    Histogram all;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t value = random.below(std::uint64_t{1} << 30);
        (random.chance(500'000) ? left : right).record(value);
        all.record(value);
    }
    left.merge(right);
    left.merge(Histogram());
    EXPECT_EQ(left.count(), all.count());
    EXPECT_EQ(left.sum(), all.sum());
    EXPECT_EQ(left.min(), all.min());
    EXPECT_EQ(left.max(), all.max());
    for (std::uint64_t parts = 0; parts <= 100'000; parts += 500) {
        ASSERT_EQ(left.percentile(parts), all.percentile(parts));
    }
    left.clear();
    EXPECT_EQ(left.count(), 0u);
    EXPECT_EQ(left.percentile(50'000), 0u);
}

TEST(Histogram, recording_many_at_once_is_recording_each) {
    Histogram once;
    Histogram each;
    once.record(500, 3);
    once.record(7, 0);
    for (int i = 0; i < 3; ++i) each.record(500);
    EXPECT_EQ(once.count(), each.count());
    EXPECT_EQ(once.sum(), 1500u);
    EXPECT_EQ(once.min(), 500u);
}

TEST(Histogram, the_sum_stays_at_its_limit) {
    Histogram histogram;
    histogram.record(kLargest);
    histogram.record(2);
    EXPECT_EQ(histogram.sum(), kLargest);
    Histogram many;
    many.record(kLargest / 2, 3);
    EXPECT_EQ(many.sum(), kLargest);
    many.merge(histogram);
    EXPECT_EQ(many.sum(), kLargest);
}

// The rank of a count near the limit must not overflow.
TEST(Histogram, percentiles_of_very_many_do_not_overflow) {
    Histogram histogram;
    histogram.record(1, std::uint64_t{1} << 62);
    histogram.record(2, std::uint64_t{1} << 62);
    EXPECT_EQ(histogram.percentile(50'000), 1u);
    EXPECT_EQ(histogram.percentile(50'001), 2u);
    EXPECT_EQ(histogram.percentile(100'000), 2u);
}

}  // namespace
}  // namespace duewheel
