// The recent tier: a small entry in memory for each message whose newest record is in a segment that is not in the
// index yet, and for each message that is due soon, ready or leased. The cookies of the wheel are entry numbers.
//
// Its state is exactly that of the log: apply() takes the records in order, live or in a replay, and nothing else
// changes the durable fields of an entry. `dirty` means that the newest record is in an unsealed segment, so the entry
// (or the outcome of an ended message) must stay until the table of that segment is in the index. `clean` entries were
// loaded from the index because they are due soon; the engine may drop them at any time.
//
// A message without an entry is as in the index. With an entry it is as in the entry: the recent tier wins.
//
// A tier whose segments are never sealed contains everything and is a complete store (the memory store of tests).
//
// Single-threaded; the owner is the shard. No I/O, no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/block_vector.h"
#include "message/records/record.h"
#include "store/due_counts.h"
#include "store/group_names.h"
#include "store/history.h"
#include "store/message_map.h"
#include "store/queue_names.h"
#include "store/waits_for.h"

namespace duewheel {

// Number of a segment of the log, 1, 2, ...; 0 stands for "in the index".
using SegmentNumber = std::uint32_t;
using EntryNumber = std::uint32_t;
inline constexpr EntryNumber kNoEntry = ~EntryNumber{0};

struct Entry {
    MessageId id = 0;  // 0: unused
    DueMs due_ms = 0;
    DueMs nominal_due_ms = 0;
    Sequence log_position = 0;
    std::uint64_t timer = 0;  // the engine's: bits of its handle on the wheel
    QueueNumber queue = 0;
    SegmentNumber segment = 0;  // of the newest record; 0: clean
    std::uint32_t record_bytes = 0;
    std::uint32_t version = 0;
    std::uint32_t attempts = 0;  // durable; `begun` may be ahead by what the next batch writes
    std::uint32_t begun = 0;
    std::int32_t priority = 0;
    State durable_state = State::scheduled;  // as in the log
    WaitsFor waits_for = WaitsFor::none;     // the engine's
    bool maybe_delivered = false;
    bool has_rare : 1 = false;   // rare fields are in the side table
    bool in_batch : 1 = false;   // touched by the batch being built or in flight
    bool from_past : 1 = false;  // the engine's: an earlier run may have delivered it without a record
    bool purging : 1 = false;    // the engine's: a purge counts on its end
    bool forgives : 1 = false;   // the engine's: its last attempt ended with an earlier run, and does not count

    // The live state: a message is ready or leased only in memory.
    State state() const {
        if (waits_for == WaitsFor::consumer) return State::ready;
        return waits_for == WaitsFor::lease ? State::leased : durable_state;
    }
    // An attempt has started of which the log does not know.
    bool has_unwritten_attempt() const { return begun != attempts; }
};
static_assert(sizeof(Entry) == 72, "the documents on memory say so");

// The end of an ended message, kept until it is in the index.
struct Outcome {
    State state = State::done;
    bool maybe_delivered = false;
    std::uint32_t version = 0;
    std::uint32_t attempts = 0;
    std::uint32_t lease_attempt = 0;
    std::uint32_t transaction = 0;
    std::uint64_t lease_incarnation = 0;
    DueMs ended_ms = 0;
    DueMs due_ms = 0;
    QueueNumber queue = 0;
    SegmentNumber segment = 0;
    Boxed<WorkState> work;
};

// The holder of an idempotency key, as far as the recent tier knows.
struct RecentKey {
    MessageId id = 0;
    std::uint64_t request_hash = 0;
    DueMs due_ms = 0;    // the due time in the response to its put
    DueMs ended_ms = 0;  // 0: unfinished
    // Its put is here, so no newer message can have the key. Otherwise the index may know of one that took over the key
    // while this message was dead.
    bool is_put_here = false;
};

class RecentTier {
  public:
    RecentTier() = default;
    RecentTier(const RecentTier&) = delete;
    RecentTier& operator=(const RecentTier&) = delete;

    QueueNames& queues() { return queues_; }
    const QueueNames& queues() const { return queues_; }

    // kNoEntry if the message is not here, or only as an outcome. Average O(1).
    EntryNumber find(MessageId id) const;
    // Null if the message has not ended, or its end is in the index.
    const Outcome* outcome(MessageId id) const;
    // Null if no record here is of a message with this key.
    const RecentKey* key_holder(QueueNumber queue, std::string_view key) const;

    Entry& entry(EntryNumber number) { return entries_[number]; }
    const Entry& entry(EntryNumber number) const { return entries_[number]; }
    std::size_t entry_count() const { return by_id_.size(); }
    // Entry numbers are below this; unused ones have id 0.
    EntryNumber entry_limit() const { return static_cast<EntryNumber>(entries_.size()); }
    // For iterating over all entries: the first one at or after `from`, found without looking at unused ones. Memory
    // from the busiest time is kept, and most of it may be unused.
    EntryNumber skip_unused(EntryNumber from) const {
        if (from % kBlock != 0 || from >= entries_.size() || used_[from / kBlock] != 0) return from;
        return std::min(from + kBlock, entry_limit());
    }

