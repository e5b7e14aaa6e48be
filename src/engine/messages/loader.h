// Between memory and index: loads messages ahead of time and from backlogs, drops what is in the index, and writes the
// positions from which a restart has to read.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/messages/lifecycle.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Loader : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, RecordCache, TimerLanes,
                    OpenSegment, BatchWriter> {
  public:
    // `cursor_ms`: every message due before was passed to its queue.
    Loader(const Uses& uses, Queues& queues, Lifecycle& lifecycle, DueMs cursor_ms)
        : Uses(uses),
          queues_(queues),
          lifecycle_(lifecycle),
          window_(lifecycle.window()),
          durable_cursor_ms_(cursor_ms) {}

    // Looks up what is due next, ahead of time.
    void load();
    // Continues to read a queue's backlog from disk when few of its messages are left in memory. For a queue without
    // active consumers a few messages are enough, so that the backlogs of many queues do not fill the memory.
    void read_backlog(QueueNumber number);
    // Reads the bodies of the next ready messages of a queue into the cache: one of its deliveries is about to be read,
    // and consumers that take few messages at a time would wait for the disk each time. Call it before that read is
    // started.
    void read_ahead(QueueNumber number);
    // A consumer of the queue waits until due messages are loaded, if some may be missing from memory.
    void await_window(QueueNumber number);
    // After a table was added to the index: its messages may leave memory if they are neither due soon nor leased.
    void sweep();

    // The commit that closes a segment contains the positions from which a restart has to read: the load cursor, and
    // for each queue a lower bound of its due and unfinished messages. A queue cursor that becomes lower must be
    // written, one that becomes higher may be.
    void add_cursors();
    void apply_cursor(const CursorRecord& record);

    void finish(const DueLookup& lookup, Stretch stretch, Generation generation);
    void finish(const BacklogLookup& lookup, Stretch stretch, Generation generation);
    void finish(const GroupLookup& lookup, Stretch stretch, Generation generation);
    void finish(const GroupsLookup& lookup, GroupStarts starts, Generation generation);
    void finish(const PrefetchLookup& lookup, const FoundRecords& records, Generation generation);

  private:
    void read_groups(QueueNumber number);
    bool load_backlog(const MessageRow& row);
    void prefetch(const std::vector<MessageRow>& rows);
    std::size_t cache_room() const;
    DueMs load_cursor() const;
    void add_cursor(const QueueName* name, DuePosition position);

    Queues& queues_;
    Lifecycle& lifecycle_;
    DueWindow& window_;
    DueMs durable_cursor_ms_;
    std::vector<QueueNumber> waiting_;  // await_window()
    std::uint32_t backlogs_reading_ = 0;
    std::set<QueueNumber> reading_ahead_;
};

}  // namespace duewheel
