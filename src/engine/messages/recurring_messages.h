// Recurring messages, which are never delivered themselves, and create an occurrence each time they are due.
//
// An occurrence is a message of its own, written whole, with its recurring message and its number. One batch contains
// the due occurrences and the new state of the recurring message: due again, or done after the last one. So after a
// crash both exist or neither, and each of 1..N is created exactly once, with the time of the rule, however late.
//
// A due recurring message stays in memory until its occurrences are written, and bounds its queue's cursor like ready
// messages, so that a restart finds it. It waits like a put: for the disk while that is full, for segments to be
// sealed, and for room in its queue. The content is read from the log before the batch, for several recurring messages
// at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/core/batch_writer.h"
#include "engine/messages/lifecycle.h"
#include "engine/settings/queues.h"

namespace duewheel {

class RecurringMessages : Uses<EngineOptions, RecentTier, ServerTime, Lookups, RecordCache, OpenSegment, EarlierRuns,
                               Effects, BatchWriter> {
  public:
    RecurringMessages(const Uses& uses, Queues& queues, Lifecycle& lifecycle)
        : Uses(uses), queues_(queues), lifecycle_(lifecycle), due_(lifecycle.due_recurring()) {}

    // The code of what prevents the occurrence of a due recurring message; empty: nothing does.
    ErrorCode why_waits(EntryNumber number);

    bool has_to_add() const { return due_.has_ready() && !segment_.puts_stalled(); }
    bool has_work() const { return has_to_add() || due_.has_to_read(); }
    bool is_idle() const { return due_.is_idle(); }
    // The bytes of the next occurrence of the first one in a batch, with the message's new state; 0: there is none.
    std::size_t next_bytes() const;
    void add_to_batch();

    void finish(const SpawnLookup& lookup, const FoundRecords& records, Generation generation);

  private:
    void read();
    void try_again_later(EntryNumber number);
    bool must_wait(EntryNumber number);
    std::optional<MessageRecord> whole_record(const DueMessages::Item& due);
    MessageRecord occurrence_record(MessageId id, const MessageState& recurring, const MessageRecord& whole,
                                    DueMs due) const;
    void make_occurrences(EntryNumber number, DueMessages::Item due, std::size_t share);

    Queues& queues_;
    Lifecycle& lifecycle_;
    DueMessages& due_;
};

}  // namespace duewheel
