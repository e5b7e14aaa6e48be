#include "kafka/client/kafka_watch.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/recording_log.h"

namespace duewheel {
namespace {
namespace kafka_watch_test {

TEST(KafkaWatch, logs_each_kind_once_in_ten_seconds_with_its_count) {
    RecordingLog log;
    KafkaWatch watch(log);
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    watch.logged("FAIL", "connection refused", 0);
    watch.logged("FAIL", "connection refused", kSecondNs);
    watch.logged("GETPID", "other", 2 * kSecondNs);
    watch.logged("FAIL", "connection refused", 10 * kSecondNs - 1);
    EXPECT_EQ(log.lines().size(), 2u);
    watch.logged("FAIL", "timed out", 10 * kSecondNs);
    ASSERT_EQ(log.lines().size(), 3u);
    EXPECT_EQ(log.lines()[2],
              "warning kafka_connection: The Kafka client reports a problem; it tries again. kind=FAIL reason=\"timed "
              "out\" count=3");
}

TEST(KafkaWatch, counts_a_broker_once_however_many_are_connected_to_it) {
    RecordingLog log;
    KafkaWatch watch(log);
    watch.connected("a:1");
    watch.connected("a:1");
    watch.connected("b:1");
    EXPECT_EQ(watch.statistics().brokers_up, 2u);
    watch.lost("a:1");
    EXPECT_EQ(watch.statistics().brokers_up, 2u);
    watch.closed("a:1");
    EXPECT_EQ(watch.statistics().brokers_up, 1u);
    EXPECT_EQ(watch.statistics().disconnects, 1u);
    watch.queued(3);
    watch.queued(-2);
    EXPECT_EQ(watch.statistics().records_queued, 1u);
}

}  // namespace kafka_watch_test
}  // namespace
}  // namespace duewheel
