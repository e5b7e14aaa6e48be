// What one sealed segment changes in the index, ready to be written as one sorted table.
//
// The sealer makes it (sealer.h), the index takes it in (index.h); here stand the rules by which an effect becomes
// rows:
//   due    put where the clock has yet to move the message on: it waits for its due, which was still to come when that
//          was decided, and is not below the load cursor. A message that was due at once was ready at once.
//          And at the expiry of each unfinished message that has one, unless that lies below the load cursor: the
//          cursor passes no expiry that is not recorded. Coming back from the dead takes an expiry away.
//   order  put for each unfinished message with an order key.
//   queue  put for each unfinished message, held and prepared ones too. Dead messages have no queue row.
//   history one row for each end; eras that are too old or too much lose theirs.
//   id     put for each message: the whole row, or the outcome.
//   key    as worked out by the sealer.
//   dead   put for each dead message.
//   meta   the position, changed cursors and changed counts, and the ledger of the history.
//   settings  put for each queue that the segment gave settings.
// Rows that stood before are erased where they are not put again; `due` loses all rows below the load cursor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/history.h"
#include "store/key_layout.h"
#include "store/segment_effect.h"
#include "store/sorted_rows.h"

namespace duewheel {

struct SegmentTable {
    SegmentEffect effect;
    IndexPosition position;           // as of the segment's end
    DueMs load_cursor_before_ms = 0;  // there are no rows of `due` below it
    struct KeyRow {
        std::string row_key;              // of key_key()
        std::optional<KeyHolder> holder;  // nothing: erased
    };
    std::vector<KeyRow> keys;                                         // ascending, each key once
    std::map<QueueNumber, std::optional<DuePosition>> queue_cursors;  // changed ones; nothing: removed
    std::map<Sequence, std::uint64_t> needed;                         // changed counts, by a segment's first sequence
    std::map<QueueNumber, QueueCounts> queue_counts;                  // changed ones, as of the segment's end
    EraLedger history;                                                // as of the segment's end
    Era history_begins_before = 0;                                    // the first era that had rows
    Era history_era = 0;  // of this segment's ends; 0: it has none, or they are too old by now
    EraLedger outcomes;   // those that are kept, in bytes of the log, as of the segment's end
};

// Whether the message gets a row in `due`, with the load cursor that is in force at the segment's end.
bool has_due_row(const MessageEffect& message, DueMs load_cursor_ms);

// Whether it gets one at its expiry.
bool has_expire_row(const MessageEffect& message, DueMs expires_ms, DueMs load_cursor_ms);

// Gives the builder all operations in key order. O(n log n) in the messages of the segment.
void write_rows(const SegmentTable& table, TableBuilder& into);

}  // namespace duewheel
