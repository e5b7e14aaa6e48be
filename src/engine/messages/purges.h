// Purges: every message that was in a queue at the time of the request ends, in chunks, while everything else
// continues.
//
// The settings of the queue contain the mark: the greatest id assigned by then. From the moment at which they are
// applied, no marked message is delivered, and none changes except to its end: a command that would change it ends it,
// and so does the end of its lease. So the remaining work is to find them, and one pass does that:
//
//   1. scan the entries in memory: each marked one is kept there until its end is durable;
//   2. scan the queue in the index: messages that are not in memory are there, at a position that does not change,
//      because each change first loads them into memory, where the rule of (1) applies.
//
// The messages found end with cause `purged`, up to `purge_chunk` in a batch. When both scans are done and no marked
// entry is left in memory, leased ones included, the mark is removed from the settings. After a crash the mark is still
// there, and the scans start again.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/commands/command_traits.h"
#include "engine/core/batch_writer.h"
#include "engine/messages/lifecycle.h"
#include "engine/settings/queues.h"

namespace duewheel {

struct PurgeWalk {
    QueueNumber queue = 0;
    EntryNumber next_entry = 0;  // first those in memory are scanned, then the rows of the index
    bool walked_entries = false;
    DuePosition next_row;
    bool lookup_open = false;
    bool walked = false;
};

class Purges : Uses<EngineOptions, RecentTier, Lookups, BatchWriter> {
  public:
    Purges(const Uses& uses, Queues& queues, Lifecycle& lifecycle)
        : Uses(uses), queues_(queues), lifecycle_(lifecycle) {}

    // The mark of the queue has changed: to a greater one, or to none.
    void begin(QueueNumber number);
    // Scans one part.
    void walk();
    // A scan can continue now.
    bool has_to_walk() const { return walking() < walks_.size(); }

    // Some can be added to a batch without another lookup.
    bool has_work() const;
    // The last record contains settings.
    std::size_t next_bytes() const { return has_work() ? kSettingsRecordBytesMax : 0; }
    // Ends the messages that were found, and removes the mark of a purge that is complete.
    void add_to_batch();
    // No client waits for the end of a purge.
    static bool is_idle() { return true; }

    void finish(const PurgeLookup& lookup, const Stretch& stretch, Generation generation);

  private:
    std::size_t walking() const;
    bool is_over(const PurgeWalk& walk) const { return walk.walked && queues_[walk.queue].purging == 0; }

    Queues& queues_;
    Lifecycle& lifecycle_;
    std::deque<PurgeWalk> walks_;  // one scans at a time
};

}  // namespace duewheel
