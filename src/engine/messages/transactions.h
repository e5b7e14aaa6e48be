// Messages in transactions. Such a message is put as a prepared message: durable, but not delivered until its producer
// commits it or rolls it back. If that does not happen in time, a check message that names it goes to the check queue
// of its put, and again after each interval, up to the number of checks; then the default of the put applies.
//
// The due time of a prepared message is the deadline of its producer, so that the wheel, the index and a restart find
// it like any due message; the requested time is its nominal due time, and becomes its due time with the commit, or now
// if that has passed. A check message and the prepared message's next deadline are one batch: after a crash both exist
// or neither. Intervals count from the last check, so that a server that was down checks once, and not once for each
// missed time. A check expires at the next one, so that an unread queue contains one for each prepared message.
//
// A check is created beyond limits.pending: otherwise prepared messages that fill their limit would wait forever for
// that of their checks. A put is refused if its check queue would exceed the limit of queues; if that happens later,
// there can be no check, and the try counts as if it had expired. While there is no space on the disk, a prepared
// message waits, and no check is counted: the default is for producers that were asked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/core/batch_writer.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/message_finder.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Transactions : Uses<EngineOptions, RecentTier, ServerTime, Lookups, RecordCache, OpenSegment, EarlierRuns,
                          Effects, TimeRules, BatchWriter> {
  public:
    Transactions(const Uses& uses, Queues& queues, Lifecycle& lifecycle, MessageFinder& finder)
        : Uses(uses),
          queues_(queues),
          lifecycle_(lifecycle),
          finder_(finder),
          due_prepared_(lifecycle.due_prepared()) {}

    // Check a put in a transaction: its rule; whether its check queue exists, or may be created beside its own queue.
    Status check_rule(const PutCommand& command) const;
    Status check_queue(const PutCommand& command);
    // Commit and rollback.
    Verdict decide(PendingCommand& pending, const SettleCommand& command);
    // The code of what prevents a check of a prepared message; empty: nothing does, or no check is due.
    ErrorCode why_check_waits(const MessageState& prepared, const TransactionRule& rule);

    // ---- checks and defaults of overdue messages, for a batch

    bool has_to_add() const { return due_prepared_.has_ready() && !segment_.puts_stalled(); }
    bool has_work() const { return has_to_add() || due_prepared_.has_to_read(); }
    bool is_idle() const { return due_prepared_.is_idle(); }
    // The most that the first one adds: its check message, and its new state; 0: there is none.
    std::size_t next_bytes() const;
    void add_to_batch();

    void finish(const PreparedLookup& lookup, const FoundRecords& records, Generation generation);

  private:
    MessageRecord commit_record(const Entry& entry, Cause cause) const;
    MessageRecord rollback_record(const Entry& entry, Cause cause) const;
    void read_prepared();
    void add_overdue(EntryNumber number, const DueMessages::Item& prepared);
    Queues::NameLimit limit_of_check(const std::string& name_space, const std::string& queue);
    bool can_be_checked(const std::string& name_space, const std::string& queue);
    MessageRecord check_record(const Entry& entry, const MessageState& prepared, const MessageContent& content) const;

    Queues& queues_;
    Lifecycle& lifecycle_;
    MessageFinder& finder_;
    DueMessages& due_prepared_;
};

}  // namespace duewheel
