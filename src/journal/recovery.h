// Finds out what a directory contains of a log, without changing anything; and then, on request, makes the only change
// that is allowed: it removes the torn end of the newest segment.
//
// The rule, and why it loses nothing: a commit returns only after it was synced, and the next one is written only after
// that. So an invalid commit N of the newest segment is *torn* if no whole footer with a greater number follows: then
// N was never acknowledged. If one follows, N had been acknowledged, and the log is *damaged*. The same holds in an
// older segment, because the next header proves that all its commits were saved. A damaged log is refused and left
// unchanged.
//
// A segment gets its name only after its zeros and its header were synced, so a crash never leaves a short one or one
// with an unreadable header: that is damage too, even if it seems to be empty.
//
// A whole commit may not have been synced if the process died in between: it is accepted, and made durable before it is
// used.
#pragma once

#include <array>
#include <cstddef>
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
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // from the offset to the last non-zero byte
};

// How far a log is known to have reached at least, from a place outside of it.
struct KnownEnd {
    std::array<std::byte, 16> instance{};  // of the log that this was said of
    std::uint64_t segment = 0;
    Sequence sequence = 0;
    std::uint64_t commit = 0;

    bool operator==(const KnownEnd&) const = default;
};

// A log as it was found.
struct FoundLog {
    std::vector<std::shared_ptr<SegmentFile>> segments;  // in order; each open for reading
    std::vector<std::string> spares;                     // names in the directory
    std::uint64_t marked_newest = 0;                     // number of a segment (newest_mark.h); 0: no mark
    std::optional<Error> lost_end;                       // it ends earlier than it should; see EndCheck
    std::uint64_t last_commit_offset = 0;                // in the newest segment; 0: none
    std::optional<Cut> cut;
};

// The newest segment, read to its end.
struct LogEnd {
    SegmentEnd end;
    OffsetList offsets;
    std::uint64_t last_commit_offset = 0;  // 0: none
    std::optional<Cut> cut;
};

// What follows the last whole commit of the newest segment: zeros, a torn commit, or damage.
// Codes: `damaged_log`, `newer_format`, `io_error`. A server may append at the same time: what it is writing looks
// torn. If a later commit has been seen and the invalid one is whole now, it was written in between; if it still is
// not, it is damage, because the later one was started after it.
Result<LogEnd> read_log_end(const File& file, const std::string& path, const SegmentHeader& header, std::uint64_t size);

// What to do with a log that does not reach its mark, or the end that it is known to have had.
enum class EndCheck {
    refuse,  // `damaged_log`
    report,  // as `lost_end` of the result
};

// Reads all headers and the whole newest segment, but not the older ones (see SegmentFile::scan()). Changes nothing.
// Codes: `damaged_log`, `newer_format`, `not_found` (no such directory), `io_error`.
Result<FoundLog> find_log(FileSystem& files, const std::string& directory,
                          const std::optional<KnownEnd>& known_end = std::nullopt,
                          EndCheck end_check = EndCheck::refuse);

// Like find_log(), for a log that a server may be writing at the same time: what looks damaged or missing because of
// that is checked again. The files are opened before the newest is read to its last whole commit, so they are the log
// of one instant (see log_copy.h), and stay readable after the server unlinks them.
Result<FoundLog> find_log_in_use(FileSystem& files, const std::string& directory,
                                 const std::optional<KnownEnd>& known_end = std::nullopt);

// Whether a log whose newest commit has these totals reaches the end that it is known to have had. A log without
// commits does not; a log of another instance is not compared. Code `damaged_log`.
Status check_known_end(const std::string& directory, const std::optional<KnownEnd>& known_end,
                       const LogIdentity& identity, const Totals& totals);

// Accepts that the segments after the newest one that was found, or all of them, are lost: they are not marked any
// more, durably.
Status forget_lost_segments(FileSystem& files, const std::string& directory, const FoundLog& log);

// Makes the necessary changes, so that the newest segment can be appended to, and opens it for that. Everything that
// was found is durable on return.
Status mend_log(FileSystem& files, const std::string& directory, FoundLog& log);

// Reads and checks every commit of a log and changes nothing: used by `duewheel check`. Codes as of find_log(), and
// the visitor's.
Status verify_log(const FoundLog& log, const CommitVisitor& visitor);

}  // namespace duewheel
