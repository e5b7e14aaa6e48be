// What a start does with the index: opens it, discards it if it does not fit the log, and seals missing segments. The
// log is authoritative; the index only saves the time to read it again.
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
    std::optional<std::string> discarded;  // why the previous one was discarded, for the operator's log
};

// Opens the index, or an empty one if it is missing, damaged, of another log, or so old that the log no longer reaches
// back to it. Codes: `damaged_log` (the index contains records that the log has lost: nothing was changed),
// `newer_format` (nothing was changed), `no_space`, `io_error`. The arguments must outlive the index.
Result<OpenedIndex> open_index(RowStorage& storage, const Retention& retention, const SegmentCatalog& catalog);

// Seals, in order, each full segment that is not in the index yet. Codes as of seal_segment(); after `no_space` it can
// be called again and continues.
Status seal_missing(const SegmentCatalog& catalog, Index& index);

}  // namespace duewheel
