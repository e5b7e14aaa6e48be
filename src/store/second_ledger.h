// How many messages fall due in each second of the queues that limit it.
//
// Most of a queue stands in the index, and counting there means a walk; what is newer than the index stands in no order
// of time. So a count has two parts: what the index counts in a second, asked for when the second is first looked at,
// and what the log has changed since, record by record. The ledger keeps the second part for each segment that the
// index has not taken in: whichever table the index's answer was read from, the segments behind it are what is missing.
// A second that was counted once is kept up to date from then on.
//
//     SecondLedger ledger;
//     ledger.watch(queue, 7);                          // the limit was set in segment 7
//     ledger.change(queue, 1'800'000'000, +1, 8);      // a put, in segment 8
//     ledger.learn(queue, 1'800'000'000, 41, 7);       // the index counts 41, as of the end of segment 7
//     ledger.count(queue, 1'800'000'000);              // 42
//
// A message counts while it waits for its due time (waits_for_due(state)), a loop with its next one; a half of a
// transaction does not, and counts from its commit on. Seconds are those of the epoch; what is due within one counts
// there.
//
// Single-threaded; RecentTier owns and feeds it. No I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "message/message.h"
#include "store/queue_names.h"

namespace duewheel {

using Second = std::int64_t;
// Number of a segment of the log, 1, 2, ...; 0 stands for "in the index".
using SegmentNumber = std::uint32_t;

inline Second second_of(DueMs due_ms) {
    return due_ms / 1000;
}

class SecondLedger {
  public:
    // From this segment on changes of the queue are noted; 0: all that the index has not taken in are. Nothing where it
    // is watched already.
    void watch(QueueNumber queue, SegmentNumber since) { watched_.try_emplace(queue, Watched{since, {}, {}}); }
    void unwatch(QueueNumber queue);
    bool is_empty() const { return watched_.empty(); }
    // Counts hold where the index has taken in this segment: what was changed in it before was not noted. Nothing: the
    // queue is not watched.
    std::optional<SegmentNumber> watched_since(QueueNumber queue) const;

    // So many messages more fall due in that second; nothing where the queue is not watched. O(1) on average.
    void change(QueueNumber queue, Second second, std::int64_t by, SegmentNumber segment);

    // The index has taken in all up to and with this segment.
    void table_taken(SegmentNumber through);

    // What the index counts, as of the end of segment `through`. False where that is not enough to know the count: the
    // index is to be asked again.
    bool learn(QueueNumber queue, Second second, std::int64_t in_index, SegmentNumber through);
    // Nothing where it was not learned. O(log n) in the seconds that are known.
    std::optional<std::int64_t> count(QueueNumber queue, Second second) const;

    // Forgets counts of seconds before this one: nobody asks for them any more.
    void forget_before(Second second);
    // Forgets all counts, which may be learned again.
    void forget_counts();
    std::size_t known() const { return known_; }

  private:
    struct Watched {
        SegmentNumber since = 0;
        std::map<SegmentNumber, std::unordered_map<Second, std::int64_t>> changes;
        std::map<Second, std::int64_t> counts;
    };

    std::unordered_map<QueueNumber, Watched> watched_;
    SegmentNumber taken_through_ = 0;
    std::size_t known_ = 0;
};

}  // namespace duewheel
