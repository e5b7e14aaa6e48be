// The number of messages due in each second, of queues with a limit per second.
//
// Most of a queue is in the index, where counting requires a scan; newer changes are not ordered by time. So a count
// has two parts: the count of the index for a second, looked up when the second is first needed, and the changes of the
// log since then, record by record. The ledger keeps the second part for each segment that is not in the index yet:
// whatever table the lookup result was read from, only the later segments are missing. A second that was counted once
// is kept up to date.
//
//     SecondLedger ledger;
//     ledger.watch(queue, 7);                          // the limit was set in segment 7
//     ledger.change(queue, 1'800'000'000, +1, 8);      // a put, in segment 8
//     ledger.learn(queue, 1'800'000'000, 41, 7);       // the index has 41, as of the end of segment 7
//     ledger.count(queue, 1'800'000'000);              // 42
//
// A message counts while it waits for its due time (waits_for_due(state)), a recurring message with its next
// occurrence. A prepared message counts only after its commit. Seconds are those of the epoch, and include everything
// that is due within them.
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
    // Records the changes of the queue from this segment on; 0: of all segments that are not in the index yet. No
    // effect if it is already watched.
    void watch(QueueNumber queue, SegmentNumber since) { watched_.try_emplace(queue, Watched{since, {}, {}}); }
    void unwatch(QueueNumber queue);
    bool is_empty() const { return watched_.empty(); }
    // Counts are valid once this segment is in the index: its earlier changes were not recorded. Nothing: the queue is
    // not watched.
    std::optional<SegmentNumber> watched_since(QueueNumber queue) const;

    // The change of the count of that second; ignored if the queue is not watched. O(1) on average.
    void change(QueueNumber queue, Second second, std::int64_t by, SegmentNumber segment);

    // The index contains everything up to and including this segment.
    void table_taken(SegmentNumber through);

    // The count of the index, as of the end of segment `through`. False if that is not enough to know the count: the
    // lookup must be repeated.
    bool learn(QueueNumber queue, Second second, std::int64_t in_index, SegmentNumber through);
    // Nothing if it is not known. O(log n) in the known seconds.
    std::optional<std::int64_t> count(QueueNumber queue, Second second) const;

    // Forgets counts of seconds before this one.
    void forget_before(Second second);
    // Forgets all counts, which can be learned again.
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
