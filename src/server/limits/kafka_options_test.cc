#include "server/limits/kafka_options.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::kafka_options_test {
namespace {

KafkaOptions with_inputs(std::vector<std::string> inputs) {
    KafkaOptions options;
    options.bootstrap = "127.0.0.1:9092";
    options.inputs = std::move(inputs);
    return options;
}

std::string refused(const KafkaOptions& options) {
    const Status fine = check_kafka_options(options);
    if (fine) return "";
    EXPECT_EQ(fine.error().code, "bad_kafka_setting"_code);
    return fine.error().field;
}

std::string target_of_administrator(const KafkaOptions& options, const char* topic) {
    const Status fine = check_kafka_target(options, "team", {.topic = topic}, true);
    return fine ? "" : std::string(name_of(fine.error().code));
}

TEST(KafkaOptions, name_input_topics_with_or_without_a_target) {
    const KafkaOptions options = with_inputs({"payments.later=payments", "any.later"});
    EXPECT_EQ(refused(options), "");
    EXPECT_EQ(kafka_inputs(options),
              (std::vector<std::pair<std::string, std::string>>{{"payments.later", "payments"}, {"any.later", ""}}));
    EXPECT_EQ(refused({}), "") << "no Kafka at all";
}

TEST(KafkaOptions, that_make_no_sense_are_refused_by_name) {
    for (const std::vector<std::string>& inputs : {std::vector<std::string>{""},
                                                   {"a b"},
                                                   {"a=b c"},
                                                   {"=b"},
                                                   {"a=b=c"},
                                                   {"a", "a=b"},
                                                   {"a=a"},
                                                   {"a=b", "b=c"},
                                                   {"a=duewheel.errors"},
                                                   {"a=duewheel.default.ledger"},
                                                   {"a=duewheel.default.log"},
                                                   {"a=duewheel.default.owners"},
                                                   {"duewheel.default.owners"},
                                                   {"duewheel.errors"},
                                                   {"duewheel.default.log"},
                                                   {"duewheel.default.ledger"}}) {
        EXPECT_EQ(refused(with_inputs(inputs)), "kafka.in.topics") << inputs.back();
    }
    KafkaOptions options = with_inputs({"a"});
    options.bootstrap.clear();
    EXPECT_EQ(refused(options), "kafka.in.topics") << "without brokers";
    options = with_inputs({});
    options.bootstrap.clear();
    options.log.replicate = true;
    EXPECT_EQ(refused(options), "kafka.log.replicate") << "without brokers";
    options = with_inputs({});
    options.log.url = "http://node1:7420/";
    EXPECT_EQ(refused(options), "kafka.log.url") << "a path cannot be put before that of a request";
    options.log.url = "http://node1:7420";
    EXPECT_EQ(refused(options), "");
    options = with_inputs({});
    options.errors_topic.clear();
    EXPECT_EQ(refused(options), "kafka.in.errors");
    for (const std::string& cluster : {std::string(), std::string("a/b"), std::string(65, 'c')}) {
        options = with_inputs({});
        options.out.cluster = cluster;
        EXPECT_EQ(refused(options), "kafka.cluster") << cluster;
    }
}

TEST(KafkaOptions, allow_targets_that_do_not_come_back) {
    const KafkaOptions options = with_inputs({"payments.later=payments"});
    EXPECT_EQ(target_of_administrator(options, "payments"), "");
    EXPECT_EQ(target_of_administrator(options, "payments.later"), "kafka_loop");
    EXPECT_EQ(target_of_administrator({}, "payments"), "kafka_not_configured");
}

// The story: an administrator of one namespace aimed a queue at __consumer_offsets, at the log of another cluster, and
// at the errors topic, and the server wrote there with its own permissions.
TEST(KafkaOptions, no_queue_sends_to_internal_topics) {
    const KafkaOptions options = with_inputs({"any.later"});
    for (const char* topic : {"__consumer_offsets", "__transaction_state", "__x", "duewheel.default.ledger",
                              "duewheel.default.log", "duewheel.default.owners", "duewheel.other.log",
                              "duewheel.a.b.ledger", "duewheel.other.owners", "duewheel.errors"}) {
        EXPECT_EQ(target_of_administrator(options, topic), "bad_kafka_target") << topic;
        EXPECT_FALSE(may_record_name_topic(options, "kafka", topic)) << topic;
        EXPECT_EQ(refused(with_inputs({std::string("a=") + topic})), "kafka.in.topics") << topic;
    }
    for (const char* topic : {"_x", "duewheel", "duewheel.orders", "my.duewheel.default.log", "logs.log"}) {
        EXPECT_EQ(target_of_administrator(options, topic), "") << topic;
        EXPECT_TRUE(may_record_name_topic(options, "kafka", topic)) << topic;
    }
}

TEST(KafkaOptions, a_namespace_uses_the_topics_that_are_listed_for_it) {
    KafkaOptions options = with_inputs({});
    const auto of = [&](const char* name_space, const char* topic) {
        const Status fine = check_kafka_target(options, name_space, {.topic = topic}, false);
        return fine ? "" : std::string(name_of(fine.error().code));
    };
    EXPECT_EQ(of("team", "payments"), "forbidden") << "nothing is listed";
    options.out_topics = {"team=payments.*", "team=invoices", "other=*"};
    EXPECT_EQ(refused(options), "");
    EXPECT_EQ(of("team", "payments.eu"), "");
    EXPECT_EQ(of("team", "invoices"), "");
    for (const char* topic : {"payments", "invoices.eu", "other", "*", "payments*"}) {
        EXPECT_EQ(of("team", topic), "forbidden") << topic;
    }
    EXPECT_EQ(of("tea", "invoices"), "forbidden");
    EXPECT_EQ(of("other", "payments"), "");
    EXPECT_EQ(of("other", "__consumer_offsets"), "bad_kafka_target");
    EXPECT_EQ(target_of_administrator(options, "anything"), "");
    EXPECT_FALSE(may_record_name_topic(options, "kafka", "payments"));
    options.out_topics.emplace_back("kafka=payments");
    EXPECT_TRUE(may_record_name_topic(options, "kafka", "payments"));
    for (const char* entry : {"", "payments", "=payments", "team=", "team=a b", "team=*.eu", "team=a*b"}) {
        options.out_topics = {entry};
        EXPECT_EQ(refused(options), "kafka.out.topics") << entry;
    }
}

}  // namespace
}  // namespace duewheel::kafka_options_test
