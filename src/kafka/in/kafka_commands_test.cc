#include "kafka/in/kafka_commands.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/records/record_parts.h"

namespace duewheel::kafka_commands_test {
namespace {

constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr std::int64_t kSent = kNow - 5'000;

const KafkaCommandOptions kOptions{.inputs = {{"payments.later", "payments"}, {"anything.later", ""}},
                                   .may_be_named = [](const std::string& topic) { return topic != "secret"; }};

KafkaRecord record(std::vector<KafkaHeader> headers, std::optional<std::string> value = "body") {
    KafkaRecord record;
    record.topic = "payments.later";
    record.partition = 3;
    record.offset = 17;
    record.timestamp_ms = kSent;
    record.key = "customer-1";
    record.value = std::move(value);
    record.headers = std::move(headers);
    return record;
}

template <class Wanted>
Wanted read(const KafkaRecord& record, const KafkaCommandOptions& options = kOptions) {
    Result<KafkaCommand> command = read_kafka_record(record, options, kNow);
    if (!command) throw std::runtime_error(command.error().message);
    return std::get<Wanted>(*std::move(command));
}

std::string refusal(const KafkaRecord& record, const KafkaCommandOptions& options = kOptions) {
    const Result<KafkaCommand> command = read_kafka_record(record, options, kNow);
    if (command) return "none";
    EXPECT_FALSE(command.error().message.empty());
    return std::string(name_of(command.error().code)) + " " + command.error().field;
}

TEST(KafkaCommands, a_delay_counts_from_the_timestamp_so_that_a_replay_asks_for_the_same) {
    EXPECT_EQ(read<PutCommand>(record({{"duewheel-delay", "10s"}})).when.at_ms, kSent + 10'000);
    EXPECT_EQ(read<PutCommand>(record({{"Duewheel-Delay", "PT10S"}})).when.at_ms, kSent + 10'000);
    KafkaRecord of_fast_clock = record({{"duewheel-delay", "10s"}});
    of_fast_clock.timestamp_ms = kNow + 60'000;
    EXPECT_EQ(read<PutCommand>(of_fast_clock).when.at_ms, kNow + 10'000);
    for (const std::int64_t none : {-1, 0}) {
        KafkaRecord without = record({{"duewheel-delay", "10s"}});
        without.timestamp_ms = none;
        EXPECT_EQ(read<PutCommand>(without).when.at_ms, kNow + 10'000);
    }
    // A record that was read late is due at once: its time is kept.
    EXPECT_EQ(read<PutCommand>(record({{"duewheel-delay", "0ms"}})).when.at_ms, kSent);
    EXPECT_EQ(read<PutCommand>(record({{"duewheel-due", "2020-01-01T00:00:00Z"}})).when.at_ms, 1'577'836'800'000);
    EXPECT_EQ(read<PutCommand>(record({{"duewheel-due", "2030-01-01T00:00:00.5Z"}})).when.at_ms, 1'893'456'000'500);
}

TEST(KafkaCommands, a_message_has_all_parts_of_its_record_except_those_that_are_for_duewheel) {
    std::string binary("\0\xff\x80", 3);
    KafkaRecord given = record({{"a", "1"},
                                {"duewheel-delay", "1m"},
                                {"a", "2"},
                                {"null", std::nullopt},
                                {"empty", ""},
                                {"binary", binary},
                                {"duewheel-id", "7"},
                                {"duewheel-error-code", "bad_duration"},
                                {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
                                {"traceparent", "not a trace"}},
                               binary);
    given.key = binary;
    const auto put = read<PutCommand>(given);
    EXPECT_EQ(put.name_space, "kafka");
    EXPECT_EQ(put.queue, "payments");
    EXPECT_EQ(put.body, binary);
    EXPECT_EQ(put.key, "");
    EXPECT_EQ(put.traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    const RecordParts parts{.key = binary,
                            .headers = {{"a", "1"},
                                        {"a", "2"},
                                        {"null", std::nullopt},
                                        {"empty", ""},
                                        {"binary", binary},
                                        {"traceparent", "not a trace"}},
                            .source = "payments.later/3/17"};
    EXPECT_EQ(*decode_record_parts(put.headers), parts);

    KafkaRecord bare = record({{"duewheel-delay", "1m"}}, std::nullopt);
    bare.key.reset();
    const auto of_null = read<PutCommand>(bare);
    EXPECT_EQ(of_null.body, "");
    EXPECT_EQ(*decode_record_parts(of_null.headers),
              (RecordParts{.has_null_value = true, .source = "payments.later/3/17"}));
    const auto of_empty = read<PutCommand>(record({{"duewheel-delay", "1m"}}, ""));
    EXPECT_FALSE(decode_record_parts(of_empty.headers)->has_null_value);
}

TEST(KafkaCommands, the_target_topic_is_that_of_the_header_or_of_the_settings) {
    EXPECT_EQ(read<PutCommand>(record({{"duewheel-delay", "1m"}, {"duewheel-topic", "other"}})).queue, "other");
    KafkaRecord open = record({{"duewheel-delay", "1m"}});
    open.topic = "anything.later";
    EXPECT_EQ(refusal(open), "missing_member duewheel-topic");
    open.headers.push_back({"duewheel-topic", "orders"});
    EXPECT_EQ(read<PutCommand>(open).queue, "orders");
    for (const char* bad : {"", ".", "..", "a b", "a/b", "-a", "gr\xc3\xbc\xc3\x9f", "secret"}) {
        open.headers.back().value = bad;
        EXPECT_EQ(refusal(open), "bad_topic duewheel-topic") << bad;
    }
    open.headers.back().value = std::string(201, 'a');
    EXPECT_EQ(refusal(open), "bad_topic duewheel-topic");
    for (const char* loop : {"payments.later", "anything.later"}) {
        open.headers.back().value = loop;
        EXPECT_EQ(refusal(open), "topic_loop duewheel-topic");
    }
}

TEST(KafkaCommands, a_key_names_the_message_and_the_same_request_has_the_same_hash) {
    const std::vector<KafkaHeader> headers = {{"duewheel-delay", "1m"}, {"duewheel-key", "order-7"}, {"a", "1"}};
    const auto first = read<PutCommand>(record(headers));
    EXPECT_EQ(first.key, "order-7");
    KafkaRecord again = record(headers);  // as a producer sends it once more
    again.partition = 1;
    again.offset = 400;
    again.timestamp_ms += 1'000;
    EXPECT_EQ(read<PutCommand>(again).request_hash, first.request_hash);
    std::vector<KafkaRecord> others(6, record(headers));
    others[0].value = "another";
    others[1].key = "another";
    others[2].headers[0].value = "2m";
    others[3].headers[2].value = "2";
    others[4].headers[2].value.reset();
    others[5].headers.push_back({"duewheel-repeat", "1h"});
    for (const KafkaRecord& other : others) EXPECT_NE(read<PutCommand>(other).request_hash, first.request_hash);
    for (const char* bad : {"", "two\nlines", "\xff"}) {
        EXPECT_EQ(refusal(record({{"duewheel-delay", "1m"}, {"duewheel-key", bad}})), "bad_key duewheel-key");
    }
}

TEST(KafkaCommands, a_record_says_what_happens_to_the_message_of_its_key) {
    const auto put = read<PutCommand>(record(
        {{"duewheel-delay", "10s"}, {"duewheel-key", "k"}, {"duewheel-on-key", "replace"}, {"duewheel-within", "5m"}}));
    EXPECT_EQ(put.on_key, OnKey::replace);
    EXPECT_EQ(put.within_ms, 300'000);
    EXPECT_EQ(put.request_hash,
              read<PutCommand>(record({{"duewheel-delay", "10000ms"}, {"duewheel-key", "k"}})).request_hash);
    const auto with = [](std::vector<std::pair<const char*, const char*>> more) {
        KafkaRecord made = record({{"duewheel-delay", "10s"}});
        for (const auto& [name, value] : more) made.headers.push_back({name, value});
        return refusal(made);
    };
    EXPECT_EQ(with({{"duewheel-on-key", "keep"}}), "missing_member duewheel-key");
    EXPECT_EQ(with({{"duewheel-key", "k"}, {"duewheel-on-key", "both"}}), "out_of_range duewheel-on-key");
    EXPECT_EQ(with({{"duewheel-key", "k"}, {"duewheel-within", "1m"}}), "conflicting_members duewheel-within");
    EXPECT_EQ(with({{"duewheel-key", "k"}, {"duewheel-on-key", "replace"}, {"duewheel-within", "0s"}}),
              "out_of_range duewheel-within");
}

TEST(KafkaCommands, a_null_value_with_a_key_cancels) {
    const auto cancel = read<CancelCommand>(record({{"duewheel-key", "order-7"}}, std::nullopt));
    EXPECT_EQ(cancel.name_space, "kafka");
    EXPECT_EQ(cancel.by_key.queue, "payments");
    EXPECT_EQ(cancel.by_key.key, "order-7");
    EXPECT_EQ(cancel.id, 0u);
    EXPECT_EQ(read<CancelCommand>(record({{"duewheel-key", "k"}, {"duewheel-topic", "t"}}, std::nullopt)).by_key.queue,
              "t");
    for (const char* name : {"duewheel-delay", "duewheel-due", "duewheel-repeat"}) {
        EXPECT_EQ(refusal(record({{"duewheel-key", "order-7"}, {name, "1m"}}, std::nullopt)),
                  "conflicting_members duewheel-key");
    }
    const auto removal = read<ControlScheduleCommand>(
        record({{"duewheel-key", "nightly"}, {"duewheel-cron", std::nullopt}}, std::nullopt));
    EXPECT_EQ(removal.what, ControlScheduleCommand::What::remove);
    EXPECT_EQ(removal.name_space, "kafka");
    EXPECT_EQ(removal.name, "nightly");
}

TEST(KafkaCommands, recurring_messages_and_schedules) {
    const auto hourly = read<PutCommand>(record({{"duewheel-repeat", "1h"}}));
    EXPECT_EQ(hourly.when.at_ms, kSent);
    EXPECT_EQ(hourly.repeat, (RepeatChoice{.every_ms = 3'600'000}));
    const auto thrice =
        read<PutCommand>(record({{"duewheel-repeat", R"({"every": "10m", "times": 3})"}, {"duewheel-delay", "10m"}}));
    EXPECT_EQ(thrice.when.at_ms, kSent + 600'000);
    EXPECT_EQ(thrice.repeat, (RepeatChoice{.every_ms = 600'000, .times = 3}));
    EXPECT_EQ(refusal(record({{"duewheel-repeat", "often"}})), "bad_duration duewheel-repeat");
    EXPECT_EQ(refusal(record({{"duewheel-repeat", R"({"times": 3})"}})), "missing_member repeat.every");
    EXPECT_EQ(refusal(record({{"duewheel-repeat", R"({"every": "1m"}, "x": {"a": 1})"}})), "unknown_member x");
    EXPECT_EQ(refusal(record({{"duewheel-repeat", "{"}})), "bad_json ");

    const auto schedule = read<PutScheduleCommand>(
        record({{"duewheel-cron", "0 9 * * MON-FRI"}, {"duewheel-key", "nightly"}, {"a", "1"}}));
    EXPECT_EQ(schedule.name_space, "kafka");
    EXPECT_EQ(schedule.name, "nightly");
    EXPECT_EQ(schedule.rule.queue, "payments");
    EXPECT_EQ(schedule.rule.times.text, "0 9 * * MON-FRI");
    EXPECT_NE(schedule.rule.content_hash, 0u);
    EXPECT_EQ(schedule.body, "body");
    EXPECT_EQ(decode_record_parts(schedule.headers)->headers.size(), 1u);
    EXPECT_EQ(refusal(record({{"duewheel-cron", "0 9 * * *"}})), "missing_member duewheel-key");
    EXPECT_EQ(refusal(record({{"duewheel-cron", "often"}, {"duewheel-key", "a"}})), "bad_cron duewheel-cron");
    EXPECT_EQ(refusal(record({{"duewheel-cron", "0 9 * * *"}, {"duewheel-key", "a"}, {"duewheel-delay", "1m"}})),
              "conflicting_members duewheel-cron");
    EXPECT_EQ(refusal(record({{"duewheel-cron", "0 9 * * *"}, {"duewheel-key", "a b"}})),
              "bad_schedule_name duewheel-key");
}

TEST(KafkaCommands, what_does_not_say_when_it_is_due_is_an_error_and_never_due_at_once) {
    EXPECT_EQ(refusal(record({})), "missing_member duewheel-delay");
    EXPECT_EQ(refusal(record({}, std::nullopt)), "missing_member duewheel-delay");
    EXPECT_EQ(refusal(record({{"duewheel-dealy", "1m"}})), "unknown_member duewheel-dealy");
    EXPECT_EQ(refusal(record({{"duewheel-delay", "soon"}})), "bad_duration duewheel-delay");
    EXPECT_EQ(refusal(record({{"duewheel-delay", "-1m"}})), "negative_duration duewheel-delay");
    EXPECT_EQ(refusal(record({{"duewheel-delay", std::nullopt}})), "bad_duration duewheel-delay");
    EXPECT_EQ(refusal(record({{"duewheel-due", "tomorrow"}})), "bad_instant duewheel-due");
    EXPECT_EQ(refusal(record({{"duewheel-due", "2030-01-01T00:00:00Z"}, {"duewheel-delay", "1m"}})),
              "conflicting_members duewheel-due");
    EXPECT_EQ(refusal(record({{"duewheel-delay", "1m"}, {"DUEWHEEL-DELAY", "2m"}})), "duplicate_member DUEWHEEL-DELAY");
}

TEST(KafkaCommands, records_that_are_larger_than_a_message_are_refused) {
    KafkaCommandOptions options = kOptions;
    options.limits.body_bytes_max = 4;
    options.limits.headers_bytes_max = 40;
    EXPECT_EQ(refusal(record({{"duewheel-delay", "1m"}}), options), "none");
    EXPECT_EQ(refusal(record({{"duewheel-delay", "1m"}}, "12345"), options), "body_too_large ");
    EXPECT_EQ(refusal(record({{"duewheel-delay", "1m"}, {"more", "1234567890123"}}), options), "headers_too_large ");
}

}  // namespace
}  // namespace duewheel::kafka_commands_test
