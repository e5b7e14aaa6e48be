// The current segments of one log, in order. The committer adds at the end, compaction removes at the front, and
// readers find the segment of a position, all at the same time.
//
// It holds one file descriptor for each segment: a log of 64 GiB takes a thousand of them.
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
    Sequence last_sequence = 0;  // of the committed records; first_sequence - 1: none yet
    std::uint64_t bytes = 0;     // of the file
    bool closed = false;         // nothing will be added: it can be sealed
};

// Any thread.
class SegmentCatalog {
  public:
    // The segment with this record, which stays readable as long as the pointer is held. `not_found`: it is before the
    // front of the log or not committed.
    Result<std::shared_ptr<const SegmentFile>> find(Sequence log_position) const;
    // The records at these positions, which ascend. Codes as of SegmentFile; `not_found` as of find().
    Result<std::vector<OwnedRecord>> read_records(std::span<const Sequence> log_positions) const;

    std::vector<SegmentSummary> list() const;
    // All segments, the oldest first. They stay readable while it is held.
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
