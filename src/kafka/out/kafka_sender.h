// Sends batches of records exactly once, as read_committed consumers see it: each batch in one transaction with a
// record of its message ids in the ledger topic (kafka_ledger.h).
//
// Two transactional ids are used strictly in turn, because a broker finishes one transaction while the next one with
// another id already runs.
//
//     send() ── is it open? ──no──► open both producers, init_transactions, barrier, read the ledger
//                  │yes                  ▲
//                  ▼                     │ close both
//        begin, ledger record, records, flush, commit ── any error, a timeout, a slow or unknown commit
//                  │
//                  ▼
//                sent
//
// After a timeout librdkafka may send an EndTxn again, and the late first one may end the next transaction of the same
// producer (KAFKA-17754). So no producer is used after an error: a new one fences it. The barrier is a record with a
// random number, committed and read back: what lies before it in the ledger is decided, and only then the sender says
// whether a transaction was committed. After an unknown commit it never aborts.
//
// If another server uses the same transactional ids, each takes them over from the other one. The sender recognizes
// this by ledger records that it did not write, behind those that it read when it was opened before: of another data
// directory, or a barrier of another run. (Brokers also fence a producer whose transaction took too long; that leaves
// no record.)
//
// A record that its topic refuses aborts the transaction. Brokers refuse all records that arrived together, so the
// refused ones are halved until one is alone, and the other ones are sent without them.
//
// Its calls block, for up to a few times the transaction timeout. For one thread, except stop().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/log.h"
#include "kafka/client/kafka.h"
#include "kafka/out/kafka_batch.h"
#include "kafka/out/kafka_known_topics.h"
#include "kafka/out/kafka_ledger.h"

namespace duewheel {

class KafkaSender {
  public:
    struct Surroundings {
        std::function<std::int64_t()> now_us;   // of a monotonic clock
        std::function<std::uint64_t()> random;  // for barriers
        // Whether this server still owns its log, as of now; asked after the producers of all others were ended, so
        // that a later owner ends these ones. Without it, a node that was paused and replaced could end the producers
        // of its successor, and send what that one has sent and removed from the ledger. None: nothing replaces it.
        std::function<Status()> confirm_owner{};
    };

    // All must outlive it. `owner` identifies the data directory: ledger records of other ones are ignored, because
    // their message ids mean other messages.
    KafkaSender(KafkaCluster& cluster, const KafkaOutOptions& options, std::string owner, Surroundings surroundings,
                LogSink& log);
    ~KafkaSender();

    // Sends the messages that the ledger does not have, and fills in the results. An empty batch only opens the
    // producers, which also ends what an earlier run left open.
    void send(KafkaBatch& batch);
    // Any thread. From now on it opens no producers and begins no transaction, so that a call in progress ends soon:
    // the messages that are left are not sent, or unknown.
    void stop() { stopping_ = true; }

  private:
    using Indexes = std::vector<std::size_t>;  // of messages of the batch
    // What an aborted transaction leaves to be done.
    struct Rest {
        Indexes others;   // were not at fault
        Indexes refused;  // at least one of them is refused by its topic
    };

    Status be_ready(KafkaBatch& batch);
    Status open(KafkaBatch& batch);
    Status find_ledger();
    void close();
    Status commit_barrier(const std::string& nonce);
    Status read_ledger(const std::string& nonce, KafkaBatch& batch);
    bool take_ledger_record(const KafkaRecord& record, const std::string& nonce, KafkaBatch& batch, Status& status);

    void send_parts(KafkaBatch& batch, Indexes all);
    void send_again(KafkaBatch& batch, const Indexes& all);
    Rest transact(KafkaBatch& batch, const Indexes& part);
    std::optional<Error> judge(KafkaBatch& batch, const Indexes& part, const std::vector<Status>& results,
                               Rest& rest) const;
    void abort();
    void commit(KafkaBatch& batch, const Indexes& part, const KafkaLedgerRecord& entry);
    void fail(KafkaBatch& batch, const Indexes& part, const Error& error);
    void trim_ledger();

    KafkaRecord record_of(const KafkaLedgerRecord& entry) const;
    std::int64_t timeout_ms() const { return options_.transaction_timeout_ms; }
    bool is_slow(std::int64_t began_us) const;
    KafkaProducer& producer() { return *producers_[turn_]; }

    KafkaCluster& cluster_;
    const KafkaOutOptions& options_;
    const Surroundings surroundings_;
    LogSink& log_;
    KafkaLedger ledger_;
    KafkaKnownTopics topics_;
    std::atomic<bool> stopping_ = false;

    std::array<std::unique_ptr<KafkaProducer>, 2> producers_;  // null: not open
    std::size_t turn_ = 0;
    std::unique_ptr<KafkaConsumer> reader_;  // of the ledger
    std::int64_t read_to_ = 0;               // offset in the ledger
    std::unordered_set<MessageId> unknown_;  // in a transaction of which it is not known whether it was committed
    bool was_shared_ = false;                // the ledger has records of another owner
    std::string run_;                        // begins the barriers of this run
    bool is_read_on_ = false;                // what is read in the ledger is newer than the last opening
    bool has_rival_ = false;                 // and there was a record of another server
    KafkaSenderCounters counters_;

    // Every ledger record before `offset` has a lower number.
    struct Trim {
        std::uint64_t number = 0;
        std::int64_t offset = 0;
    };
    std::optional<Trim> trim_;
    std::int64_t trim_at_us_ = 0;
    bool is_trim_failing_ = false;
};

}  // namespace duewheel
