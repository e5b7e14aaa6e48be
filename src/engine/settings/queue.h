// One queue of a shard: its ready messages in delivery order, its waiting consumers, and the position up to which its
// part on disk has been read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "engine/commands/queue_totals.h"
#include "engine/core/lazy_heap.h"
#include "engine/messages/group.h"
#include "engine/messages/ready_list.h"
#include "engine/settings/namespace_table.h"
#include "message/queue_counts.h"
#include "message/retry_rule.h"
#include "resource/queue_settings.h"
#include "store/store.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

// Due order of everything in memory that is ready or leased.
struct FiredKey {
    DuePosition position;
    EntryNumber entry = kNoEntry;

    bool operator<(const FiredKey& other) const { return position < other.position; }
};

// The settings of a queue and their position in the log.
struct QueueConf {
    QueueSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

// Its members are grouped by the part that changes them.
struct Queue {
    // Lifecycle.
    ReadyList ready;  // of messages without a group; Dispatcher takes from it
    LazyHeap<FiredKey> fired;
    std::uint32_t ready_count = 0;
    std::uint32_t leased_count = 0;
    std::uint32_t line_lookups = 0;  // of its order keys: a lookup must find the first message
    std::uint64_t purging = 0;       // entries in memory that belong to the purge and have not ended
    std::uint64_t purged = 0;        // by the current purge, since the process started
    std::uint64_t discarded = 0;     // by the current discard, since the process started

    // Turns.
    std::unique_ptr<GroupLine> line;  // null: none of its messages has a group
    DeliveryPace pace;
    LimitedBy limited_by = LimitedBy::nothing;  // a limit of the queue itself, while it has ready messages
    DueMs limited_since_ms = 0;
    TimerHandle turn_timer;
    DueMs turn_timer_ms = 0;  // 0: none

    // Dispatcher.
    std::deque<std::uint64_t> waiters;
    std::uint32_t brief_waiters = 0;  // of them: they wait only for the current read
    DueMs asked_ms = 0;               // of the newest request of a consumer

    // Loader. `cursor` also Lifecycle, when it drops a due message.
    DuePosition cursor = kNoBacklog;          // lower bound of the due, unfinished messages that are only on disk
    std::optional<DuePosition> reading_from;  // while a range is being read; `cursor` then has what came below since
    // The index may have groups after this one that are not known; nothing: all are.
    std::optional<std::string> groups_to_find;
    bool is_finding_groups = false;
    // The cursor in the log: a lower bound of all due, unfinished ones. Written when a segment closes.
    DuePosition durable_cursor = kNoBacklog;

    // Settings.
    std::unique_ptr<QueueConf> conf;               // null: the queue has no settings
    std::unique_ptr<QueueSettings> next_settings;  // by the batch that is being built or in flight
    bool paused = false;                           // as in conf
    DueMs resumed_ms = 0;                          // when the newest pause of this run ended
    // By kind of target: it changed, and the pusher was not notified yet.
    std::array<bool, kTargetKinds> target_changed{};
    std::optional<RetryRule> retry;  // as in conf: whole
    MessageId purge_through = 0;     // as in conf
    DueMs discard_before_ms = 0;     // as in conf

    // Queues.
    QueueCounts counts;  // of the log: exact
    QueueTotals totals;
    // Puts added by the batch with this number, if their number is limited.
    std::uint64_t puts_of_commit = 0;
    std::uint64_t puts_in_batch = 0;
    Namespace* space = nullptr;      // where it counts, while it is in the list of names
    bool named = false;              // it is in the list of names, until release_names() finds that nothing needs it
    bool put_on_its_way = false;     // the batch creates it, and so did another command since then
    bool only_waited_for = false;    // no record ever had the name: it goes with the last consumer
    bool marked = false;             // the next iteration serves it
    SegmentNumber last_segment = 0;  // of the newest record of the queue

    // Engine.
    DueMs newest_death_ms = 0;  // of a dead letter of this queue; of an earlier run at the latest

    void lower_cursor(DuePosition to) { cursor = std::min(cursor, to); }
    bool has_target_changed() const { return target_changed[0] || target_changed[1]; }
    const RateRule* rate() const { return conf && conf->settings.rate ? &*conf->settings.rate : nullptr; }
    bool has_backlog() const { return cursor != kNoBacklog || reading_from.has_value(); }
};

}  // namespace duewheel
