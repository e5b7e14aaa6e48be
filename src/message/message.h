// What a message is, as plain values: the fields that may change during its life, the content that a put fixes for
// good, and the row that stands for it wherever it is stored.
//
// Strings are owned here. The views that a decoded record holds are in record.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "message/retry_rule.h"
#include "message/state.h"

namespace duewheel {

// counter * 1024 + shard, below 2^53, so that every protocol and every JSON reader can carry it. 0 is no id.
using MessageId = std::uint64_t;
inline constexpr MessageId kShardsMax = 1024;
inline constexpr MessageId kMessageIdMax = (MessageId{1} << 53) - 1;

// Position of a record in the journal; the first is 1, 0 is none.
using Sequence = std::uint64_t;

// Milliseconds since 1970 UTC, server time. 0 is none: nothing is ever due in 1970.
using DueMs = std::int64_t;

inline constexpr std::string_view kDefaultNamespace = "default";

// Every field of a message that may change. A change record holds all of them, so that it can be applied by a reader
// that has never heard of the message.
struct MessageState {
    State state = State::scheduled;
    std::uint32_t version = 1;     // rises by one with each durable change
    std::uint32_t attempts = 0;    // deliveries begun
    DueMs due_ms = 0;              // of a half: by when it is to be answered
    DueMs nominal_due_ms = 0;      // what was asked for; a retry moves due_ms and keeps this
    DueMs expires_ms = 0;          // 0: never
    std::int32_t priority = 0;     // smaller first
    bool maybe_delivered = false;  // a crash may hide a delivery that had begun
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::string order_key;
    std::string key;                 // empty: no idempotency key
    std::uint64_t request_hash = 0;  // of the request that brought the key
    DueMs first_due_ms = 0;          // keyed: what its put was answered; 0: the nominal due
    std::optional<RetryRule> retry;  // its own; else its queue's holds
    // Of its attempts, those that do not count against the rule: they were given back, or came before a redrive.
    std::uint32_t attempts_forgiven = 0;
    // Of a loop: the number of the occurrence that it makes when it is due. 0: no loop.
    std::uint64_t next_occurrence = 0;

    // Of a message that was put in a transaction, a half until it is committed: kCommitted from then on; before that,
    // and for good where it never is, kOpen and one more for each time that its producer was asked. 0: no transaction.
    std::uint32_t transaction = 0;

    static constexpr std::uint32_t kCommitted = 1;
    static constexpr std::uint32_t kOpen = 2;
    std::uint32_t checks() const { return transaction >= kOpen ? transaction - kOpen : 0; }
    bool is_recurring() const { return next_occurrence != 0; }
    bool operator==(const MessageState&) const = default;
};

// A message as the store keeps it: where its whole record stands, and all changeable fields.
struct MessageRow {
    MessageId id = 0;
    Sequence log_position = 0;       // newest put, spawn or relocation record
    std::uint32_t record_bytes = 0;  // size of that record with its frame: what the message needs of the log
    MessageState state;
    // Only of an ended message:
    DueMs ended_ms = 0;
    std::uint32_t lease_attempt = 0;      // the lease whose ack or failure ended it, so that a repeated
    std::uint64_t lease_incarnation = 0;  // ack repeats its answer also after a restart
    // Why it is dead; or why its last attempt failed, as long as it rests after it.
    std::string reason;

    bool operator==(const MessageRow&) const = default;
};

}  // namespace duewheel
