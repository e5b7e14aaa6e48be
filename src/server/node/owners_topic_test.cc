#include "server/node/owners_topic.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "support/recording_log.h"
#include "support/simulated_kafka.h"

namespace duewheel::owners_topic_test {
namespace {

constexpr const char* kTopic = "duewheel.test.owners";

struct Node {
    explicit Node(SimulatedKafka& kafka) : topic(kafka, kTopic, owners, log) {}

    RecordingLog log;
    ShardOwners owners;
    OwnersTopic topic;
};

void write(SimulatedKafka& kafka, std::optional<std::string> key, std::optional<std::string> url) {
    KafkaRecord record;
    record.topic = kTopic;
    record.partition = 0;
    record.key = std::move(key);
    record.value = std::move(url);
    kafka.append(record);
}

TEST(OwnersTopic, each_node_learns_where_the_others_are) {
    SimulatedKafka kafka;
    kafka.create_topic(kTopic);
    Node one(kafka);
    Node two(kafka);
    one.topic.announce(0, "http://one:1");
    two.topic.announce(1, "http://two:2");
    EXPECT_EQ(one.owners.url_of(0), "http://one:1");
    EXPECT_EQ(one.owners.url_of(1), "");
    for (Node* node : {&one, &two, &one, &two}) ASSERT_TRUE(node->topic.step());
    for (Node* node : {&one, &two}) {
        EXPECT_EQ(node->owners.url_of(0), "http://one:1");
        EXPECT_EQ(node->owners.url_of(1), "http://two:2");
    }
    const auto records = kafka.committed(kTopic);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].key, "0");
    EXPECT_EQ(records[0].value, "http://one:1");

    // A standby node that comes later, and a takeover.
    Node standby(kafka);
    ASSERT_TRUE(standby.topic.step());
    EXPECT_EQ(standby.owners.url_of(1), "http://two:2");
    standby.topic.announce(1, "http://three:3");
    ASSERT_TRUE(standby.topic.step());
    ASSERT_TRUE(one.topic.step());
    EXPECT_EQ(one.owners.url_of(1), "http://three:3");
}

// Written once, not again and again.
TEST(OwnersTopic, the_record_of_a_former_owner_that_comes_late_is_replaced) {
    SimulatedKafka kafka;
    kafka.create_topic(kTopic);
    Node node(kafka);
    node.topic.announce(0, "http://now:1");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(node.topic.step());
    EXPECT_EQ(kafka.committed(kTopic).size(), 1u);
    write(kafka, "0", "http://former:1");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(node.topic.step());
    const auto records = kafka.committed(kTopic);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records.back().value, "http://now:1");
    EXPECT_EQ(node.owners.url_of(0), "http://now:1");
}

// A URL becomes a header field of responses.
TEST(OwnersTopic, records_that_make_no_sense_are_ignored) {
    SimulatedKafka kafka;
    kafka.create_topic(kTopic);
    write(kafka, "0", "http://fine:1");
    for (const char* key : {"", "x", "-1", "0 ", "1024", "99999999999"}) write(kafka, key, "http://bad:1");
    for (const char* url : {"", "nonsense", "http://a\r\nSet-Cookie: x", "http://a/path"}) write(kafka, "0", url);
    write(kafka, {}, "http://bad:1");
    write(kafka, "0", {});
    Node node(kafka);
    ASSERT_TRUE(node.topic.step());
    EXPECT_EQ(node.owners.url_of(0), "http://fine:1");
}

TEST(OwnersTopic, brokers_that_are_away_or_a_missing_topic_cost_nothing_but_time) {
    SimulatedKafka kafka;
    Node node(kafka);
    node.topic.announce(0, "http://one:1");
    EXPECT_EQ(node.topic.step().error().code, "unknown_topic"_code);
    kafka.create_topic(kTopic);
    kafka.is_up = false;
    EXPECT_EQ(node.topic.step().error().code, "kafka_unavailable"_code);
    EXPECT_EQ(node.owners.url_of(0), "http://one:1");
    kafka.is_up = true;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(node.topic.step());
    EXPECT_EQ(kafka.committed(kTopic).size(), 1u);
}

}  // namespace
}  // namespace duewheel::owners_topic_test
