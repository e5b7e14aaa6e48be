// The interface of the log, independent of its storage: an append-only chain of commits, each complete or absent.
//
// A commit is a sequence of framed records (message/records/record.h) closed by a footer with the number of records,
// the sums of the log, and the server time at which it was written. One commit is in flight at a time; the next is
// passed on only after the previous one has returned.
//
// Fail-stop: after any error of commit() nothing may be answered, appended or read any more; the process ends.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "message/totals.h"

namespace duewheel {

struct Commit {
    Sequence first_sequence = 0;  // of its first record: the last commit's sequence + 1
    std::uint32_t count = 0;      // records; 0 confirms the previous commit
    std::string records;          // framed, in sequence
    Totals totals;                // as of its end
    // The next commit starts a new segment. A segment is closed only once it contains a record, because its name is its
    // first sequence.
    bool closes_segment = false;
};

class Journal {
  public:
    virtual ~Journal() = default;

    // Appends one commit and returns when it is durable. Blocks: called on the committer's thread.
    // Code `no_space`: there is no space for a new segment; nothing was written, and the same commit can be tried
    // again. Any other error is `log_failed`: it names file and offset, and every later call returns it again.
    virtual Status commit(const Commit& commit) = 0;
};

// The size in a segment of a commit with this size of records, including the footer and the space up to the next block
// boundary. With it the engine, which does no I/O, knows when a segment is full. The block size, 512 or 4096, is
// chosen when the log is created.
std::uint64_t commit_size_in_segment(std::uint64_t record_bytes, std::uint32_t block_bytes = 512);

// Size of the header of a segment.
inline constexpr std::uint64_t kSegmentHeaderBytes = 4096;

// What a segment keeps free for the commit that closes it, also if it was enlarged for its first commit: space for
// 1 KiB of records.
inline constexpr std::uint64_t kClosingRoomBytes = 2048;

}  // namespace duewheel
