#include "server/kafka_options.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(fine.error().code, "bad_kafka_setting");
    return fine.error().field;
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
    EXPECT_TRUE(check_kafka_target(options, {.topic = "payments"}));
    EXPECT_EQ(check_kafka_target(options, {.topic = "payments.later"}).error().code, "kafka_loop");
    EXPECT_EQ(check_kafka_target(options, {.topic = "duewheel.default.ledger"}).error().code, "bad_kafka_target");
    EXPECT_EQ(check_kafka_target(options, {.topic = "duewheel.default.log"}).error().code, "bad_kafka_target");
    EXPECT_EQ(check_kafka_target(options, {.topic = "duewheel.default.owners"}).error().code, "bad_kafka_target");
    EXPECT_EQ(check_kafka_target({}, {.topic = "payments"}).error().code, "kafka_not_configured");
}

}  // namespace
}  // namespace duewheel::kafka_options_test
