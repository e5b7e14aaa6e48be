// One queue of a shard: who is ready, in which order they are handed out, who waits for them, and how far the part on
// disk has been read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>

#include "engine/lazy_heap.h"
#include "engine/namespace_table.h"
#include "engine/queue_totals.h"
#include "engine/ready_list.h"
#include "message/queue_counts.h"
#include "message/queue_settings.h"
#include "message/retry_rule.h"
#include "store/store.h"

namespace duewheel {

// Beyond every message: nothing is on disk.
inline constexpr DuePosition kNoBacklog{std::numeric_limits<DueMs>::max(), std::numeric_limits<MessageId>::max()};

// Due order of everything in memory that is ready or leased.
struct FiredKey {
    DuePosition position;
    EntryNumber entry = kNoEntry;

    bool operator<(const FiredKey& other) const { return position < other.position; }
};

// The settings of a queue and where they stand in the log.
struct QueueConf {
    QueueSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

struct Queue {
    ReadyList ready;
    LazyHeap<FiredKey> fired;
    std::uint32_t ready_count = 0;
    std::uint32_t leased_count = 0;
    std::deque<std::uint64_t> waiters;
    std::uint32_t brief_waiters = 0;  // of them: they wait for what is being read, and for nothing else
    std::uint32_t lines_asking = 0;   // of its order keys: the index is to say which message comes first
    DueMs asked_ms = 0;               // when a consumer last asked

    // Lower bound on the due, unfinished messages that are on disk alone.
    DuePosition cursor = kNoBacklog;
    std::optional<DuePosition>
        reading_from;  // while a stretch is being read; `cursor` then holds what came below since
    // What the log says: a lower bound on all due, unfinished ones. Written when a segment closes.
    DuePosition durable_cursor = kNoBacklog;

    QueueCounts counts;  // of the log: exact
    QueueTotals totals;
    Namespace* space = nullptr;       // where it counts, while it stands in the list of names
    std::unique_ptr<QueueConf> conf;  // null: the queue has no settings
    bool conf_in_batch = false;
    bool paused = false;                 // as conf says
    bool target_changed = false;         // and who posts has not been told yet
    std::optional<RetryRule> retry;      // likewise: whole
    MessageId purge_through = 0;         // as conf says
    std::uint64_t purging = 0;           // entries in memory that belong to the purge and have not ended
    std::uint64_t purged = 0;            // by the purge that is under way, since the process started
    DueMs newest_death_ms = 0;           // of a message that died here; of an earlier run at most as late
    DueMs discard_before_ms = 0;         // as conf says
    std::uint64_t discarded = 0;         // by the discard that is under way, since the process started
    std::optional<DueMs> dead_since_ms;  // a lower bound; nothing: none of its messages is dead
    // Puts that the batch of this number adds, where their number is limited.
    std::uint64_t puts_of_commit = 0;
    std::uint64_t puts_in_batch = 0;

    // What makes the name go again when nothing is in it (Engine::release_names).
    bool named = false;              // it stands in the list of names
    bool put_on_its_way = false;     // the batch has begun it, and somebody else since then
    bool only_waited_for = false;    // no record ever named it: the name goes with the last consumer
    SegmentNumber last_segment = 0;  // of the newest record about the queue

    bool marked = false;  // in the engine's list of queues to serve

    void lower_cursor(DuePosition to) { cursor = std::min(cursor, to); }
    bool has_backlog() const { return cursor != kNoBacklog || reading_from.has_value(); }
};

}  // namespace duewheel
