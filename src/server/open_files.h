// How many files and connections the process may have open at the same time, and how many of them clients may take.
//
// A connection takes a descriptor as a file does, and a log that cannot open its next segment ends the process. So
// clients never get the last ones: however many connect, what is left is enough for the log and the index.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duewheel {

// Raises this process's soft limit on open files to `wanted`, or as far as its hard limit allows; never lowers it.
// Returns the limit that is in force then.
std::uint64_t raise_open_files_max(std::uint64_t wanted);

// Descriptors that clients never take, where there are so many: of a log of a terabyte.
inline constexpr std::uint64_t kOpenFilesKept = 16'384;

// How many of `connections` fit under this limit: at least half of it is kept for files, and no more than
// kOpenFilesKept.
std::size_t connections_within(std::uint64_t open_files_max, std::size_t connections);

}  // namespace duewheel
