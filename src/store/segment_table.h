// The changes of one sealed segment to the index, ready to be written as one sorted table.
//
// The sealer creates it (sealer.h), and the index adds it (index.h). These are the rules by which an effect becomes
// rows:
//   due    put if time has yet to move the message on: it waits for its due time, which was in the future when that was
//          decided, and is not below the load cursor. A message due at once was ready at once.
//          Also at the expiry of each unfinished message that has one, unless that is below the load cursor: the
//          cursor passes no expiry that is not recorded. A redrive removes the expiry.
//   forecast put for each minute of a queue, and of a namespace, in which another number of messages becomes due than
//          before; erased if it is 0.
//   order  put for each unfinished message with an order key.
//   queue  put for each unfinished message, held and prepared ones too. Dead letters have no queue row.
//   history one row for each end; eras that are too old or too large lose theirs.
//   id     put for each message: the whole row, or the outcome.
//   key    as determined by the sealer.
//   lease  put for each unfinished message whose newest record holds a lease that lasts beyond the segment's end.
//   dead   put for each dead letter.
//   meta   the position, changed cursors and changed counts, and the ledger of the history.
//   settings  put for each queue that the segment gave settings.
// Earlier rows are erased unless they are put again; `due` loses all rows below the load cursor, and `lease` those of
// leases that are over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
    std::vector<std::pair<DueMinute, DueCounts>> due_counts;  // the same of what becomes due in each minute; sorted
    EraLedger history;                                        // as of the segment's end
    Era history_begins_before = 0;                            // the first era that had rows
    Era history_era = 0;                    // of this segment's ends; 0: none, or they are too old now
    EraLedger outcomes;                     // those that are kept, in bytes of the log, as of the segment's end
    std::vector<DuePosition> ended_leases;  // rows of leases to erase, in the order of their keys
};

// Whether the message gets a row in `due`, with the load cursor that is in force at the end of the segment.
bool has_due_row(const MessageEffect& message, DueMs load_cursor_ms);

// Whether it gets one at its expiry.
bool has_expire_row(const MessageEffect& message, DueMs expires_ms, DueMs load_cursor_ms);

// Adds all operations to the builder in key order. O(n log n) in the messages of the segment.
void write_rows(const SegmentTable& table, TableBuilder& into);

}  // namespace duewheel
