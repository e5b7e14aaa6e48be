// Limits per second: a queue with `per_second` in its settings accepts no put, and no moved message, into a future
// second in which that many messages are due already. With `flex` the queue may choose a later second with capacity,
// the first one.
//
// The number of messages due in a second is known exactly (store/second_ledger.h): the applied state, and what the
// batch in construction adds. The index is looked up once for a second; until it contains everything that existed when
// the limit was set, the queue's puts wait. Messages of the server itself (retries, later occurrences, schedules,
// watchdogs, commits) count and are never moved: they would be late, or lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/core/command_queue.h"
#include "engine/settings/queues.h"

namespace duewheel {

// The maximum of a queue's limit per second.

class Seconds
    : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, OpenSegment, TimeRules, BatchWriter> {
  public:
    using Taken = std::map<std::pair<QueueNumber, Second>, std::uint32_t>;
    // When a message may be due.
    struct Search {
        enum class What : std::uint8_t {
            place,         // at `due_ms`
            full,          // not in the time that was given
            needs_lookup,  // the index knows, from `from` on
            wait,          // the index must contain earlier records first
        };
        What what = What::place;
        DueMs due_ms = 0;
        Second from = 0;
    };

    // What is known of a put before a second is chosen for it.
    struct Wish {
        bool needs_one = true;        // false: it adds no message
        std::optional<Second> own{};  // of the message that it replaces
        DueMs latest_ms = INT64_MAX;
    };

    Seconds(const Uses& uses, Queues& queues, CommandQueue& commands)
        : Uses(uses), queues_(queues), commands_(commands) {}

    static Status check_flex(std::int64_t flex_ms);
    // How much later than `due` it may be; it must be due before `before_ms`, if that is not 0.
    DueMs latest_due(DueMs due, std::int64_t flex_ms, DueMs before_ms) const;
    // The first of `due`, a second later, ... up to `latest` in a second with capacity. `taken`: other messages that
    // are about to be added to seconds. `own`: the second in which the message is due now.
    Search find(QueueNumber queue, DueMs due, DueMs latest, const Taken& taken, std::optional<Second> own) const;
    // Why a command cannot be decided yet, if the search has no result.
    std::optional<Verdict> await(const Search& search, PendingCommand& pending, QueueNumber queue, DueMs latest);
    // Nothing if the count of every second is known that the puts need, each after the puts before it; otherwise why
    // they cannot be decided yet. The seconds chosen later are not later than these, because some puts may be refused.
    // `wishes`: empty if none differs from the default.
    std::optional<Verdict> find_all(PendingCommand& pending, std::span<const PutCommand> puts,
                                    std::span<const Wish> wishes);
    // Chooses a second for a message; all counts are known.
    Result<DueMs> place(QueueNumber queue, DueMs due, DueMs latest, std::optional<Second> own);
    // The batch in construction adds a message that is due then.
    void count(QueueNumber queue, DueMs due);
    // Changes are recorded from the open segment on; it is closed, so that it is soon in the index.
    void have_counted(QueueNumber queue);

    void finish(SecondsLookup lookup, const SecondCounts& counts, Generation generation);

  private:
    Error full(QueueNumber queue, DueMs due, DueMs latest);

    Queues& queues_;
    CommandQueue& commands_;
};

}  // namespace duewheel
