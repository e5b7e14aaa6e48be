// Lookups that go to the store from outside the shard's thread, and the generation of their results.
//
// The state of the log is in two tiers: the recent one in memory (recent_tier.h), owned by the shard, and the index on
// disk (index.h), built from full segments. The engine reads the recent tier itself. For data that only the index or
// the log has, it sends a Lookup, which a reader thread (or the simulator, in its own order) executes.
//
// Generations: the shard increments the table generation after a table was added to the index and before it drops
// recent entries that the table covers. The reader notes the generation before it reads. A result of an older
// generation is looked up again. With a result of the current one, everything newer than the result is in the recent
// tier, which wins. This single rule prevents outdated reads from restoring what was cancelled, moved or finished.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/boxed.h"
#include "base/status.h"
#include "message/message.h"
#include "message/state_set.h"
#include "store/due_counts.h"
#include "store/history.h"
#include "store/recent_tier.h"

namespace duewheel {

using Generation = std::uint64_t;

// A position in due order. Ordered by (due_ms, id).
struct DuePosition {
    DueMs due_ms = 0;
    MessageId id = 0;

    auto operator<=>(const DuePosition&) const = default;
};

struct FindMessage {
    MessageId id = 0;
};
// The holders of these idempotency keys, in the same order.
struct FindKeys {
    struct Key {
        std::string name_space;
        std::string queue;
        std::string key;
    };
    std::vector<Key> keys;
};
// Messages to which something happens by time in [from, until): they become due or expire. Ordered by those times, at
// most `limit`; a message with both in the range appears twice.
struct ScanDue {
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
struct ScanQueue {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
// Unfinished messages of an order key, by (nominal due, id): from `from` on, at most `limit`.
struct ScanOrder {
    std::string name_space;
    std::string queue;
    std::string order_key;
    DuePosition from;
    std::uint32_t limit = 0;
};
// Unfinished messages of a group of a queue in [from, until), in due order, at most `limit`.
struct ScanGroup {
    std::string name_space;
    std::string queue;
    std::string group;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
// The groups of a queue that have unfinished messages in the index, after this one, each with its first message: at
// most `limit`, in the order of the index.
struct ScanGroups {
    std::string name_space;
    std::string queue;
    std::string after;  // empty: from the first
    std::uint32_t limit = 0;
};
// Dead letters of a queue in [from, until), by (time of death, id), at most `limit`.
struct ScanDead {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
// For listings: the unfinished rows of a queue in [from, until) whose durable state is one of `states`, in due order,
// at most `limit`; at most `walk_max` rows are read, so that a rare state costs no more than a common one.
struct ListQueue {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    StateSet states;
    std::uint32_t limit = 0;
    std::uint32_t walk_max = 0;
};
// For forecasts: the messages that become due in [from, until), of a queue, or of the whole namespace if `queue` is
// empty. At most `walk_max` rows are read, including those of other queues.
struct ListDue {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t walk_max = 0;
};
// The same as counts, without ids: for each minute from `from_ms`, a whole one, on. At most `limit` minutes.
struct CountDue {
    std::string name_space;
    std::string queue;
    DueMs from_ms = 0;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
// Whole records (put, spawn, relocate) at these positions.
struct ReadRecords {
    std::vector<Sequence> log_positions;  // ascending
};

struct Lookup {
    std::uint64_t ticket = 0;  // returned with the result
    std::variant<FindMessage, FindKeys, ScanDue, ScanQueue, ScanOrder, ScanGroup, ScanGroups, ScanDead, ListQueue,
                 ListHistory, ListDue, CountDue, ReadRecords>
        what;
};

struct KeyHolder {
    MessageId id = 0;
    std::uint64_t request_hash = 0;
    DueMs due_ms = 0;    // the due time in the response to its put
    DueMs ended_ms = 0;  // 0: the message is unfinished
};
// The holder of a key and the state of that message.
struct KeyFacts {
    KeyHolder holder;
    State state = State::done;
    bool is_recurring = false;
    Boxed<MessageRow> row{};  // of an unfinished message, as in the index
};
struct Stretch {
    std::vector<MessageRow> rows;
    bool complete = true;  // false: `limit` was reached; continue at `next`
    DuePosition next;
};
struct GroupStart {
    std::string group;
    DuePosition first;
};
struct GroupStarts {
    std::vector<GroupStart> groups;
    bool complete = true;  // false: `limit` was reached; continue after the last one
};
struct ListedRows {
    std::vector<MessageRow> rows;
    std::optional<DuePosition> next;  // where to continue; none: there is no more
};
struct DueRows {
    struct Row {
        DueMs due_ms = 0;
        MessageId id = 0;
        FallsDue what = FallsDue::scheduled;

        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows;            // in due order
    std::optional<DuePosition> next;  // where to continue: `walk_max` rows were read; none: there is no more
};
struct DueMinutes {
    struct Row {
        DueMs start_ms = 0;
        DueCounts counts;

        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows;      // without empty minutes
    std::optional<DueMs> next;  // where to continue: there are `limit` rows; none: there is no more
    std::uint64_t segment = 0;  // as of its end
};
struct RecordBytes {
    Sequence log_position = 0;
    std::string body;  // the record's body, for decode_record
    std::uint8_t kind = 0;
};
// The record at this position, of a result of ReadRecords; null if the log does not have it.
const RecordBytes* find_record(const std::vector<RecordBytes>& records, Sequence log_position);

struct Answer {
    std::uint64_t ticket = 0;
    Generation generation = 0;
    std::variant<std::optional<MessageRow>, std::vector<std::optional<KeyFacts>>, Stretch, GroupStarts, ListedRows,
                 HistoryRows, DueRows, DueMinutes, std::vector<RecordBytes>>
        what;
};

class Index;
class SegmentCatalog;

// Executes lookups in the index and the log. Blocks on the disk; for one reader thread at a time, beside the sealer.
// An Error is a fatal error: the process must stop.
class StoreReader {
  public:
    // `generation` is written by the shard's thread alone.
    StoreReader(const Index& index, const SegmentCatalog& segments, const std::atomic<Generation>& generation)
        : index_(index), segments_(segments), generation_(generation) {}

    Result<Answer> answer(const Lookup& lookup) const;

  private:
    const Index& index_;
    const SegmentCatalog& segments_;
    const std::atomic<Generation>& generation_;
};

}  // namespace duewheel
