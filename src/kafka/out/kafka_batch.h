// What the pusher passes to a sender, and what the sender returns: the same value, with its results filled in.
//
// The pusher makes a batch on the loop's thread; a sender works on it on a thread that may block. Only one of them has
// it at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "kafka/client/kafka.h"
#include "message/message.h"

namespace duewheel {

struct KafkaOutOptions {
    std::string cluster = "default";  // the name in topics and transactional ids
    std::int32_t shard = 0;           // partition of the ledger
    std::size_t batch_max = 1'000;    // records of one transaction
    std::int64_t transaction_timeout_ms = 10'000;
    std::size_t bytes_max = 64u << 20;  // of leased messages until their results are recorded

    std::string ledger_topic() const { return "duewheel." + cluster + ".ledger"; }
    // Two ids: for `turn` 0 and 1.
    std::string transactional_id(std::size_t turn) const {
        return "duewheel." + cluster + "." + std::to_string(shard) + "." + std::to_string(turn);
    }
    // A commit that takes longer may have been sent twice: half the socket timeout, which is that of transactions.
    std::int64_t slow_commit_ms() const { return transaction_timeout_ms / 2; }
};

// A message by id and namespace, as the engine looks it up.
struct KafkaMessageName {
    std::string name_space;
    MessageId id = 0;

    bool operator==(const KafkaMessageName&) const = default;
};

struct KafkaOutcome {
    enum class Kind : std::uint8_t {
        not_sent,      // certainly; and it may not be its own fault
        sent,          // committed
        already_sent,  // in an earlier transaction, as the ledger says
        refused,       // the topic refuses this record
        failed,        // the topic could not be written: it is missing, without permission, or without a leader
        unknown,       // it may have been sent: pass the message in again, under the same lease
    };
    Kind kind = Kind::not_sent;
    Error error{};  // unless it was sent
};

// Cumulative, of one sender.
struct KafkaSenderCounters {
    std::uint64_t transactions = 0;  // committed
    std::uint64_t aborts = 0;
    std::uint64_t producers_opened = 0;
    std::uint64_t unknown_commits = 0;
    std::uint64_t slow_commits = 0;
    std::uint64_t fenced = 0;        // times another server had taken over the transactional ids
    std::uint64_t ledger_skips = 0;  // messages that the ledger had already
    std::uint64_t ledger_open = 0;   // gauge: messages in the ledger whose ends are not known to be durable
};

struct KafkaBatch {
    struct Message {
        KafkaMessageName name;
        KafkaRecord record;
        KafkaOutcome outcome{};  // filled in by the sender
    };
    std::vector<Message> messages;
    std::vector<MessageId> settled;  // their ends are durable since the last batch, so that the ledger may forget them

    // Filled in by the sender.
    bool is_ready = false;    // false: the brokers could not be used; try again later
    Error error{};            // the reason
    bool was_fenced = false;  // another server has taken over the transactional ids meanwhile, and still runs
    std::vector<KafkaMessageName> found;  // of an earlier run, read in the ledger; not settled yet
    KafkaSenderCounters counters;
    std::int64_t took_us = 0;
};

}  // namespace duewheel
