// The history: one row for each message that ended, by queue and time, kept for a week or up to a size.
//
// It is a convenience outside the guarantees: built from end records when their segment is sealed, and lost with the
// index if those records have left the log. No decision depends on it.
//
// Bounded by eras. Rows of about a sixty-fourth of the bound, or of the time, form an era. Its number is the first part
// of their keys, so that the oldest era is erased as one range. The ledger, one row of the index, has the size and the
// last instant of each era. Rows of two eras never have the same instant, so eras are ordered by time.
//
//     h [era][namespace][queue][instant][id] -> outcome, cause, attempts, lateness, wait  m h -> ledger
//
// All of it follows from the records and from the server time in their footers: a rebuilt index has the same
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "message/message.h"
#include "message/records/record.h"
#include "message/state_set.h"
#include "store/queue_names.h"

namespace duewheel {

struct HistoryBounds {
    std::int64_t keep_ms = 7LL * 24 * 60 * 60 * 1000;
    std::uint64_t bytes_max = 1ull << 30;  // of keys and values before compression
};

// How one message ended; a redriven one can end again.
struct EndedRow {
    MessageId id = 0;
    State outcome = State::done;
    Cause cause = Cause::none;
    bool maybe_delivered = false;
    std::uint32_t attempts = 0;
    DueMs ended_ms = 0;
    std::int64_t lateness_ms = 0;  // of the delivery that ended it; 0 if there was none
    std::int64_t wait_ms = 0;      // before that

    bool operator==(const EndedRow&) const = default;
};
// The row that an end record becomes.
EndedRow ended_row(const MessageRecord& end);

// Whether an end appears in the history of its queue: in memory by the number of the queue.
struct EndInQueue {
    EndedRow row;
    QueueNumber queue = 0;
};

using Era = std::uint32_t;

// The size of each era. The outcomes that are kept (store/maintenance/retention.h) are counted with a ledger too, but
// their rows have no era.
class EraLedger {
  public:
    struct Entry {
        Era era = 0;
        std::uint64_t bytes = 0;
        DueMs from_ms = 0;   // of its first row
        DueMs until_ms = 0;  // of its last

        bool operator==(const Entry&) const = default;
    };

    // The era for rows that ended from `first_ms` to `last_ms` and have this size. They come in the order of time.
    Era add(std::uint64_t bytes, DueMs first_ms, DueMs last_ms, const HistoryBounds& bounds);
    // Removes eras that are too old or too large, oldest first; the newest is kept unless it is too old. All eras below
    // `first_era()` are then removed.
    void shrink(DueMs now_ms, const HistoryBounds& bounds);

    const std::vector<Entry>& entries() const { return entries_; }
    // The smallest number that is or will be in use.
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

// Keys and values. `history_bound` is the start of an era's rows.
std::string history_key(Era era, std::string_view name_space, std::string_view queue, DueMs ended_ms, MessageId id);
std::string history_bound(Era era);
std::string history_ledger_key();
std::string outcome_ledger_key();
void encode_history_value(std::string& out, const EndedRow& row);
Result<EndedRow> decode_history_row(std::string_view key, std::string_view value);
// The size of history_key() and encode_history_value() together, within a few bytes.
std::uint64_t history_row_bytes(std::string_view name_space, std::string_view queue);

// A query of a queue's history: the rows in [from, until) with one of these outcomes, or of one message, oldest first,
// at most `limit`; at most `walk_max` rows are read.
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
    // Where to continue; none: there is no more.
    struct Next {
        DueMs ended_ms = 0;
        MessageId id = 0;
    };
    std::optional<Next> next;
};

}  // namespace duewheel
