// A message as plain values: the fields that can change during its life, the content that the put fixes, and the row
// that represents it wherever it is stored.
//
// Strings are owned here. The views that a decoded record holds are in record.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/boxed.h"
#include "message/retry_rule.h"
#include "message/state.h"
#include "message/work_state.h"

namespace duewheel {

// counter * 1024 + shard, below 2^53, so that every protocol and every JSON parser can represent it. 0 is no id.
using MessageId = std::uint64_t;
inline constexpr MessageId kShardsMax = 1024;
inline constexpr MessageId kMessageIdMax = (MessageId{1} << 53) - 1;

// Position of a record in the journal; the first is 1, 0 is none.
using Sequence = std::uint64_t;

// Milliseconds since 1970 UTC, server time. 0 is none: no message is ever due in 1970.
using DueMs = std::int64_t;

inline constexpr std::string_view kDefaultNamespace = "default";

// The changeable fields that most messages do not have. Where many messages are kept, these are in a table of their
// own.
struct RareState {
    DueMs expires_ms = 0;  // 0: never
    std::string order_key;
    std::string key;                 // empty: no idempotency key
    std::uint64_t request_hash = 0;  // of the request with the key
    DueMs first_due_ms = 0;          // keyed: the due time in the response to its put; 0: the nominal due time
    DueMs first_put_ms = 0;          // keyed: when the first put came, of those that it replaced; 0: unknown
    std::optional<RetryRule> retry;  // its own rule; otherwise that of its queue applies
    // Attempts that do not count against the rule: they were released, or came before a redrive.
    std::uint32_t attempts_forgiven = 0;
    // The number of the occurrence that a recurring message creates when it is due. 0: not recurring.
    std::uint64_t next_occurrence = 0;

    // State of a message put in a transaction: kCommitted after the commit. Before it, and forever after a rollback,
    // kOpen plus the number of checks of its producer. 0: no transaction.
    std::uint32_t transaction = 0;
    Boxed<WorkState> work;

    static constexpr std::uint32_t kCommitted = 1;
    static constexpr std::uint32_t kOpen = 2;
    std::uint32_t checks() const { return transaction >= kOpen ? transaction - kOpen : 0; }
    bool is_recurring() const { return next_occurrence != 0; }
    bool has_any() const {
        return expires_ms != 0 || request_hash != 0 || !order_key.empty() || !key.empty() || retry ||
               attempts_forgiven != 0 || next_occurrence != 0 || transaction != 0 || work.is_set() || first_put_ms != 0;
    }
    bool operator==(const RareState&) const = default;
};

// Every field of a message that can change. A change record contains all of them, so that a reader can apply it without
// knowing the message.
struct MessageState : RareState {
    State state = State::scheduled;
    std::uint32_t version = 1;     // incremented by each durable change
    std::uint32_t attempts = 0;    // deliveries started
    DueMs due_ms = 0;              // of a prepared message: the deadline of its producer
    DueMs nominal_due_ms = 0;      // the requested due time; a retry changes due_ms and keeps this
    std::int32_t priority = 0;     // smaller first
    bool maybe_delivered = false;  // a crash may have hidden a delivery that had started
    std::string name_space{kDefaultNamespace};
    std::string queue;
    std::string group;  // empty: none

    bool operator==(const MessageState&) const = default;
};

// A message as the store keeps it: the log position of its whole record, and all changeable fields.
struct MessageRow {
    MessageId id = 0;
    Sequence log_position = 0;       // newest put, spawn or relocation record
    std::uint32_t record_bytes = 0;  // size of that record with its frame, which the message needs in the log
    MessageState state;
    // Only of an ended message:
    DueMs ended_ms = 0;
    std::uint32_t lease_attempt = 0;      // the lease whose ack or failure ended it, so that a repeated
    std::uint64_t lease_incarnation = 0;  // ack gets the same response after a restart
    // Why it is a dead letter, or why its last attempt failed while it is in backoff.
    std::string reason;

    bool operator==(const MessageRow&) const = default;
};

// Copies the changeable fields that every message has and that are called the same in all its forms.
template <class From, class To>
void copy_progress(const From& from, To& to) {
    to.version = from.version;
    to.attempts = from.attempts;
    to.due_ms = from.due_ms;
    to.nominal_due_ms = from.nominal_due_ms;
    to.priority = from.priority;
    to.maybe_delivered = from.maybe_delivered;
}

// The same of an ended message: when it ended, and by which lease.
template <class From, class To>
void copy_end(const From& from, To& to) {
    to.ended_ms = from.ended_ms;
    to.lease_attempt = from.lease_attempt;
    to.lease_incarnation = from.lease_incarnation;
}

}  // namespace duewheel
