// What a directory holds of a log, found out without changing anything; and then, on request, the little that may be
// changed: the torn end of the newest segment is cut.
//
// The rule, and why it loses nothing: a commit is answered only after it was synced, and the next one is written only
// after that. So a bad commit N of the newest segment is *torn* if no whole footer with a greater number follows: then
// nobody was ever told that N is saved. If one follows, N had been saved, and the log is *damaged*; so it is in an
// older segment, because the header after it tells that all its commits were saved. A damaged log is refused and left
// as it is.
//
// A segment gets its name only after its zeros and its header were synced, so no crash leaves one that is short or
// whose header cannot be read: that is damage too, also where nothing seems to stand in it.
//
// A commit that is whole was perhaps never synced, when the process died in between: it is accepted, and made durable
// before anybody hears of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "journal/segment.h"

namespace duewheel {

// The torn end of a log, for the operator's log.
struct Cut {
    static constexpr std::uint64_t kHeadBytesMax = 4096;

    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // from the offset to the last that was not zero
    std::string head;         // the first of them, at most kHeadBytesMax
};

// A log as it was found.
struct FoundLog {
    std::vector<std::shared_ptr<SegmentFile>> segments;  // in order; each open for reading
    std::vector<std::string> spares;                     // names in the directory
    std::uint64_t marked_newest = 0;                     // number of a segment (newest_mark.h); 0: no mark
    std::uint64_t last_commit_offset = 0;                // in the newest segment; 0: it has none
    std::optional<Cut> cut;
};

// The newest segment, read to its end.
struct LogEnd {
    SegmentEnd end;
    OffsetList offsets;
    std::uint64_t last_commit_offset = 0;  // 0: it has none
    std::optional<Cut> cut;
};

// What stands after the last whole commit of a segment that has no other after it: zeros, a torn commit, or damage.
// Codes: `damaged_log`, `newer_format`, `io_error`. A server may append to it meanwhile: what it is writing looks torn.
// A commit that was not whole, and is when a later one has been seen, was written in between; one that still is not is
// damage, because the later one was begun after it.
Result<LogEnd> read_log_end(const File& file, const std::string& path, const SegmentHeader& header, std::uint64_t size);

// Reads all headers and the whole newest segment; older ones are not read, see SegmentFile::scan(). Changes nothing. A
// log that does not reach its mark is damaged.
// Codes: `damaged_log`, `newer_format`, `not_found` (no such directory), `io_error`.
Result<FoundLog> find_log(FileSystem& files, const std::string& directory);

// As find_log(), of a log that a server may be writing at meanwhile: what looks damaged or gone because of that is
// looked at again. The files are opened before the newest is read to its last whole commit, so they are the log of one
// instant (log_copy.h says why), and stay readable when the server unlinks them.
Result<FoundLog> find_log_in_use(FileSystem& files, const std::string& directory);

// Does what was found to be needed, so that the newest segment can be appended to, and opens it for that. All that is
// found is durable on return.
Status mend_log(FileSystem& files, const std::string& directory, FoundLog& log);

// Reads and checks every commit of a log and changes nothing: what `duewheel check` does. Codes as of find_log(), and
// the visitor's.
Status verify_log(const FoundLog& log, const CommitVisitor& visitor);

}  // namespace duewheel
