// Copies a log, even while a server writes to it: used by `duewheel backup`.
//
// Acknowledged parts of a segment never change, and segments leave the log only at its front. So the files that exist
// at one instant, the newest of them up to its last whole commit, are the log as of that instant, and a start accepts
// them, front included. All files are opened before any is read, so one that the server unlinks meanwhile stays
// readable. If the front moves while they are opened, the front is checked again.
//
// Everything acknowledged before the call is in the copy. What is being written during the call may be.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "journal/segment_format.h"

namespace duewheel {

struct LogCopy {
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;  // of the files
    LogIdentity identity;
    Totals totals;  // at the end of the copy
};

// Called from time to time with the bytes copied so far and in total.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// `to` is an empty directory; the files in it and their names are durable on return. `from` is not changed and needs no
// lock. The segments before the newest are copied without checks: verify the copy if needed. After an error `to` may
// contain some of the files.
// Codes: `not_found` (there is no log), `damaged_log`, `newer_format`, `no_space`, `io_error`.
Result<LogCopy> copy_log(FileSystem& files, const std::string& from, const std::string& to,
                         const CopyProgress& progress = {});

}  // namespace duewheel
