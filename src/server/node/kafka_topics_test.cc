#include "server/node/kafka_topics.h"

#include <gtest/gtest.h>

namespace duewheel {
namespace {
namespace kafka_topics_test {

KafkaTopic safe_ledger() {
    KafkaTopic topic = new_kafka_topic({.topic = "l", .role = KafkaTopicRole::ledger}, 0, 3);
    return topic;
}

void set(KafkaTopic& topic, std::string_view name, std::string value) {
    for (auto& [each, old] : topic.settings) {
        if (each == name) old = std::move(value);
    }
}

TEST(KafkaTopics, the_settings_name_each_topic_once) {
    KafkaOptions options;
    options.out.cluster = "c";
    EXPECT_EQ(kafka_topics(options), (std::vector<KafkaTopicUse>{{"duewheel.c.ledger", KafkaTopicRole::ledger}}));
    options.inputs = {"a=t", "b=t", "c"};
    options.errors_topic = "e";
    EXPECT_EQ(kafka_topics(options), (std::vector<KafkaTopicUse>{{"duewheel.c.ledger", KafkaTopicRole::ledger},
                                                                 {"e", KafkaTopicRole::errors},
                                                                 {"a", KafkaTopicRole::input},
                                                                 {"t", KafkaTopicRole::target},
                                                                 {"b", KafkaTopicRole::input},
                                                                 {"c", KafkaTopicRole::input}}));
}

TEST(KafkaTopics, the_log_of_a_server_is_among_them_if_it_is_replicated_and_needs_three_replicas) {
    KafkaOptions options;
    options.out.cluster = "c";
    options.log.replicate = true;
    ASSERT_EQ(kafka_topics(options).size(), 3u);
    const KafkaTopicUse owners{"duewheel.c.owners", KafkaTopicRole::owners};
    EXPECT_EQ(kafka_topics(options)[2], owners);
    EXPECT_TRUE(check_kafka_topic(KafkaTopicRole::owners, new_kafka_topic(owners, 7, 3)).empty());
    EXPECT_EQ(new_kafka_topic(owners, 7, 3).partitions, 1);
    const KafkaTopicUse log{"duewheel.c.log", KafkaTopicRole::log};
    EXPECT_EQ(kafka_topics(options)[1], log);
    EXPECT_TRUE(check_kafka_topic(KafkaTopicRole::log, new_kafka_topic(log, 0, 3)).empty());
    EXPECT_EQ(new_kafka_topic(log, 7, 3).partitions, 7);
    KafkaTopic topic = new_kafka_topic(log, 0, 1);
    EXPECT_EQ(topic.partitions, 1);
    const auto found = check_kafka_topic(KafkaTopicRole::log, topic);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].breaks_promise);
    EXPECT_NE(found[0].text.find("it has 1 replica,"), std::string::npos) << found[0].text;
}

TEST(KafkaTopics, a_ledger_as_it_is_created_has_no_findings) {
    EXPECT_TRUE(check_kafka_topic(KafkaTopicRole::ledger, safe_ledger()).empty());
    const auto alone = check_kafka_topic(KafkaTopicRole::ledger,
                                         new_kafka_topic({.topic = "l", .role = KafkaTopicRole::ledger}, 0, 1));
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_FALSE(alone[0].breaks_promise);
    EXPECT_NE(alone[0].text.find("it has 1 replica,"), std::string::npos) << alone[0].text;
}

TEST(KafkaTopics, a_ledger_that_may_lose_records_breaks_the_promise) {
    for (const auto& wrong :
         std::vector<std::pair<std::string, std::string>>{{"cleanup.policy", "compact"},
                                                          {"cleanup.policy", "compact,delete"},
                                                          {"retention.ms", "604800000"},
                                                          {"retention.bytes", "1000"},
                                                          {"max.message.bytes", "1000"},
                                                          {"min.insync.replicas", "1"},
                                                          {"unclean.leader.election.enable", "true"}}) {
        const std::string& name = wrong.first;
        const std::string& value = wrong.second;
        KafkaTopic topic = safe_ledger();
        const std::string wanted(name == "max.message.bytes" ? "1048576" : [&] {
            for (const auto& [each, good] : topic.settings) {
                if (each == name) return good;
            }
            return std::string();
        }());
        set(topic, name, value);
        const auto found = check_kafka_topic(KafkaTopicRole::ledger, topic);
        ASSERT_EQ(found.size(), 1u) << name;
        EXPECT_TRUE(found[0].breaks_promise);
        EXPECT_TRUE(found[0].text.starts_with(name + " is " + value + ", and ")) << found[0].text;
        EXPECT_TRUE(found[0].text.ends_with("--entity-name l --add-config " + name + "=" + wanted)) << found[0].text;
    }
}

TEST(KafkaTopics, warns_of_a_log_that_needs_every_broker) {
    KafkaTopic topic = safe_ledger();
    set(topic, "min.insync.replicas", "3");
    const auto found = check_kafka_topic(KafkaTopicRole::log, topic);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_FALSE(found[0].breaks_promise);
    EXPECT_TRUE(found[0].text.starts_with("min.insync.replicas is 3, and while one broker is down")) << found[0].text;
    EXPECT_TRUE(found[0].text.ends_with("min.insync.replicas=2")) << found[0].text;
}

TEST(KafkaTopics, warns_of_compaction_and_of_settings_that_cannot_be_read) {
    KafkaTopic topic{.name = "t", .partitions = 1, .replicas = 3, .settings = {{"cleanup.policy", "delete"}}};
    EXPECT_TRUE(check_kafka_topic(KafkaTopicRole::input, topic).empty());
    EXPECT_TRUE(check_kafka_topic(KafkaTopicRole::target, topic).empty());
    set(topic, "cleanup.policy", "compact");
    ASSERT_EQ(check_kafka_topic(KafkaTopicRole::input, topic).size(), 1u);
    EXPECT_NE(check_kafka_topic(KafkaTopicRole::input, topic)[0].text.find("before it is read"), std::string::npos);
    EXPECT_NE(check_kafka_topic(KafkaTopicRole::target, topic)[0].text.find("without a key"), std::string::npos);
    topic.settings.clear();
    for (const KafkaTopicRole role : {KafkaTopicRole::ledger, KafkaTopicRole::errors, KafkaTopicRole::input}) {
        const auto found = check_kafka_topic(role, topic);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_FALSE(found[0].breaks_promise);
        EXPECT_NE(found[0].text.find("DescribeConfigs"), std::string::npos);
    }
}

TEST(KafkaTopics, each_shard_needs_a_partition_of_the_ledger_and_the_log) {
    KafkaTopic topic{.name = "t", .partitions = 2, .replicas = 3, .settings = {}};
    for (const KafkaTopicRole role : {KafkaTopicRole::ledger, KafkaTopicRole::log}) {
        EXPECT_FALSE(check_partitions(role, topic, 2).has_value());
        const auto found = check_partitions(role, topic, 3);
        ASSERT_TRUE(found.has_value());
        EXPECT_TRUE(found->breaks_promise);
        EXPECT_NE(found->text.find("it has 2 partitions, and the setting shards.count is 3"), std::string::npos);
    }
    EXPECT_NE(check_partitions(KafkaTopicRole::ledger, topic, 3)->text.find("--topic t --partitions 3"),
              std::string::npos);
    EXPECT_TRUE(check_partitions(KafkaTopicRole::log, topic, 1).has_value()) << "of another number of shards";
    EXPECT_FALSE(check_partitions(KafkaTopicRole::ledger, topic, 1).has_value());
    EXPECT_FALSE(check_partitions(KafkaTopicRole::input, topic, 3).has_value());
}

}  // namespace kafka_topics_test
}  // namespace
}  // namespace duewheel
