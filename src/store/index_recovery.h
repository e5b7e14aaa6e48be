// What a start does with the index: opens it, throws it away where the log says that it is of no use, and seals what is
// missing. The log is the truth; the index only saves the time to read it again.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "journal/segment_catalog.h"
#include "store/index.h"

namespace duewheel {

struct OpenedIndex {
    std::unique_ptr<Index> index;
    std::optional<std::string> discarded;  // why the one that was there was thrown away: for the operator's log
};

// Opens the index, or an empty one where it is missing, damaged, of another log, or so old that the log no longer
// reaches back to it. Codes: `damaged_log` (the index knows records that the log has lost: nothing was changed),
// `newer_format` (nothing was changed), `no_space`, `io_error`. The arguments outlive the index.
Result<OpenedIndex> open_index(RowStorage& storage, const Retention& retention, const SegmentCatalog& catalog);

// Seals, in order, each full segment that the index does not hold yet. Codes as of seal_segment(); after `no_space` it
// may be called again and goes on where it was.
Status seal_missing(const SegmentCatalog& catalog, Index& index);

}  // namespace duewheel
