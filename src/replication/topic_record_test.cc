#include "replication/topic_record.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

TopicRecordHead head_of_commit() {
    return {.kind = TopicRecordKind::commit,
            .shard = 3,
            .cluster = hash_of_cluster("payments"),
            .epoch = 1'234'567'890'123,
            .node = 0xFEDCBA9876543210,
            .commit = 77,
            .part = 1,
            .parts = 4};
}

TEST(TopicRecord, comes_back_as_it_was) {
    const std::string bytes = encode_topic_record(head_of_commit(), "payload");
    const Result<TopicRecord> record = decode_topic_record(bytes);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ(record->head, head_of_commit());
    EXPECT_EQ(record->payload, "payload");
    EXPECT_EQ(bytes.size(), kTopicRecordHeadBytes + 7);
}

TEST(TopicRecord, a_changed_bit_or_a_missing_byte_is_damage) {
    const std::string whole = encode_topic_record(head_of_commit(), "payload");
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string changed = whole;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        const Result<TopicRecord> record = decode_topic_record(changed);
        ASSERT_FALSE(record.ok()) << bit;
        EXPECT_EQ(record.error().code, "damaged_topic"_code) << bit;
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_topic_record(std::string_view(whole).substr(0, size)).ok()) << size;
    }
}

TEST(TopicRecord, a_part_that_cannot_be_is_damage) {
    TopicRecordHead head = head_of_commit();
    head.part = head.parts;
    EXPECT_FALSE(decode_topic_record(encode_topic_record(head, "")).ok());
}

TEST(TopicRecord, a_claim_comes_back_as_it_was) {
    const Claim claim{.link = 42, .url = "http://10.0.0.1:7171"};
    EXPECT_EQ(decode_claim(encode_claim(claim)).value(), claim);
    EXPECT_FALSE(decode_claim("short").ok());
}

}  // namespace
}  // namespace duewheel
