// A Kafka cluster in memory, for tests: topics, transactions as their coordinator keeps them, read_committed readers,
// and a clock that only its calls move. Deterministic, single-threaded.
//
// Faults come from one function that is called before each blocking call and chooses what happens to it:
//
//     SimulatedKafka kafka;
//     kafka.create_topic("payments", 3);
//     kafka.on_call = [](KafkaCall call) {
//         return call.kind == KafkaCall::commit ? KafkaFault::late : KafkaFault::none;
//     };
//
// `late` is KAFKA-17754: the first EndTxn is delayed, the client's second one ends the transaction, and the first one
// arrives in the next transaction of the same producer and ends that early. The function may also throw, as if the
// process died there: what the brokers have stays.
//
// It simplifies: a broker has everything as soon as it has one copy, a record gets its partition by a hash of the key
// or in turn, and a transaction that nobody ends lasts until the next init_transactions of its id or
// end_transactions().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kafka/client/kafka.h"

namespace duewheel {

struct KafkaCall {
    enum Kind : std::uint8_t {
        open_producer,
        init,
        begin,
        produce,
        flush,
        commit,
        abort,
        open_consumer,
        poll,
        offsets,
        look_at,
        create,
        delete_before,
        open_appender,
        append,
    };
    Kind kind = begin;
    std::string name{};  // the transactional id, or the topic
};

enum class KafkaFault : std::uint8_t {
    none,
    slow,         // takes place, but takes as long as a socket timeout
    unreachable,  // does not take place; a timeout
    lost_answer,  // takes place; a timeout
    late,         // of commit and abort: takes place, and comes again in the next transaction, see above; slow
    delayed,      // of commit and abort: a timeout; takes place at the last moment before it would be fenced;
                  // of append: a timeout; takes place with the next append to the partition, before or after it
};

class SimulatedKafka final : public KafkaCluster {
  public:
    static constexpr std::int64_t kCallUs = 1'000;
    static constexpr std::int64_t kSlowUs = 8'000'000;

    SimulatedKafka();
    ~SimulatedKafka() override;

    Result<std::unique_ptr<KafkaProducer>> open_producer(const std::string& transactional_id) override;
    Result<std::unique_ptr<KafkaConsumer>> open_consumer() override;
    Result<std::unique_ptr<KafkaAppender>> open_appender(const std::string& topic, std::int32_t partition) override;
    Result<KafkaTopic> look_at(const std::string& topic, std::int64_t timeout_ms) override;
    Status create(const KafkaTopic& topic, std::int64_t timeout_ms) override;
    Status delete_before(const std::string& topic, std::int32_t partition, std::int64_t offset,
                         std::int64_t timeout_ms) override;

    void create_topic(const std::string& name, std::int32_t partitions = 1);
    void remove_topic(const std::string& name);
    // Committed, in the order of partition and offset; what a read_committed consumer sees, now or later. It does not
    // stop at an open transaction, but omits it.
    std::vector<KafkaRecord> committed(const std::string& topic) const;
    void for_each_committed(const std::string& topic, const std::function<void(const KafkaRecord&)>& visit) const;
    // Adds a record of an own client, committed.
    void append(const KafkaRecord& record);
    // The partition loses its records from this offset on, as after an unclean election.
    void lose_tail(const std::string& topic, std::int32_t partition, std::int64_t offset);
    // All brokers crash, and the partition has the records again that were deleted from its front.
    void restore_front(const std::string& topic, std::int32_t partition);
    // A transaction of another client that nobody ends: readers of this partition stop at it.
    void hang(const std::string& topic, std::int32_t partition);
    // The coordinator ends all open transactions, as after transaction.timeout.ms.
    void end_transactions();
    // A late EndTxn that waits for the next transaction.
    std::size_t late_ends() const { return late_.size(); }

    // Faults.
    std::function<KafkaFault(const KafkaCall&)> on_call;
    std::function<bool(const KafkaRecord&)> refuses;  // a topic refuses this record
    std::size_t record_bytes_max = 1u << 20;          // a client refuses to take a larger one
    bool refuses_whole_batches = false;               // and all records of the flush for the same partition
    bool refusals_stop_transactions = false;          // what follows in the flush is not sent, and times out
    std::set<std::string> leaderless;                 // records of these topics are not acknowledged
    std::set<std::string> forbidden;                  // there is no permission to write these topics
    bool is_up = true;                                // false: each call is `unreachable`

    std::int64_t now_us = 0;

  private:
    friend class SimulatedProducer;
    friend class SimulatedConsumer;
    friend class SimulatedAppender;

    struct Entry {
        KafkaRecord record;
        std::uint64_t transaction = 0;  // 0: none
    };
    struct Partition {
        std::int64_t low = 0;
        std::vector<Entry>
            entries;  // by offset, from `low` on; a marker is an entry of a finished transaction without a topic
        std::vector<Entry> deleted;  // those before `low`
        std::int64_t high() const { return low + static_cast<std::int64_t>(entries.size()); }
    };
    struct Topic {
        KafkaTopic description;
        std::vector<Partition> partitions;
    };
    enum class End : std::uint8_t { open, committed, aborted };
    struct Transaction {
        End end = End::open;
        std::set<std::pair<std::string, std::int32_t>> partitions;
    };
    struct Coordinator {
        std::int32_t epoch = -1;
        std::uint64_t transaction = 0;  // the newest one; 0: none
        // Records that came for a partition of a transaction that had ended: unknown to the coordinator.
        std::uint64_t stray = 0;
    };
    struct LateEnd {
        std::string id;
        std::int32_t epoch = 0;
        bool commits = false;
        std::uint64_t ended = 0;  // the transaction that its second copy has ended; 0: there was none
    };

    Status begin_call(KafkaCall call, std::int64_t timeout_ms, KafkaFault& fault);
    Status end_transaction(const std::string& id, std::int32_t epoch, bool commits);
    void finish(std::uint64_t transaction, End end);
    std::uint64_t begin_at_coordinator(const std::string& id);
    void deliver_late_ends(const std::string& id);
    Topic* find(const std::string& topic);
    Partition* find(const std::string& topic, std::int32_t partition);
    std::int32_t choose_partition(const KafkaRecord& record);
    std::int64_t last_stable_offset(const Partition& partition) const;
    bool is_committed(const Entry& entry) const;
    static Error timed_out(const char* call);

    std::map<std::string, Topic> topics_;
    std::map<std::string, Coordinator> coordinators_;
    std::map<std::uint64_t, Transaction> transactions_;
    std::uint64_t next_transaction_ = 1;
    std::vector<LateEnd> late_;
    std::vector<KafkaRecord> delayed_;  // by appenders
    std::uint32_t next_partition_ = 0;
};

}  // namespace duewheel
