#include "server/node/log_follower.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "replication/topic_record.h"
#include "server/node/kafka_topics.h"
#include "support/recording_log.h"
#include "support/simulated_kafka.h"
#include "support/temporary_directory.h"

namespace duewheel::log_follower_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;
constexpr std::uint64_t kNode = 7;

// A standby node of a log whose owner has claimed it. Each poll of the topic takes 100 ms of the node's time.
class LogFollowerTest : public testing::Test {
  protected:
    LogFollowerTest() {
        options_.data_directory = directory_.path() + "/data";
        options_.segment_bytes = 1 << 20;
        options_.spare_segments = options_.reserve_segments = 0;
        options_.kafka.out.cluster = "test";
        const KafkaTopicUse use{.topic = options_.kafka.log_topic(), .role = KafkaTopicRole::log};
        EXPECT_TRUE(kafka_.create(new_kafka_topic(use, 1, 3), 1'000).ok());
        append(TopicRecordKind::claim, encode_claim({.link = 0, .url = "http://owner"}));
        kafka_.on_call = [this](const KafkaCall& call) {
            if (call.kind == KafkaCall::poll) now_ns_ += 100 * kMs;
            if (then_) then_(call);
            return KafkaFault::none;
        };
        start();
    }

    void start() {
        follower_.emplace(
            options_, "http://this", kafka_, [](const std::string&) {}, log_, [this] { return now_ns_; });
    }

    void append(TopicRecordKind kind, const std::string& payload = "") {
        KafkaRecord record;
        record.topic = options_.kafka.log_topic();
        record.partition = 0;
        record.value = encode_topic_record({.kind = kind, .cluster = hash_of_cluster("test"), .node = 1}, payload);
        kafka_.append(record);
    }
    std::size_t records() const { return kafka_.committed(options_.kafka.log_topic()).size(); }

    ServerOptions options_;
    TemporaryDirectory directory_;
    SimulatedKafka kafka_;
    RecordingLog log_;
    std::int64_t now_ns_ = 1'000 * kSecond;
    std::function<void(const KafkaCall&)> then_;
    std::optional<LogFollower> follower_;
};

TEST_F(LogFollowerTest, takes_over_when_the_owner_is_silent) {
    const std::int64_t began_ns = now_ns_;
    const Result<std::optional<TopicChain>> followed = follower_->follow(kNode);
    ASSERT_TRUE(followed.ok()) << followed.error().message;
    ASSERT_TRUE(followed->has_value());
    EXPECT_GE(now_ns_ - began_ns, options_.kafka.log.takeover_after_ms * kMs);
}

// A broker that led the partition was killed, and its successor elected after eight seconds. The standby node took the
// log over at once, before the owner, which was well, could write again.
TEST_F(LogFollowerTest, the_silence_of_an_owner_does_not_count_while_the_partition_has_no_leader) {
    int polls = 0;
    then_ = [&](const KafkaCall& call) {
        if (call.kind == KafkaCall::poll) ++polls;
        if (call.kind == KafkaCall::offsets && polls > 5 && polls < 20) {
            now_ns_ += 8 * kSecond;
            polls = 20;
        }
        if (call.kind == KafkaCall::poll && polls >= 30 && polls % 10 == 0) append(TopicRecordKind::beat);
        if (polls == 150) follower_->stop();
    };
    const Result<std::optional<TopicChain>> followed = follower_->follow(kNode);
    ASSERT_TRUE(followed.ok()) << followed.error().message;
    EXPECT_FALSE(followed->has_value());
    EXPECT_EQ(polls, 150);
    EXPECT_EQ(records(), 1u + 13u) << "it has claimed the log";
}

// A broker was killed that had a replica. For nine seconds no record was acknowledged, so brokers showed none of the
// owner, and the standby node took the log over.
TEST_F(LogFollowerTest, an_owner_whose_records_wait_for_a_replica_stays_the_owner) {
    int appends = 0;
    then_ = [&](const KafkaCall& call) {
        if (call.kind != KafkaCall::append) return;
        if (++appends == 1) append(TopicRecordKind::beat);  // it was there before, and can be read now
        if (appends == 2) now_ns_ += 4 * kSecond;           // the owner writes as late as this node
    };
    const std::int64_t began_ns = now_ns_;
    const Result<std::optional<TopicChain>> followed = follower_->follow(kNode);
    ASSERT_TRUE(followed.ok()) << followed.error().message;
    ASSERT_TRUE(followed->has_value());
    EXPECT_EQ(appends, 4) << "three probes and a claim";
    EXPECT_GE(now_ns_ - began_ns, 3 * options_.kafka.log.takeover_after_ms * kMs);
}

// A node that was stopped while brokers did not answer took the log over when they did.
TEST_F(LogFollowerTest, a_node_that_stops_does_not_take_over) {
    for (const KafkaCall::Kind kind : {KafkaCall::offsets, KafkaCall::append}) {
        start();
        bool has_read = false;
        then_ = [&](const KafkaCall& call) {
            if (call.kind == KafkaCall::poll) {
                has_read = true;
                now_ns_ += 60 * kSecond;
            }
            if (call.kind == kind && has_read) follower_->stop();
        };
        const Result<std::optional<TopicChain>> followed = follower_->follow(kNode);
        ASSERT_TRUE(followed.ok()) << followed.error().message;
        EXPECT_FALSE(followed->has_value());
        EXPECT_EQ(records(), kind == KafkaCall::append ? 2u : 1u);
    }
}

}  // namespace
}  // namespace duewheel::log_follower_test
