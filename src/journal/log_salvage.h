// Reads a damaged log, and takes every record that is whole: used by `duewheel export --skip-damaged`. Everything else
// refuses such a log (recovery.h); this reader skips the damage and says what it has skipped.
//
//     commit 41 whole │ commit 42: one byte flipped │ commit 43 whole        a record of 42 is lost, its others are
//     taken commit 41 whole │ zeros                │ commit 45 whole               the records of 42 to 44 are lost
//     segment 7       │ no file              │ segment 9                     the records of segment 8 are lost
//
// It finds its way by footers, which contain a secret of the log and which no content of a message can imitate. Within
// a damaged commit, records follow each other from its start. If the length of a record is damaged too, the next record
// is looked for; because the content of a message could imitate one, it counts only if all records from there on are
// whole and end where the footer of the commit stands. So with two such places in one commit, the records between them
// are omitted.
//
// The end of the newest segment is what a start would find: an incomplete commit there is not read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "journal/segment_format.h"
#include "message/records/record.h"

namespace duewheel {

// A stretch of the log that was skipped.
struct Omitted {
    std::string file;          // name of the segment
    std::uint64_t offset = 0;  // where the damage begins
    Sequence first = 0;        // records that could not be read
    Sequence last = 0;         // first - 1: none, only other bytes are damaged
    std::string why;

    std::uint64_t records() const { return last + 1 - first; }
    bool operator==(const Omitted&) const = default;
};

struct SalvagedLog {
    LogIdentity identity;
    Totals totals;  // as of the last whole commit
    std::vector<Omitted> omitted;
    std::uint64_t first_sequence = 0;  // with which the first file begins
};

// An error stops the reading and is returned.
using SalvageVisitor = std::function<Status(const FramedRecord&)>;

// Calls the visitor for each whole record, in ascending order of sequences. Memory: a damaged stretch, at most a
// segment. Codes: `not_found` (no such directory), `damaged_log` (no segment, or none with a readable header),
// `newer_format`, `io_error`, and the visitor's.
Result<SalvagedLog> salvage_log(FileSystem& files, const std::string& directory, const SalvageVisitor& visitor);

}  // namespace duewheel
