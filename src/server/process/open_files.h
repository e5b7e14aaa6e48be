// The number of files and connections that the process can have open, and how many of them clients can use.
//
// A connection takes a descriptor like a file, and a log that cannot open its next segment ends the process. So clients
// never get the last ones: however many connect, enough remain for the log and the index.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duewheel {

// Raises this process's soft limit on open files to `wanted`, or as far as its hard limit allows; never lowers it.
// Returns the limit that is in force then.
std::uint64_t raise_open_files_max(std::uint64_t wanted);

// Descriptors that clients never get, if there are that many: for a log of a terabyte.
inline constexpr std::uint64_t kOpenFilesKept = 16'384;

// How many of `connections` fit under this limit: at least half of it is reserved for files, and up to
// kOpenFilesKept.
std::size_t connections_within(std::uint64_t open_files_max, std::size_t connections);

}  // namespace duewheel