    // All changeable fields as in the log (not the live state).
    MessageState durable_state(const Entry& entry) const;
    MessageRow row(const Entry& entry) const;
    // What is known of a message that has ended.
    MessageRow row(MessageId id, const Outcome& outcome) const;
    std::string_view key(const Entry& entry) const;
    // 0 if it never expires; empty if it has no order key.
    DueMs expires_ms(EntryNumber number) const;
    std::string_view order_key(EntryNumber number) const;
    // kNoGroup if it has none.
    GroupNumber group_of(EntryNumber number) const { return number < group_of_.size() ? group_of_[number] : kNoGroup; }
    GroupNames& groups() { return groups_; }
    const GroupNames& groups() const { return groups_; }
    // Its own rule; null if it has none.
    const RetryRule* retry_rule(const Entry& entry) const;
    std::uint32_t attempts_forgiven(const Entry& entry) const;
    // It creates occurrences, and is never delivered.
    bool is_recurring(const Entry& entry) const;
    // The value of MessageState.
    std::uint32_t transaction(const Entry& entry) const;
    // When the first put of its key came; 0: unknown, or it has no key.
    DueMs first_put_ms(const Entry& entry) const;
    // What its workers have said; the default one if nothing.
    const WorkState& work(const Entry& entry) const;
    // Its maximum size in a record; 0 if it is nothing.
    std::size_t work_bytes_max(const Entry& entry) const;
    // Why it is a dead letter, or why its last attempt failed, until the next one begins; empty without a reason.
    std::string_view reason(const Entry& entry) const;
    // Since when it is dead.
    DueMs ended_ms(const Entry& entry) const;
    // The first dead letter of the queue that is here and is at or after `from` by (time of death, id); kNoEntry if
    // there is none. O(log n) in the dead letters here.
    EntryNumber first_dead(QueueNumber queue, DueMs from_ms, MessageId from_id) const;

    // Applies the next record of a message in the log. `frame_bytes` is its size with its frame. Returns the entry of
    // the message, or kNoEntry if it has ended. An entry that ends is freed: the engine removes it from its wheel and
    // lists first. In-memory fields (what it waits for, timer, begun) survive an `attempt` and a `relocate`. After any
    // other record the message waits for nothing.
    EntryNumber apply(const MessageRecord& record, Sequence sequence, SegmentNumber segment, std::uint32_t frame_bytes);
    // The same for any record; those of messages matter here.
    void apply(const Record& record, Sequence sequence, SegmentNumber segment, std::uint32_t frame_bytes);

    // Adds what the index has of an unfinished message or dead letter that is not here.
    EntryNumber admit(const MessageRow& row);

    // Frees a clean entry.
    void drop(EntryNumber number);

    // After the table of `segment` was added to the index: visits the messages whose records were in it, at most
    // `budget` a call, marks the clean ones, forgets outcomes and keys, and passes each clean entry to `offer`, which
    // may drop it. Returns true when the segment is done. Segments are swept in order.
    bool sweep(SegmentNumber segment, std::size_t budget, const std::function<void(EntryNumber)>& offer);

    // Calls with each entry in use; slow, for the start and for checks.
    void for_each_entry(const std::function<void(EntryNumber, const Entry&)>& visit) const;

    // The ends of messages, by the segment of their records, until it has been swept; in the order of time.
    const std::map<SegmentNumber, std::vector<EndInQueue>>& recent_ends() const { return ends_; }
    // The changes of what becomes due, likewise.
    const std::map<SegmentNumber, DueChanges>& due_changes() const { return due_changes_; }

    // Verifies the invariants between the tables; aborts with a message. For tests and the simulator.
    void check() const;

    std::size_t memory_bytes() const;

  private:
    static constexpr EntryNumber kBlock = 64;

    struct Rare : RareState {
        std::string reason;  // of a dead letter, and of a message in backoff
        // Members of a dead letter:
        std::uint32_t lease_attempt = 0;
        std::uint64_t lease_incarnation = 0;
        DueMs ended_ms = 0;
    };
    // The death of a message in a record or a row; for one in backoff only the reason.
    struct Death {
        DueMs ended_ms = 0;
        std::uint32_t lease_attempt = 0;
        std::uint64_t lease_incarnation = 0;
        std::string_view reason;
    };
    struct Touched {
        std::vector<MessageId> ids;
        std::size_t swept = 0;
    };

    EntryNumber take_slot(MessageId id);
    void free_slot(EntryNumber number);
    void set_state(Entry& entry, EntryNumber number, const MessageState& state, const Death& death);
    void set_rare(Entry& entry, EntryNumber number, const MessageState& state, const Death& death);
    void set_group(EntryNumber number, QueueNumber queue, std::string_view group);
    void forget_death(const Entry& entry, EntryNumber number);
    void end(const MessageRecord& record, SegmentNumber segment);
    void count_due(const MessageRecord& record, QueueNumber queue, SegmentNumber segment);
    void hold_key(const MessageRecord& record, DueMs ended_ms);
    static std::string joined_key(QueueNumber queue, std::string_view key);
    void touch(MessageId id, SegmentNumber segment);

    QueueNames queues_;
    BlockVector<Entry> entries_;
    // By entry; shorter than they are, and empty if no message has a group.
    std::vector<GroupNumber> group_of_;
    GroupNames groups_;
    std::vector<EntryNumber> free_;
    std::vector<std::uint8_t> used_;  // entries in use, of each block
    MessageMap<EntryNumber> by_id_;
    MessageMap<Outcome> outcomes_;
    std::unordered_map<EntryNumber, Rare> rare_;
    std::set<std::tuple<QueueNumber, DueMs, MessageId>> dead_;  // those here, by queue and time of death
    std::unordered_map<std::string, RecentKey> keys_;           // queue number and key joined
    std::unordered_map<MessageId, std::string> key_of_outcome_;
    std::unordered_map<SegmentNumber, Touched> touched_;
    std::map<SegmentNumber, std::vector<EndInQueue>> ends_;
    std::map<SegmentNumber, DueChanges> due_changes_;
};

}  // namespace duewheel
