// The promise of the log, on whatever carries it: an append-only chain of commits, each of them whole or not there.
//
// A commit is a run of framed records (message/record.h) closed by a footer that says how many there were, what the
// log adds up to, and which server time it was written at. One commit is in flight at a time; the next is handed over
// only after the last has been answered.
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
    std::uint32_t count = 0;      // records; 0 confirms the commit before it
    std::string records;          // framed, one after the other
    Totals totals;                // as of its end
    // The next commit begins a new segment. A segment is closed only once it holds a record, because its name is its
    // first sequence.
    bool closes_segment = false;
};

class Journal {
  public:
    virtual ~Journal() = default;

    // Appends one commit and returns when it is durable. Blocks: called on the committer's thread.
    // Code `no_space`: there is no room for a new segment; nothing was written, and the same commit may be tried again.
    // Any other error is `log_failed`: it names file and offset, and every later call returns it again.
    virtual Status commit(const Commit& commit) = 0;
};

// Bytes that a commit with so many bytes of records takes in a segment: the footer and the space up to the next block
// boundary counted. Lets the engine, which does no I/O, know when a segment is full. The block size, 512 or 4096, is
// chosen when the log is created.
std::uint64_t commit_size_in_segment(std::uint64_t record_bytes, std::uint32_t block_bytes = 512);

// Bytes of a fresh segment that its header takes.
inline constexpr std::uint64_t kSegmentHeaderBytes = 4096;

// What a segment has left for the commit that closes it, also one that was made larger for its first commit: room for
// 1 KiB of records.
inline constexpr std::uint64_t kClosingRoomBytes = 2048;

}  // namespace duewheel
