// When the next commit waits for the callers of the last one, and for how long.
#include "server/shard/commit_delay.h"

#include <gtest/gtest.h>

namespace duewheel::commit_delay_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(CommitDelay, waits_until_all_callers_of_the_last_commit_are_back) {
    CommitDelay delay;
    delay.committed(100 * kMs, 8 * kMs, 32, 32);
    EXPECT_TRUE(delay.holds(100 * kMs, 32));
    EXPECT_TRUE(delay.holds(101 * kMs, 63));
    EXPECT_FALSE(delay.holds(101 * kMs, 64));
    EXPECT_FALSE(delay.is_holding());
    // All are in one group now, and nothing waits when it is durable.
    delay.begun();
    delay.committed(110 * kMs, 8 * kMs, 64, 0);
    EXPECT_TRUE(delay.holds(110 * kMs, 1)) << "the first one back does not leave the others behind";
    EXPECT_FALSE(delay.holds(111 * kMs, 64));
}

TEST(CommitDelay, waits_half_a_sync_and_never_longer_than_five_milliseconds) {
    CommitDelay delay;
    delay.committed(100 * kMs, 8 * kMs, 10, 10);
    EXPECT_EQ(delay.until_ns(), 104 * kMs);
    EXPECT_TRUE(delay.holds(104 * kMs - 1, 19));
    EXPECT_FALSE(delay.holds(104 * kMs, 19));
    delay.committed(200 * kMs, 1000 * kMs, 10, 10);
    EXPECT_EQ(delay.until_ns(), 205 * kMs);
}

TEST(CommitDelay, a_fast_disk_a_single_caller_and_a_large_commit_have_none) {
    CommitDelay delay;
    delay.committed(100 * kMs, CommitDelay::kShortestSyncNs - 1, 10, 10);
    EXPECT_FALSE(delay.is_holding());
    delay.committed(100 * kMs, 8 * kMs, 1, 0);
    EXPECT_FALSE(delay.is_holding());
    delay.committed(100 * kMs, 8 * kMs, CommitDelay::kMostCommands, 1);
    EXPECT_FALSE(delay.is_holding());
    delay.committed(100 * kMs, 8 * kMs, 0, 10);
    EXPECT_FALSE(delay.is_holding()) << "a commit of the engine's own work has no callers";
}

// Callers that do not wait for answers come at their own rate.
TEST(CommitDelay, callers_that_do_not_come_back_are_waited_for_less_and_less_often) {
    CommitDelay delay;
    int waits = 0;
    for (int commit = 0; commit < 1000; ++commit) {
        const std::int64_t now = 10 * kMs * commit;
        delay.committed(now, 8 * kMs, 20, 20);
        if (!delay.holds(now, 20)) continue;
        ++waits;
        EXPECT_FALSE(delay.holds(delay.until_ns(), 24));
        delay.begun();
    }
    EXPECT_GT(waits, 10);
    EXPECT_LT(waits, 25);

    // And as before as soon as they do.
    std::int64_t now = 100'000 * kMs;
    while (!delay.is_holding()) delay.committed(now += 10 * kMs, 8 * kMs, 20, 20);
    EXPECT_FALSE(delay.holds(now, 40));
    delay.begun();
    delay.committed(now + 10 * kMs, 8 * kMs, 40, 0);
    EXPECT_TRUE(delay.is_holding());
}

TEST(CommitDelay, ends_when_the_next_commit_begins_for_another_reason) {
    CommitDelay delay;
    delay.committed(100 * kMs, 8 * kMs, 10, 10);
    EXPECT_TRUE(delay.holds(100 * kMs, 10));
    delay.begun();
    EXPECT_FALSE(delay.is_holding());
    delay.committed(110 * kMs, 8 * kMs, 10, 10);
    EXPECT_TRUE(delay.is_holding()) << "it was not in vain";
}

}  // namespace
}  // namespace duewheel::commit_delay_test
