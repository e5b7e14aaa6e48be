// How the last run of a server on a data directory ended. A server that systemd has started again after a crash looks
// like any other, and without this no operator would learn of the crash.
//
//     DIR/running     a server runs, or was killed
//     DIR/failed      the last run ended with a fatal error
//
// A stop removes DIR/running, and a fatal error renames it: neither needs space on the disk. What ends a process
// without a word leaves it: kill -9, also by the kernel for a lack of memory, a power cut, a disk that fails entirely.
// A directory of an earlier version has neither file, as if its last run was stopped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/status.h"

namespace duewheel {

enum class RunEnd : std::uint8_t { stopped, killed, fatal };

std::string_view run_end_name(RunEnd end);

// Before begin_run(). `stopped` in a directory without runs. Codes: `not_found`, `io_error`.
Result<RunEnd> read_last_run(const FileSystem& files, const std::string& directory);

// By the one process that holds the lock on the directory; durable on return. A run that was not begun cannot end: the
// last two then change nothing. Codes: `no_space` (only begin_run()), `io_error`.
Status begin_run(FileSystem& files, const std::string& directory);
Status record_stop(FileSystem& files, const std::string& directory);
Status record_fatal_error(FileSystem& files, const std::string& directory);

}  // namespace duewheel
