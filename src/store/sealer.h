// Sealing: a full segment becomes one table of the index.
//
// Everything is worked out from that immutable file and from the index as it stands, never from the memory of the
// engine, and as of the segment's own last footer: so a position says exactly what is in the index, and sealing as the
// log grows gives the same rows as rebuilding from it.
//
// After each table holds: every message that waits for its due has a row in `due` at or above the load cursor, or
// stands at or above its queue's cursor. So a restart that loads from the cursors loses none.
//
// Blocks on the disk; a plain call that the server makes on a thread of its own, the simulator whenever it likes.
#pragma once

#include "base/status.h"
#include "journal/segment_catalog.h"
#include "store/index.h"

namespace duewheel {

// Takes the closed segment that follows the index's position into the index. The catalog holds it and all segments
// before it that are still there.
// Codes: `no_space` (nothing has changed; try again later); `damaged_log`, `newer_format`, `damaged_index`, `io_error`:
// the process must stop.
// 250,000 messages take about half a second.
Status seal_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index);

// The same for the newest segment, as far as it is filled: for an index of a log that is only read, and into which
// nothing is taken in after it.
Status seal_open_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index);

// The table of such a segment. `first_sequences` are those of all segments that are there, ascending.
Result<SegmentTable> make_segment_table(SegmentEffect effect, const IndexPosition& end,
                                        const std::vector<Sequence>& first_sequences, const Index& index);

}  // namespace duewheel
