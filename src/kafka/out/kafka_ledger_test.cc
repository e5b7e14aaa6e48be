// The records of the ledger, and what is known of it.
#include "kafka/out/kafka_ledger.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::kafka_ledger_test {
namespace {

KafkaLedgerRecord entry(std::uint64_t number, std::uint64_t settled_before, std::vector<MessageId> ids) {
    KafkaLedgerRecord record{"own", number, settled_before, "", {}};
    for (const MessageId id : ids) record.messages.push_back({"default", id});
    return record;
}

TEST(KafkaLedgerRecord, comes_back_as_it_was_written) {
    KafkaLedgerRecord record = entry(7, 5, {1024, 2048, 9'007'199'254'740'991});
    record.messages.push_back({"team a", 3072});
    record.nonce = "n";
    const Result<KafkaLedgerRecord> read = decode_kafka_ledger_record(encode_kafka_ledger_record(record));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, record);
}

TEST(KafkaLedgerRecord, is_short) {
    std::vector<MessageId> ids;
    for (MessageId i = 1; i <= 1'000; ++i) ids.push_back(1'000'000 + i * 1024);
    EXPECT_LT(encode_kafka_ledger_record(entry(1, 1, ids)).size(), 2'100u);
}

TEST(KafkaLedgerRecord, is_refused_when_it_is_cut_or_newer) {
    const std::string bytes = encode_kafka_ledger_record(entry(7, 5, {1024, 2048}));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Result<KafkaLedgerRecord> read = decode_kafka_ledger_record(std::string_view(bytes).substr(0, size));
        if (read) {
            EXPECT_NE(*read, entry(7, 5, {1024, 2048})) << size;
            continue;
        }
        EXPECT_EQ(read.error().code, "damaged_record"_code);
    }
    EXPECT_EQ(decode_kafka_ledger_record(bytes + "\x7e\x01").error().code, "newer_format"_code);
}

TEST(KafkaLedger, holds_what_is_not_settled) {
    KafkaLedger ledger("own");
    EXPECT_EQ(ledger.add(ledger.next_record({{"default", 1}, {"default", 2}})).size(), 2u);
    EXPECT_EQ(ledger.add(ledger.next_record({{"default", 3}})).size(), 1u);
    EXPECT_EQ(ledger.settled_before(), 1u);
    ledger.end(3);
    EXPECT_EQ(ledger.settled_before(), 1u) << "the first record is open";
    ledger.end(1);
    EXPECT_FALSE(ledger.holds(1));
    EXPECT_TRUE(ledger.holds(2));
    ledger.end(2);
    EXPECT_EQ(ledger.settled_before(), 3u);
    EXPECT_EQ(ledger.next_record({}).number, 3u);
    EXPECT_EQ(ledger.open_messages(), 0u);
    ledger.end(2);
}

TEST(KafkaLedger, forgets_what_a_later_record_calls_settled) {
    KafkaLedger ledger("own");
    static_cast<void>(ledger.add(entry(5, 5, {1, 2})));
    static_cast<void>(ledger.add(entry(6, 5, {3})));
    EXPECT_EQ(ledger.add(entry(7, 6, {4})), (std::vector<KafkaMessageName>{{"default", 4}}));
    EXPECT_FALSE(ledger.holds(1));
    EXPECT_TRUE(ledger.holds(3));
    EXPECT_EQ(ledger.settled_before(), 6u);
    EXPECT_EQ(ledger.next_number(), 8u);
}

TEST(KafkaLedger, takes_a_record_once) {
    KafkaLedger ledger("own");
    const KafkaLedgerRecord record = ledger.next_record({{"default", 1}});
    static_cast<void>(ledger.add(record));
    ledger.end(1);
    EXPECT_TRUE(ledger.add(record).empty()) << "read again after a new start of the producers";
    EXPECT_FALSE(ledger.holds(1));
}

TEST(KafkaLedger, ignores_other_data_directories_and_barriers) {
    KafkaLedger ledger("own");
    KafkaLedgerRecord other = entry(9, 9, {1});
    other.owner = "other";
    EXPECT_TRUE(ledger.add(other).empty());
    EXPECT_TRUE(ledger.add(ledger.barrier("nonce")).empty());
    EXPECT_FALSE(ledger.holds(1));
    EXPECT_EQ(ledger.next_number(), 1u);
}

}  // namespace
}  // namespace duewheel::kafka_ledger_test
