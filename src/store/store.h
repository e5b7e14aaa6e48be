// What the store can be asked from outside the shard's thread, and how answers are dated.
//
// The log adds up to two tiers: the recent one in memory (recent_tier.h), owned by the shard, and the index on disk
// (index.h), built from full segments. The engine reads the recent tier itself; whatever only the index or the log
// knows it asks for with a Lookup, which a reader thread (or the simulator, in its own order) answers.
//
// Dating: the shard raises the table generation after a table was taken into the index and before it drops recent
// entries that the table covers. The reader notes the generation before it looks. An answer of an older generation than
// the current one is asked again; at the current one, whatever is newer than the answer stands in the recent tier, and
// the recent tier wins. This one rule keeps old iterators from bringing back what was cancelled, moved or finished.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "message/message.h"
#include "message/state_set.h"
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
// Who holds each of these idempotency keys, in their order.
struct FindKeys {
    struct Key {
        std::string name_space;
        std::string queue;
        std::string key;
    };
    std::vector<Key> keys;
};
// Messages that time has something to do to in [from, until): they fall due or expire. In the order of those times, at
// most `limit`; a message that does both in that stretch comes twice.
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
// Dead messages of a queue in [from, until), by (time of death, id), at most `limit`.
struct ScanDead {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t limit = 0;
};
// For who looks at a queue: its unfinished rows in [from, until) whose durable state is one of `states`, in due order,
// at most `limit`; at most `walk_max` rows are looked at, so that a rare state costs no more than a common one.
struct ListQueue {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    StateSet states;
    std::uint32_t limit = 0;
    std::uint32_t walk_max = 0;
};
// How many messages of a queue wait for their due time in each of the seconds [from, until): whole seconds, until
// `walk_max` rows have been looked at, and at least one.
struct CountSeconds {
    std::string name_space;
    std::string queue;
    Second from = 0;
    Second until = 0;
    std::uint32_t walk_max = 0;
};
// What falls due in [from, until), for who counts it: of a queue, or, where that is empty, of all of a namespace. At
// most `walk_max` rows are looked at, those of others among them.
struct ListDue {
    std::string name_space;
    std::string queue;
    DuePosition from;
    DueMs until_ms = 0;
    std::uint32_t walk_max = 0;
};
// Whole records (put, spawn, carry) at these places.
struct ReadRecords {
    std::vector<Sequence> log_positions;  // ascending
};

struct Lookup {
    std::uint64_t ticket = 0;  // comes back with the answer
    std::variant<FindMessage, FindKeys, ScanDue, ScanQueue, ScanOrder, ScanDead, ListQueue, ListHistory, ListDue,
                 CountSeconds, ReadRecords>
        what;
};

struct KeyHolder {
    MessageId id = 0;
    std::uint64_t request_hash = 0;
    DueMs due_ms = 0;    // what its put was answered
    DueMs ended_ms = 0;  // 0: the message is unfinished
};
// A key's holder and how that message stands.
struct KeyFacts {
    KeyHolder holder;
    State state = State::done;
    bool is_recurring = false;
};
struct Stretch {
    std::vector<MessageRow> rows;
    bool complete = true;  // false: `limit` was reached; go on at `next`
    DuePosition next;
};
struct ListedRows {
    std::vector<MessageRow> rows;
    std::optional<DuePosition> next;  // where to go on; nothing: there is no more
};
// Counts of as many seconds as were looked at, from the first on, as of the end of this segment.
struct SecondCounts {
    std::vector<std::uint32_t> counts;
    SegmentNumber through = 0;
};
// What it is that falls due.
enum class FallsDue : std::uint8_t { scheduled, retrying, loop };
// Of a message in this durable state; nothing where no delivery begins at its due time.
inline std::optional<FallsDue> falls_due(State durable, bool is_recurring) {
    if (!waits_for_due(durable)) return std::nullopt;
    if (is_recurring) return FallsDue::loop;
    return durable == State::retrying ? FallsDue::retrying : FallsDue::scheduled;
}
struct DueRows {
    struct Row {
        DueMs due_ms = 0;
        MessageId id = 0;
        FallsDue what = FallsDue::scheduled;

        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows;            // in due order
    std::optional<DuePosition> next;  // where to go on: `walk_max` rows were looked at; nothing: there is no more
};
struct RecordBytes {
    Sequence log_position = 0;
    std::string body;  // the record's body, for decode_record
    std::uint8_t kind = 0;
};

struct Answer {
    std::uint64_t ticket = 0;
    Generation generation = 0;
    std::variant<std::optional<MessageRow>, std::vector<std::optional<KeyFacts>>, Stretch, ListedRows, HistoryRows,
                 DueRows, SecondCounts, std::vector<RecordBytes>>
        what;
};

class Index;
class SegmentCatalog;

// Answers questions from the index and the log. Blocks on the disk; for one reader thread at a time, beside the sealer.
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
