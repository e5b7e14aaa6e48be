#include "shared/random.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel {
namespace {

// Figures published with other implementations of the two algorithms.
TEST(Random, splitmix64_gives_the_published_sequence) {
    std::uint64_t state = 1234567;
    EXPECT_EQ(splitmix64(state), 6457827717110365317u);
    EXPECT_EQ(splitmix64(state), 3203168211198807973u);
    EXPECT_EQ(splitmix64(state), 9817491932198370423u);
    EXPECT_EQ(splitmix64(state), 4593380528125082431u);
    EXPECT_EQ(splitmix64(state), 16408922859458223821u);
}

TEST(Random, xoshiro256_starstar_gives_the_published_sequence) {
    Random random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
    EXPECT_EQ(random.next(), 11520u);
    EXPECT_EQ(random.next(), 0u);
    EXPECT_EQ(random.next(), 1509978240u);
    EXPECT_EQ(random.next(), 1215971899390074240u);
}

TEST(Random, the_same_seed_gives_the_same_numbers_at_compile_time_and_at_run_time) {
    constexpr std::uint64_t kFirst = Random(42).next();
    Random random(42);
    EXPECT_EQ(random.next(), kFirst);
    EXPECT_NE(Random(43).next(), kFirst);
}

TEST(Random, below_reaches_each_number_equally_often) {
    Random random(1);
    constexpr std::uint64_t kFaces = 7;
    constexpr int kThrows = 70'000;
    std::array<int, kFaces> seen{};
    for (int i = 0; i < kThrows; ++i) ++seen.at(random.below(kFaces));
    for (const int count : seen) EXPECT_NEAR(count, kThrows / 7, 500);  // five standard deviations
}

// With n = 3 * 2^62 a plain remainder would hit the lowest third twice as often.
TEST(Random, below_has_no_bias_where_the_range_does_not_divide_evenly) {
    Random random(2);
    constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
    int lowest = 0;
    for (int i = 0; i < 30'000; ++i) lowest += random.below(3 * kThird) < kThird ? 1 : 0;
    EXPECT_NEAR(lowest, 10'000, 450);
}

TEST(Random, below_one_is_zero) {
    EXPECT_EQ(Random(3).below(1), 0u);
}

TEST(Random, between_reaches_both_ends_and_the_whole_range) {
    Random random(4);
    bool low = false;
    bool high = false;
    for (int i = 0; i < 200; ++i) {
        const std::int64_t drawn = random.between(-2, 2);
        ASSERT_GE(drawn, -2);
        ASSERT_LE(drawn, 2);
        low = low || drawn == -2;
        high = high || drawn == 2;
    }
    EXPECT_TRUE(low && high);
    using Limits = std::numeric_limits<std::int64_t>;
    EXPECT_EQ(random.between(Limits::max(), Limits::max()), Limits::max());
    Random twin = random;
    EXPECT_EQ(random.between(Limits::min(), Limits::max()),
              static_cast<std::int64_t>(twin.next() + (std::uint64_t{1} << 63)));
}

TEST(Random, chance_is_never_at_zero_and_always_at_a_million) {
    Random random(5);
    int quarter = 0;
    for (int i = 0; i < 40'000; ++i) {
        ASSERT_FALSE(random.chance(0));
        ASSERT_TRUE(random.chance(1'000'000));
        quarter += random.chance(250'000) ? 1 : 0;
    }
    EXPECT_NEAR(quarter, 10'000, 450);
}

TEST(Random, a_split_generator_goes_its_own_way) {
    Random parent(6);
    Random child = parent.split();
    Random parent_again(6);
    Random child_again = parent_again.split();
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t drawn = child.next();
        EXPECT_EQ(drawn, child_again.next());
        EXPECT_NE(drawn, parent.next());
    }
}

}  // namespace
}  // namespace duewheel
