// A group of a queue, and whose turn it is in that queue.
//
// A group exists here while it has a message that is ready, leased or due on disk, settings of its own, or a pace that
// is not full again: some 200 bytes with its name. Messages that are not due yet need none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "engine/commands/commands_of_groups.h"
#include "engine/core/lazy_heap.h"
#include "engine/messages/delivery_pace.h"
#include "engine/messages/ready_list.h"
#include "resource/group_settings.h"

namespace duewheel {

// Settings of a group, and their position in the log.
struct GroupConf {
    GroupSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

struct Group {
    LazyHeap<ReadyKey> ready;  // by priority, then due time
    std::uint32_t ready_count = 0;
    std::uint32_t leased_count = 0;
    std::uint32_t behind = 0;                   // due messages on disk, as far as this run dropped them
    std::uint16_t credit = 0;                   // deliveries left in its turn
    bool in_turn : 1 = false;                   // it is in the line of its queue
    bool is_to_read : 1 = false;                // in the queue's list of those whose messages are to be read
    bool is_reading : 1 = false;                // from `cursor`
    bool is_counted : 1 = true;                 // `behind` is all that is on disk
    LimitedBy limited_by = LimitedBy::nothing;  // a limit of its own, while it has ready messages
    DueMs limited_since_ms = 0;
    DuePosition cursor = kNoBacklog;  // lower bound of the due ones that are only on disk
    DueMs paused_until_ms = 0;        // 0: it does not wait for a time
    DeliveryPace pace;
    std::unique_ptr<GroupConf> conf;  // null: it has the settings that its queue has for all

    std::uint16_t weight() const {
        return conf && conf->settings.weight != 0 ? static_cast<std::uint16_t>(conf->settings.weight) : 1;
    }
    bool has_backlog() const { return cursor != kNoBacklog || is_reading; }
    // When the first of its ready messages was due; 0: it has none.
    DueMs oldest_due_ms() const {
        DuePosition oldest = cursor;
        ready.visit_first(1, [&](const ReadyKey& key) { oldest = std::min(oldest, key.position); });
        return ready_count == 0 && !has_backlog() ? 0 : oldest.due_ms;
    }
};
static_assert(sizeof(Group) <= 88, "a million groups have something due");

// The groups of one queue that have ready messages, in turns.
struct GroupLine {
    // The group that is served next is at the front; messages without a group take a turn as kNoGroup.
    std::deque<GroupNumber> turns;
    bool plain_in_turn = false;
    std::uint32_t groups = 0;         // known of this queue
    std::uint32_t with_ready = 0;     // of them, those that have ready messages
    std::uint32_t grouped_ready = 0;  // their messages
    std::uint32_t limited = 0;        // of them, those that a limit of their own keeps

    // A group that time alone frees again.
    struct Paused {
        DueMs until_ms = 0;
        GroupNumber group = kNoGroup;

        bool operator<(const Paused& other) const { return until_ms < other.until_ms; }
    };
    LazyHeap<Paused> paused;

    // Reading from disk.
    std::deque<GroupNumber> to_read;
    // Those that are being read, each with a lower bound of what came meanwhile, which the reading may not find.
    std::map<GroupNumber, DuePosition> reading;
    struct Cursor {
        DuePosition position;
        GroupNumber group = kNoGroup;

        bool operator<(const Cursor& other) const { return position < other.position; }
    };
    LazyHeap<Cursor> cursors;  // outdated ones among them
};

}  // namespace duewheel
