// Copies a log, also one that a server is writing at: what `duewheel backup` does.
//
// A segment never changes where it was acknowledged, and segments leave the log at its front alone. So the files that
// are there at one instant, the newest of them up to its last whole commit, are the log as it was at that instant: a
// start finds it whole, front included. All are opened before any is read, so that one that the server unlinks
// meanwhile stays readable; and where the front moved while they were opened, the front is looked at again.
//
// What was acknowledged before the call is in the copy. What is being written at the time may be.
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
    Totals totals;            // at the end of the copy
};

// Told now and then how many bytes of all are copied.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// `to` is an empty directory; the files in it are durable on return, and so are their names. Nothing is changed in
// `from`, and no lock is needed there. The segments before the newest are copied as they are and not looked into: who
// wants to know verifies the copy. After an error `to` may hold some of the files.
// Codes: `not_found` (there is no log), `damaged_log`, `newer_format`, `no_space`, `io_error`.
Result<LogCopy> copy_log(FileSystem& files, const std::string& from, const std::string& to,
                         const CopyProgress& progress = {});

}  // namespace duewheel
