// Messages as Kafka records.
#include "kafka/out/kafka_record.h"

#include <gtest/gtest.h>

namespace duewheel::kafka_record_test {
namespace {

std::vector<std::string> names_of(const KafkaRecord& record) {
    std::vector<std::string> names;
    for (const KafkaHeader& header : record.headers) names.push_back(header.name);
    return names;
}

Delivered message() {
    Delivered message;
    message.id = 1024;
    message.due_ms = 5'000;
    message.attempt = 2;
    message.wait_ms = 60'000;
    message.lateness_ms = 7;
    message.body = "body";
    return message;
}

TEST(KafkaRecord, has_key_value_and_headers_as_they_came_in) {
    RecordParts parts;
    parts.key = std::string("\0\xff", 2);
    parts.headers = {{"a", "1"}, {"a", std::nullopt}, {"a", ""}, {"b", std::string("\0", 1)}};
    parts.source = "payments.later/3/17";
    Delivered delivered = message();
    const KafkaRecord record = kafka_record_of(delivered, parts, {"payments", "other", 4, true});
    EXPECT_EQ(record.topic, "payments");
    EXPECT_EQ(record.partition, 4);
    EXPECT_EQ(record.key, parts.key);
    EXPECT_EQ(record.value, "body");
    EXPECT_EQ(record.timestamp_ms, 0);
    const std::vector<KafkaHeader> expected = {
        {"a", "1"},
        {"a", std::nullopt},
        {"a", ""},
        {"b", std::string("\0", 1)},
        {"duewheel-id", "1024"},
        {"duewheel-due-ms", "5000"},
        {"duewheel-lateness-ms", "7"},
        {"duewheel-wait-ms", "60000"},
        {"duewheel-attempt", "2"},
        {"duewheel-source", "payments.later/3/17"},
    };
    EXPECT_EQ(record.headers, expected);
}

TEST(KafkaRecord, tells_a_null_value_from_an_empty_one) {
    RecordParts parts;
    Delivered empty = message();
    empty.body.clear();
    EXPECT_EQ(kafka_record_of(empty, parts, {"t", {}, {}, true}).value, "");
    parts.has_null_value = true;
    EXPECT_EQ(kafka_record_of(empty, parts, {"t", {}, {}, true}).value, std::nullopt);
}

TEST(KafkaRecord, has_the_first_key_of_record_order_and_target) {
    KafkaTarget target{"t", "target", {}, true};
    RecordParts parts;
    parts.key = "";
    Delivered delivered = message();
    delivered.order_key = "order";
    EXPECT_EQ(kafka_record_of(delivered, parts, target).key, "") << "an empty key is one";
    EXPECT_EQ(kafka_record_of(delivered, {}, target).key, "order");
    delivered.order_key.clear();
    EXPECT_EQ(kafka_record_of(delivered, {}, target).key, "target");
    target.key.reset();
    EXPECT_EQ(kafka_record_of(delivered, {}, target).key, std::nullopt);
    EXPECT_EQ(kafka_record_of(delivered, {}, target).partition, -1);
}

// A record that went through another server would tell of that one.
TEST(KafkaRecord, replaces_headers_that_are_this_programs) {
    RecordParts parts;
    parts.headers = {{"duewheel-id", "9"}, {"duewheel-delay", "10s"}, {"traceparent", "old"}, {"x", "y"}};
    Delivered delivered = message();
    delivered.traceparent = "new";
    delivered.content_type = "text/plain";
    const KafkaRecord record = kafka_record_of(delivered, parts, {"t", {}, {}, true});
    EXPECT_EQ(names_of(record),
              (std::vector<std::string>{"x", "content-type", "duewheel-id", "duewheel-due-ms", "duewheel-lateness-ms",
                                        "duewheel-wait-ms", "duewheel-attempt", "traceparent"}));
    EXPECT_EQ(record.headers.back().value, "new");
    EXPECT_EQ(record.headers[2].value, "1024");
}

TEST(KafkaRecord, keeps_its_own_content_type) {
    RecordParts parts;
    parts.headers = {{"Content-Type", "application/avro"}};
    Delivered delivered = message();
    delivered.content_type = "text/plain";
    EXPECT_EQ(kafka_record_of(delivered, parts, {"t", {}, {}, true}).headers.size(), 6u);
}

TEST(KafkaRecord, names_its_schedule_and_occurrence) {
    Delivered delivered = message();
    delivered.parent = 2048;
    delivered.occurrence = 3;
    delivered.schedule = "nightly";
    const auto names = names_of(kafka_record_of(delivered, {}, {"t", {}, {}, true}));
    EXPECT_EQ(std::vector<std::string>(names.begin() + 5, names.end()),
              (std::vector<std::string>{"duewheel-parent", "duewheel-occurrence", "duewheel-schedule"}));
}

}  // namespace
}  // namespace duewheel::kafka_record_test
