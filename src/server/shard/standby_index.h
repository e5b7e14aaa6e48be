// The index of a standby node: seals the full segments of its log, so that a takeover has only the newest ones to read,
// and removes the segments that the owner has released, so that its disk does not grow.
//
// It adds the same tables as the owner, because a table depends on its segment and on the index alone. What may be
// removed is in the log itself: a relocation-done record says that nothing before it is needed, and the index,
// which has that record, confirms it. It has the record when its segment is sealed, so a standby node keeps a few
// segments more than the owner.
//
// An index that was built here has never been compared with the log's totals. That happens once, when the node has read
// everything that the topic has: only then an index that began inside the log has all relocated records.
//
// Blocks; one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/log.h"
#include "journal/local_journal.h"
#include "store/index.h"
#include "store/maintenance/retention.h"
#include "store/sorted_rows.h"

namespace duewheel {

class StandbyIndex {
  public:
    StandbyIndex(RowStorage& rows, Retention& retention, LogSink& log)
        : rows_(rows), retention_(retention), log_(log) {}

    // Does one step: a segment is sealed, or segments are removed, or the index is compared. False: there is nothing to
    // do now, or no space for it. `is_caught_up`: the node has read everything that the topic had.
    // Codes: `damaged_log`, `newer_format`, `damaged_index` (the next start builds the index again), `io_error`.
    Result<bool> step(LocalJournal& journal, bool is_caught_up);

    // The log is copied from its start again: the next step() looks whether the index fits it.
    void close() { index_.reset(); }

    std::uint64_t segments_sealed() const { return segments_sealed_; }

  private:
    Status open(const SegmentCatalog& catalog);
    Result<bool> seal(const SegmentCatalog& catalog);
    Result<bool> drop(LocalJournal& journal);
    Result<bool> compare(const SegmentCatalog& catalog);
    Status start_again(const std::string& reason);

    RowStorage& rows_;
    Retention& retention_;
    LogSink& log_;
    std::unique_ptr<Index> index_;
    std::uint64_t segments_sealed_ = 0;
    bool was_started_again_ = false;
};

}  // namespace duewheel
