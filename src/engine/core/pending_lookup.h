// What waits for the result of a lookup: one struct for each reason to look something up.
//
// `Found` is the alternative of Answer::what with the result. With `kIsAwaited`, a client waits for the result, so the
// engine is not idle before it comes. `shown_bytes` are content that is read only to be shown to a client; their sum is
// limited.
//
// A new reason is a struct here, the call of Lookups::start() that passes it, and a function `finish` of a part of the
// engine that takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/commands/command.h"
#include "engine/commands/delivery.h"
#include "engine/core/pending_command.h"
#include "store/store.h"

namespace duewheel {

using FoundRecords = std::vector<RecordBytes>;

// ---- commands

// The message that a command identifies.
struct FactsLookup {
    using Found = std::optional<MessageRow>;
    static constexpr bool kIsAwaited = true;
    PendingCommand command;
};
// The holders of the keys of its puts, or of the key that identifies its message.
struct KeysLookup {
    using Found = std::vector<std::optional<KeyFacts>>;
    static constexpr bool kIsAwaited = true;
    PendingCommand command;
};
// The whole record of the schedule, watchdog or message that it changes in part.
struct WholeRuleLookup {
    using Found = FoundRecords;
    static constexpr bool kIsAwaited = true;
    PendingCommand command;
};

// ---- content for replies

struct DeliveryLookup {
    using Found = FoundRecords;
    static constexpr bool kIsAwaited = true;
    Delivery delivery;
};
struct MessageLookup {
    using Found = FoundRecords;
    static constexpr bool kIsAwaited = true;
    ReplyToken token = 0;
    MessageAnswer answer;
    std::size_t shown_bytes = 0;
};
// The content of a schedule or a watchdog.
template <class Answer>
struct RuleLookup {
    using Found = FoundRecords;
    static constexpr bool kIsAwaited = true;
    ReplyToken token = 0;
    Answer answer;
    std::size_t shown_bytes = 0;
};

// ---- pages

// A page of unfinished messages; the entries in memory were scanned first (listings.h).
struct ListingLookup {
    using Found = ListedRows;
    ReplyToken token = 0;
    ListCommand command;
    EntryNumber walked_to = 0;
    std::vector<DuePosition> nearest;        // a heap, the last on top; at most as many as the page can have
    std::optional<DuePosition> known_up_to;  // beyond it there were more than `nearest` can hold
};
struct DeadListingLookup {
    using Found = Stretch;
    ReplyToken token = 0;
    ListCommand command;
};
struct HistoryLookup {
    using Found = HistoryRows;
    ReplyToken token = 0;
    HistoryCommand command;
};
// The next counts for the forecast in progress, and the next rows.
struct ForecastCountLookup {
    using Found = DueMinutes;
};
struct ForecastLookup {
    using Found = DueRows;
};

// ---- messages on disk

// What is due in [from, until).
struct DueLookup {
    using Found = Stretch;
    DuePosition from;
    DueMs until_ms = 0;
};
// The backlog of a queue.
struct BacklogLookup {
    using Found = Stretch;
    QueueNumber queue = 0;
    DuePosition from;
};
// The backlog of one group.
struct GroupLookup {
    using Found = Stretch;
    QueueNumber queue = 0;
    GroupNumber group = kNoGroup;
    DuePosition from;
};
// Which groups of a queue are on disk.
struct GroupsLookup {
    using Found = GroupStarts;
    QueueNumber queue = 0;
};
// The first messages of an order key.
struct OrderLookup {
    using Found = Stretch;
    std::string line;
    DuePosition from;
};
// Dead letters for the walk with this number.
struct DeadLookup {
    using Found = Stretch;
    std::uint64_t walk = 0;
};
struct PurgeLookup {
    using Found = Stretch;
    QueueNumber queue = 0;
    DuePosition from;
};
// Bodies of messages that are due soon, for the record cache; of the next messages of a queue, if it is named.
struct PrefetchLookup {
    using Found = FoundRecords;
    QueueNumber queue = kNoQueue;
};

// ---- due work, whose content a batch needs

struct SpawnLookup {
    using Found = FoundRecords;
};
struct PreparedLookup {
    using Found = FoundRecords;
};
struct RunLookup {
    using Found = FoundRecords;
};
// The newest run of the schedule at this position among those in preparation.
struct LastRunLookup {
    using Found = std::optional<MessageRow>;
    std::size_t run = 0;
};
struct FiringLookup {
    using Found = FoundRecords;
};

using PendingLookup =
    std::variant<FactsLookup, KeysLookup, WholeRuleLookup, DeliveryLookup, MessageLookup, RuleLookup<ScheduleAnswer>,
                 RuleLookup<WatchdogAnswer>, ListingLookup, DeadListingLookup, HistoryLookup, ForecastCountLookup,
                 ForecastLookup, DueLookup, BacklogLookup, GroupLookup, GroupsLookup, OrderLookup, DeadLookup,
                 PurgeLookup, PrefetchLookup, SpawnLookup, PreparedLookup, RunLookup, LastRunLookup, FiringLookup>;

}  // namespace duewheel
