#include "server/process/connection_watch.h"

#include <gtest/gtest.h>

#include "support/recording_log.h"

namespace duewheel::connection_watch_test {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(ConnectionWatch, logs_once_in_ten_seconds_that_clients_wait_and_why) {
    RecordingLog log;
    ConnectionWatch watch(log);
    HttpCounters counters;
    watch.check(counters, 0);
    EXPECT_TRUE(log.lines().empty());
    counters.connections_open = 7;
    for (int second = 1; second <= 25; ++second) {
        ++counters.accept_pauses;
        watch.check(counters, second * kSecondNs);
    }
    EXPECT_EQ(log.lines().size(), 3u);
    EXPECT_TRUE(log.holds("connections_max_reached"));
    EXPECT_FALSE(log.holds("open_files_exhausted"));
    // For want of descriptors: a line of its own, at once.
    ++counters.accept_pauses;
    ++counters.descriptors_lacked;
    watch.check(counters, 26 * kSecondNs);
    EXPECT_EQ(log.lines().size(), 4u);
    EXPECT_TRUE(log.holds("open_files_exhausted"));
    EXPECT_NE(log.lines().back().find("connections=7"), std::string::npos);
    watch.check(counters, 90 * kSecondNs);
    EXPECT_EQ(log.lines().size(), 5u) << "what was held back before";
    counters.cut_unread = 2;
    watch.check(counters, 91 * kSecondNs);
    EXPECT_TRUE(log.holds("slow_clients_disconnected"));
    EXPECT_EQ(log.lines().size(), 6u);
    watch.check(counters, 180 * kSecondNs);
    EXPECT_EQ(log.lines().size(), 6u) << "nothing new";
}

}  // namespace
}  // namespace duewheel::connection_watch_test
