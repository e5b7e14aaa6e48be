// The breaker and the pace of a target.
#include <gtest/gtest.h>

#include "delivery/target_breaker.h"
#include "delivery/target_pace.h"

namespace duewheel::target_limits_test {
namespace {

TEST(TargetBreaker, opens_after_failures_in_a_row_and_never_before) {
    TargetBreaker breaker;
    for (std::uint32_t i = 1; i < TargetBreaker::kFailuresToOpen; ++i) EXPECT_FALSE(breaker.failed(0, 100));
    EXPECT_FALSE(breaker.worked()) << "it was not open";
    for (std::uint32_t i = 1; i < TargetBreaker::kFailuresToOpen; ++i) EXPECT_FALSE(breaker.failed(0, 100));
    EXPECT_FALSE(breaker.is_open());
    EXPECT_EQ(breaker.open_until_ms(), 0);
    EXPECT_TRUE(breaker.failed(0, 100));
    EXPECT_TRUE(breaker.is_open());
    EXPECT_EQ(breaker.open_until_ms(), 1'100);
}

TEST(TargetBreaker, backs_off_twice_as_long_after_each_failed_probe_up_to_a_minute) {
    TargetBreaker breaker;
    for (std::uint32_t i = 0; i < TargetBreaker::kFailuresToOpen; ++i) breaker.failed(0, 0);
    std::int64_t now = breaker.open_until_ms();
    for (const std::int64_t rest : {2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000}) {
        EXPECT_FALSE(breaker.failed(breaker.openings(), now)) << "it was open";
        EXPECT_EQ(breaker.open_until_ms(), now + rest);
        now = breaker.open_until_ms();
    }
    EXPECT_TRUE(breaker.worked());
    EXPECT_FALSE(breaker.is_open());
    for (std::uint32_t i = 0; i < TargetBreaker::kFailuresToOpen; ++i) breaker.failed(breaker.openings(), now);
    EXPECT_EQ(breaker.open_until_ms(), now + TargetBreaker::kFirstBackoffMs) << "it begins anew";
}

// A hundred posts that hang are one outage, not a hundred.
TEST(TargetBreaker, ignores_failures_of_posts_from_before_it_opened) {
    TargetBreaker breaker;
    for (std::uint32_t i = 0; i < 100; ++i) breaker.failed(0, static_cast<std::int64_t>(i));
    EXPECT_EQ(breaker.openings(), 1u);
    EXPECT_EQ(breaker.open_until_ms(), TargetBreaker::kFailuresToOpen - 1 + TargetBreaker::kFirstBackoffMs);
    EXPECT_TRUE(breaker.worked()) << "but from one that worked";
    EXPECT_FALSE(breaker.failed(0, 200));
    EXPECT_FALSE(breaker.is_open());
}

TEST(TargetPace, without_a_rate_knows_no_limit) {
    TargetPace pace;
    for (int i = 0; i < 100'000; ++i) pace.count(5);
    EXPECT_GT(pace.available(5), 1'000'000u);
    EXPECT_EQ(pace.next_ms(5), 5);
}

// A target that takes tokens as soon as they are available gets the rate: never more, and less only by the rounding of
// a millisecond.
TEST(TargetPace, is_the_rate_over_any_time) {
    for (const std::uint32_t rate : {1u, 3u, 7u, 10u, 100u, 999u, 12'345u}) {
        TargetPace pace;
        pace.set(rate);
        std::int64_t now = 1'000'000;
        const std::int64_t begin = now;
        std::uint64_t taken = 0;
        const std::uint64_t burst = std::max(rate / 10, 1u);
        for (int step = 0; step < 5'000; ++step) {
            for (std::uint32_t there = pace.available(now); there > 0; --there) {
                pace.count(now);
                ++taken;
            }
            ASSERT_LE(taken, burst + static_cast<std::uint64_t>(now - begin) * rate / 1000) << rate;
            const std::int64_t next = pace.next_ms(now);
            ASSERT_GT(next, now) << "nothing is there, so it is later";
            now = next;
            ASSERT_GE(pace.available(now), 1u) << "as it said";
        }
        ASSERT_GE(taken + 1, static_cast<std::uint64_t>(now - begin) * rate / 1000 * 98 / 100) << rate;
    }
}

TEST(TargetPace, keeps_its_level_when_the_rate_changes_up_to_the_new_size) {
    TargetPace pace;
    pace.set(1'000);
    EXPECT_EQ(pace.available(10'000), 100u);
    pace.set(20);
    EXPECT_EQ(pace.available(10'000), 2u);
    pace.count(10'000);
    pace.count(10'000);
    EXPECT_EQ(pace.available(10'000), 0u);
    EXPECT_EQ(pace.next_ms(10'000), 10'050);
    EXPECT_EQ(pace.available(9'000), 0u) << "a clock that goes back gives nothing";
}

// What was leased and waits for a connection takes its token when it is posted, so that more may be taken than there
// is. Then there were four thousand million, and a target got all at once.
TEST(TargetPace, gives_nothing_while_it_is_overdrawn) {
    TargetPace pace;
    pace.set(20);
    EXPECT_EQ(pace.available(10'000), 2u);
    for (int i = 0; i < 5; ++i) pace.count(10'000);
    EXPECT_EQ(pace.available(10'000), 0u);
    EXPECT_EQ(pace.next_ms(10'000), 10'200);
    EXPECT_EQ(pace.available(10'199), 0u);
    EXPECT_EQ(pace.available(10'200), 1u);
}

// A target that had waited three seconds for a message, at one a second, got two at once: the bucket was filled up
// again for the time before the first.
TEST(TargetPace, loses_what_comes_while_the_bucket_is_full) {
    TargetPace pace;
    pace.set(1);
    EXPECT_EQ(pace.available(10'000), 1u);
    pace.count(13'000);
    EXPECT_EQ(pace.available(13'000), 0u);
    EXPECT_EQ(pace.next_ms(13'000), 14'000);
}

}  // namespace
}  // namespace duewheel::target_limits_test
