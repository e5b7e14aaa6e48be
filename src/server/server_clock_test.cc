#include "server/server_clock.h"

#include <gtest/gtest.h>

namespace duewheel {
namespace {

constexpr DueMs kWall = 1'700'000'000'000;
constexpr std::int64_t kBoot = 5'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

TEST(ServerClock, begins_at_the_wall_clock_and_runs_on_the_boot_clock) {
    const ServerClock clock(kWall, kBoot, 0);
    EXPECT_EQ(clock.now_ms(kBoot), kWall);
    EXPECT_EQ(clock.now_ms(kBoot + 1500 * kMs), kWall + 1500);
}

// A wall clock that was set back over a restart would make what was due wait again, and leases and keys live longer.
TEST(ServerClock, a_wall_clock_that_was_set_back_begins_at_what_the_log_has_seen) {
    const DueMs floor = kWall + 3'600'000;
    const ServerClock clock(kWall, kBoot, floor);
    EXPECT_EQ(clock.now_ms(kBoot), floor);
    EXPECT_EQ(clock.now_ms(kBoot + 7 * kMs), floor + 7) << "and goes on from there at once";
    EXPECT_EQ(ServerClock(floor + 1, kBoot, floor).now_ms(kBoot), floor + 1) << "a later one counts";
}

TEST(ServerClock, rounds_down_so_that_nothing_is_early) {
    const ServerClock clock(kWall, kBoot, 0);
    EXPECT_EQ(clock.now_ms(kBoot + kMs - 1), kWall);
    EXPECT_EQ(clock.now_ms(kBoot + kMs), kWall + 1);
}

TEST(ServerClock, waits_until_the_millisecond_has_come_and_no_longer) {
    const ServerClock clock(kWall, kBoot, 0);
    const std::int64_t at = kBoot + kMs / 2;
    EXPECT_EQ(clock.now_ms(at + clock.ns_until(kWall + 10, at)), kWall + 10);
    EXPECT_EQ(clock.now_ms(at + clock.ns_until(kWall + 10, at) - 1), kWall + 9);
    EXPECT_EQ(clock.ns_until(kWall, at), 0);
    EXPECT_EQ(clock.ns_until(kWall - 1000, at), 0);
}

}  // namespace
}  // namespace duewheel
