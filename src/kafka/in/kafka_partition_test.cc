#include "kafka/in/kafka_partition.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::kafka_partition_test {
namespace {

constexpr std::int64_t kNow = 1'800'000'000'000;
const KafkaCommandOptions kOptions{.inputs = {{"later", "now"}}};

class Partition : public testing::Test {
  protected:
    void add(std::vector<KafkaHeader> headers, std::optional<std::string> value = "body") {
        KafkaRecord record;
        record.topic = "later";
        record.partition = 2;
        record.offset = next_offset;
        record.timestamp_ms = kNow;
        record.headers = std::move(headers);
        record.value = std::move(value);
        next_offset += 1;
        records.add(std::move(record));
    }
    void add_put(std::string key = "") {
        std::vector<KafkaHeader> headers = {{"duewheel-delay", "1m"}};
        if (!key.empty()) headers.push_back({"duewheel-key", std::move(key)});
        add(std::move(headers));
    }
    void add_cancel(std::string key) { add({{"duewheel-key", std::move(key)}}, std::nullopt); }
    void add_broken() { add({{"duewheel-delay", "soon"}}); }
    KafkaWork work() { return records.work(kOptions, kNow); }

    std::int64_t next_offset = 100;
    KafkaPartition records{"later", 2, 90};
};

TEST_F(Partition, puts_are_taken_together_with_the_position_after_them) {
    EXPECT_FALSE(work().take);
    add_put();
    next_offset = 110;  // markers of transactions have offsets
    add_put();
    const KafkaWork first = work();
    ASSERT_TRUE(first.take);
    EXPECT_EQ(first.take->input, "later/2");
    EXPECT_EQ(first.take->position, 90);
    EXPECT_EQ(first.take->offsets, (std::vector<std::int64_t>{100, 110}));
    EXPECT_EQ(first.take->next, 111);
    add_put();  // read meanwhile
    EXPECT_EQ(records.taken({.position = 111, .taken = 2}).records, 2u);
    EXPECT_EQ(records.records(), 1u);
    const KafkaWork second = work();
    EXPECT_EQ(second.take->position, 111);
    EXPECT_EQ(second.take->next, 112);
    EXPECT_EQ(records.taken({.position = 112, .taken = 1}).records, 1u);
    EXPECT_EQ(records.bytes(), 0u);
}

TEST_F(Partition, errors_come_before_cancels_and_cancels_before_puts) {
    add_put();
    add_broken();
    add_cancel("k");
    add_put();
    KafkaWork round = work();
    ASSERT_EQ(round.rejected.size(), 1u);
    EXPECT_EQ(round.rejected[0].item, 1u);
    EXPECT_EQ(round.rejected[0].error.code, "bad_duration"_code);
    EXPECT_TRUE(round.others.empty());
    EXPECT_FALSE(round.take);
    records.finish(1);
    round = work();
    ASSERT_EQ(round.others.size(), 1u);
    EXPECT_EQ(round.others[0].item, 2u);
    EXPECT_FALSE(round.take);
    records.finish(2);
    round = work();
    ASSERT_TRUE(round.take);
    EXPECT_EQ(round.take->offsets, (std::vector<std::int64_t>{100, 103}));
    EXPECT_EQ(records.taken({.position = 104, .taken = 2}).records, 4u);
}

TEST_F(Partition, a_cancel_stays_behind_the_put_that_it_cancels_and_before_the_next_one) {
    add_put("a");
    add_cancel("b");
    add_put("c");
    add_cancel("a");
    add_put("a");
    KafkaWork round = work();
    ASSERT_EQ(round.others.size(), 1u) << "that of b";
    records.finish(1);
    round = work();
    ASSERT_TRUE(round.take);
    EXPECT_EQ(round.take->offsets, (std::vector<std::int64_t>{100, 102}));
    EXPECT_EQ(round.take->next, 103);
    EXPECT_EQ(records.taken({.position = 103, .taken = 2}).records, 3u);
    round = work();
    ASSERT_EQ(round.others.size(), 1u) << "that of a";
    EXPECT_EQ(round.others[0].item, 0u);
    records.finish(0);
    round = work();
    ASSERT_TRUE(round.take);
    EXPECT_EQ(round.take->offsets, (std::vector<std::int64_t>{104}));
}

TEST_F(Partition, a_refused_put_is_in_front_and_what_was_settled_is_not_done_again) {
    add_broken();
    add_put();
    add_put();
    add_cancel("k");
    add_put();
    records.finish(0);
    records.finish(3);
    ASSERT_TRUE(work().take);
    const auto taken = records.taken({.position = 102, .taken = 1, .refused = Error{"queue_full"_code, ""}});
    EXPECT_EQ(taken.records, 2u);
    EXPECT_EQ(taken.refused_item, 0u);
    KafkaWork round = work();
    ASSERT_TRUE(round.take);
    EXPECT_EQ(round.take->offsets, (std::vector<std::int64_t>{102, 104}));
    // It can never be taken: it goes to the errors topic, and the position passes it with the next put.
    const auto none = records.taken({.position = 102, .taken = 0, .refused = Error{"key_conflict"_code, ""}});
    EXPECT_EQ(none.records, 0u);
    records.reject(*none.refused_item, Error{"key_conflict"_code, ""});
    round = work();
    ASSERT_EQ(round.rejected.size(), 1u);
    EXPECT_EQ(round.rejected[0].error.code, "key_conflict"_code);
    records.finish(0);
    round = work();
    EXPECT_EQ(round.take->offsets, (std::vector<std::int64_t>{104}));
    EXPECT_EQ(round.take->next, 105);
    EXPECT_EQ(records.taken({.position = 105, .taken = 1}).records, 3u);
}

// What is settled in front stays until the position has passed it.
TEST_F(Partition, a_refusal_of_the_first_put_is_found_behind_settled_records) {
    add_broken();
    add_put();
    records.finish(0);
    ASSERT_TRUE(work().take);
    const auto taken = records.taken({.position = 90, .taken = 0, .refused = Error{"queue_full"_code, ""}});
    EXPECT_EQ(taken.records, 0u);
    EXPECT_EQ(taken.refused_item, 1u);
}

TEST_F(Partition, a_round_has_up_to_a_thousand_records_and_a_limit_of_bytes) {
    for (std::size_t i = 0; i < KafkaPartition::kRecordsMax + 5; ++i) add_put();
    EXPECT_EQ(work().take->puts.size(), KafkaPartition::kRecordsMax);
    records.clear(5);
    EXPECT_EQ(records.position(), 5);
    EXPECT_EQ(records.records(), 0u);
    for (int i = 0; i < 3; ++i) add({{"duewheel-delay", "1m"}}, std::string(1u << 20, 'x'));
    for (int i = 0; i < 3; ++i) add_put();
    add({{"duewheel-delay", "1m"}}, std::string(1u << 20, 'x'));
    EXPECT_EQ(work().take->puts.size(), 6u);
}

// One that is larger than all limits must not stop its partition.
TEST_F(Partition, drops_a_surplus_from_its_end_but_nothing_that_is_done) {
    add_cancel("a");
    for (int i = 0; i < 5; ++i) add_put();
    add_broken();
    EXPECT_EQ(records.drop_surplus(7, 1u << 20), std::nullopt);
    EXPECT_EQ(records.drop_surplus(4, 1u << 20), 104);
    EXPECT_EQ(records.records(), 4u);
    const std::size_t bytes = records.bytes();
    EXPECT_EQ(records.drop_surplus(4, bytes - 1), 103);
    EXPECT_LT(records.bytes(), bytes);
    records.finish(0);
    records.reject(1, Error{"bad_json"_code, "x"});
    EXPECT_EQ(records.drop_surplus(0, 0), 102);
    EXPECT_EQ(records.records(), 2u);
}

TEST_F(Partition, a_round_has_at_least_one_record) {
    add({{"duewheel-delay", "1m"}}, std::string(2 * KafkaPartition::kBytesMax, 'x'));
    add_put();
    const KafkaWork round = work();
    ASSERT_EQ(round.rejected.size(), 1u);
    EXPECT_EQ(round.rejected[0].error.code, "body_too_large"_code);
}

}  // namespace
}  // namespace duewheel::kafka_partition_test
