// What happened: one row for each message that ended, by queue and time, kept for a week or up to a size.
//
// It is a convenience beside the promises: built from end records when their segment is sealed, and gone with the index
// where those records have left the log meanwhile. Nothing is decided by it.
//
// Bounded by eras. Rows of about a sixty-fourth of the bound, or of the time, make an era; its number is the first part
// of their keys, so that the oldest era goes as one range. The ledger, one row of the index, tells of each era how much
// there is and until when. Rows of two eras never have the same instant, so that eras are in the order of time.
//
//     h [era][namespace][queue][instant][id] -> outcome, cause, attempts, lateness        m h -> ledger
//
// All of it follows from the records and from the server time in their footers: an index that is built again has the
// same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "message/message.h"
#include "message/record.h"
#include "message/state_set.h"
#include "store/queue_names.h"

namespace duewheel {

struct HistoryBounds {
    std::int64_t keep_ms = 7LL * 24 * 60 * 60 * 1000;
    std::uint64_t bytes_max = 1ull << 30;  // of keys and values before compression
};

// How one message ended; one that is redriven may end again.
struct EndedRow {
    MessageId id = 0;
    State outcome = State::done;
    Cause cause = Cause::none;
    bool maybe_delivered = false;
    std::uint32_t attempts = 0;
    DueMs ended_ms = 0;
    std::int64_t lateness_ms = 0;  // of the delivery that ended it; 0 where none did

    bool operator==(const EndedRow&) const = default;
};
// As it stands in an end record.
EndedRow ended_row(const Record& end);

// Whether an end shows up in the history of its queue: in memory by the queue's number.
struct EndInQueue {
    EndedRow row;
    QueueNumber queue = 0;
};

using Era = std::uint32_t;

// How much there is of each era. The outcomes that are kept (store/retention.h) are counted with a ledger too; no row
// of theirs names an era.
class EraLedger {
  public:
    struct Entry {
        Era era = 0;
        std::uint64_t bytes = 0;
        DueMs from_ms = 0;   // of its first row
        DueMs until_ms = 0;  // of its last

        bool operator==(const Entry&) const = default;
    };

    // The era for rows that ended from `first_ms` to `last_ms` and take so many bytes. They come in the order of time.
    Era add(std::uint64_t bytes, DueMs first_ms, DueMs last_ms, const HistoryBounds& bounds);
    // Drops what is too old or too much, oldest first; the newest is kept unless it is too old. The eras that went are
    // those below `first_era()` now.
    void shrink(DueMs now_ms, const HistoryBounds& bounds);

    const std::vector<Entry>& entries() const { return entries_; }
    // The least number that is or will be in use.
    Era first_era() const { return entries_.empty() ? next_ : entries_.front().era; }
    std::uint64_t bytes() const;

    void encode(std::string& out) const;
    // Code `damaged_index`.
    static Result<EraLedger> decode(std::string_view value);

    bool operator==(const EraLedger&) const = default;

  private:
    std::vector<Entry> entries_;
    Era next_ = 1;
};

// Keys and values. `history_bound` is where an era's rows begin.
std::string history_key(Era era, std::string_view name_space, std::string_view queue, DueMs ended_ms, MessageId id);
std::string history_bound(Era era);
std::string history_ledger_key();
std::string outcome_ledger_key();
void encode_history_value(std::string& out, const EndedRow& row);
Result<EndedRow> decode_history_row(std::string_view key, std::string_view value);
// What history_key() and encode_history_value() take together, at most a few bytes less.
std::uint64_t history_row_bytes(std::string_view name_space, std::string_view queue);

// For who looks at a queue's history: the rows in [from, until) with one of these outcomes, or of one message, oldest
// first, at most `limit`; at most `walk_max` rows are looked at.
struct ListHistory {
    std::string name_space;
    std::string queue;
    DueMs from_ms = 0;
    MessageId from_id = 0;
    DueMs until_ms = 0;
    StateSet outcomes;
    std::uint32_t limit = 0;
    std::uint32_t walk_max = 0;
    MessageId id = 0;  // 0: of all

    bool wants(const EndedRow& row) const { return outcomes.contains(row.outcome) && (id == 0 || row.id == id); }
};
struct HistoryRows {
    std::vector<EndedRow> rows;
    // Where to go on; nothing: there is no more.
    struct Next {
        DueMs ended_ms = 0;
        MessageId id = 0;
    };
    std::optional<Next> next;
};

}  // namespace duewheel
