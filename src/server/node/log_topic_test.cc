#include "server/node/log_topic.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "support/simulated_kafka.h"

namespace duewheel {
namespace {

class LogTopicTest : public testing::Test {
  protected:
    void create(const std::string& setting = {}, const std::string& value = {}, std::int32_t replicas = 3) {
        KafkaTopic topic = new_kafka_topic({.topic = options_.log_topic(), .role = KafkaTopicRole::log}, 1, replicas);
        for (auto& [name, current] : topic.settings) {
            if (name == setting) current = value;
        }
        ASSERT_TRUE(kafka_.create(topic, 1'000).ok());
    }
    Status refusal() {
        const Result<std::vector<KafkaTopicFinding>> findings = check_log_topic(kafka_, options_, 1'000);
        return findings ? refuse_unsafe_topic(options_, *findings) : Status(findings.error());
    }

    KafkaOptions options_;
    SimulatedKafka kafka_;
};

TEST_F(LogTopicTest, a_topic_as_it_is_created_is_safe) {
    create();
    EXPECT_TRUE(refusal().ok());
}

TEST_F(LogTopicTest, a_setting_that_loses_records_is_refused_with_the_command_that_corrects_it) {
    for (const auto& [setting, value, wanted] :
         {std::array<std::string, 3>{"cleanup.policy", "compact", "delete"},
          std::array<std::string, 3>{"retention.ms", "604800000", "-1"},
          std::array<std::string, 3>{"retention.bytes", "1000000000", "-1"},
          std::array<std::string, 3>{"max.message.bytes", "1000", "1048576"},
          std::array<std::string, 3>{"min.insync.replicas", "1", "2"},
          std::array<std::string, 3>{"unclean.leader.election.enable", "true", "false"}}) {
        kafka_.remove_topic(options_.log_topic());
        create(setting, value);
        const Status refused = refusal();
        ASSERT_FALSE(refused.ok()) << setting;
        EXPECT_EQ(refused.error().code, "unsafe_topic"_code);
        EXPECT_NE(refused.error().message.find("kafka-configs --alter --entity-type topics --entity-name " +
                                               options_.log_topic() + " --add-config " + setting + "=" + wanted),
                  std::string::npos)
            << refused.error().message;
    }
}

TEST_F(LogTopicTest, too_few_replicas_are_refused) {
    create("", "", 1);
    EXPECT_NE(refusal().error().message.find("1 replica"), std::string::npos);
}

TEST_F(LogTopicTest, a_topic_that_cannot_be_seen_is_neither_safe_nor_unsafe) {
    EXPECT_EQ(refusal().error().code, "unknown_topic"_code);
    kafka_.is_up = false;
    EXPECT_EQ(refusal().error().code, "kafka_unavailable"_code);
}

}  // namespace
}  // namespace duewheel
