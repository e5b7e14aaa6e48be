// The segments of one log that are there now, in order. The committer adds at the end, the cleaner takes away at the
// front, and readers find the segment of a place; all at once.
//
// It holds one descriptor for each segment: a log of 64 GiB takes a thousand of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "journal/segment.h"

namespace duewheel {

struct SegmentSummary {
    std::uint64_t number = 0;
    Sequence first_sequence = 0;
    Sequence last_sequence = 0;  // of what is committed; first_sequence - 1: no record yet
    std::uint64_t bytes = 0;     // of the file
    bool closed = false;         // nothing will be added: it may be sealed
};

// Any thread.
class SegmentCatalog {
  public:
    // The segment that holds this record and keeps it readable as long as the pointer is held. `not_found`: it lies
    // before the log's front or has not been committed.
    Result<std::shared_ptr<const SegmentFile>> find(Sequence log_position) const;
    // The records at these places, which ascend. Codes as of SegmentFile; `not_found` as of find().
    Result<std::vector<OwnedRecord>> read_records(std::span<const Sequence> log_positions) const;

    std::vector<SegmentSummary> list() const;
    // All segments, the oldest first. Pins them while it is held.
    std::vector<std::shared_ptr<const SegmentFile>> snapshot() const;
    std::uint64_t bytes() const;

    void add(std::shared_ptr<const SegmentFile> segment);
    void remove_first();
    // From now on every read returns this error: what was read after a failed write might never have been saved.
    void fail(const Error& error);

  private:
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<const SegmentFile>> segments_;  // guarded by mutex_
    std::optional<Error> failed_;                               // guarded by mutex_
};

}  // namespace duewheel
