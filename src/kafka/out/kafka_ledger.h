// The ledger: one record in each transaction, with the ids of the messages whose records are in it. What stands in the
// ledger was sent, and nothing else was.
//
// Its records are numbered. Each says up to which number all its predecessors are settled: the ends of their messages
// are durable in the log, so that these messages never come again. A reader can forget what is settled, and the topic
// is trimmed up to there.
//
//     number 7, settled before 5, ids 11 12     after it: 5, 6 and 7 are open
//     number 8, settled before 7, ids 13        after it: 7 and 8 are open
//
// The floor stands in the ledger and not in the server's log, because it needs to be as new as the ledger and no newer:
// a reader with an old floor looks up some ids in vain, and nothing else changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kafka/out/kafka_batch.h"

namespace duewheel {

struct KafkaLedgerRecord {
    std::string owner;                 // of the data directory
    std::uint64_t number = 0;          // 0: a barrier
    std::uint64_t settled_before = 0;  // all records with a lower number are settled
    std::string nonce;                 // of a barrier
    std::vector<KafkaMessageName> messages;

    bool operator==(const KafkaLedgerRecord&) const = default;
};

// Messages are sorted by namespace and id, which makes them short.
std::string encode_kafka_ledger_record(KafkaLedgerRecord record);
// Codes: `damaged_record`, `newer_format`.
Result<KafkaLedgerRecord> decode_kafka_ledger_record(std::string_view bytes);

// What is known of the ledger: its open records and their messages. Single-threaded, no I/O.
class KafkaLedger {
  public:
    explicit KafkaLedger(std::string owner) : owner_(std::move(owner)) {}

    const std::string& owner() const { return owner_; }
    bool holds(MessageId id) const { return messages_.contains(id); }
    std::size_t open_messages() const { return messages_.size(); }

    // The record of the next transaction. If it is not committed, the one after it gets the same number.
    KafkaLedgerRecord next_record(std::vector<KafkaMessageName> messages) const;
    KafkaLedgerRecord barrier(std::string nonce) const;
    std::uint64_t next_number() const { return next_number_; }
    // All records before this number are settled.
    std::uint64_t settled_before() const { return open_.empty() ? next_number_ : open_.begin()->first; }

    // The record was committed; in the order of their numbers. Returns its messages; none if it was added before, or is
    // of another owner. O(messages + log(open records)).
    std::vector<KafkaMessageName> add(const KafkaLedgerRecord& record);
    // The end of this message is durable. O(log(open records)).
    void end(MessageId id);

  private:
    // A record that has messages which are not settled, or one after such a record.
    struct Open {
        std::vector<MessageId> messages;
        std::size_t left = 0;  // not settled
    };
    void forget_settled();
    void forget_before(std::uint64_t number);

    std::string owner_;
    std::uint64_t next_number_ = 1;
    std::map<std::uint64_t, Open> open_;                     // by number
    std::unordered_map<MessageId, std::uint64_t> messages_;  // not settled: the numbers of their records
};

}  // namespace duewheel
