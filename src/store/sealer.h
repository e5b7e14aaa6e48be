// Sealing: turns a full segment into one table of the index.
//
// The result depends only on that immutable file and on the index, never on the memory of the engine, and is as of the
// segment's own last footer. So a position says exactly what is in the index, and sealing while the log grows gives the
// same rows as a rebuild.
//
// After each table: every message that waits for its due time has a row in `due` at or above the load cursor, or is at
// or above the cursor of its queue. So a restart that loads from the cursors finds all of them.
//
// Blocks on the disk; the server calls it on a separate thread, the simulator at any time.
#pragma once

#include "base/status.h"
#include "journal/segment_catalog.h"
#include "store/index.h"

namespace duewheel {

// Adds the closed segment that follows the index's position to the index. The catalog has it and all segments before it
// that still exist.
// Codes: `no_space` (nothing has changed; try again later); `damaged_log`, `newer_format`, `damaged_index`, `io_error`:
// the process must stop.
// 250,000 messages take about half a second.
Status seal_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index);

// The same for the newest segment, as far as it is filled: for an index of a log that is only read, to which nothing is
// added afterwards.
Status seal_open_segment(const SegmentFile& segment, const SegmentCatalog& catalog, Index& index);

// The table of such a segment. `first_sequences` are those of all existing segments, ascending.
Result<SegmentTable> make_segment_table(SegmentEffect effect, const IndexPosition& end,
                                        const std::vector<Sequence>& first_sequences, const Index& index);

}  // namespace duewheel
