// The statistics of this process from the operating system, for the `process_` metrics of all Prometheus clients.
#pragma once

#include <cstdint>
#include <optional>

namespace duewheel {

struct ProcessStats {
    std::int64_t cpu_us = 0;  // of user and system time
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
    std::int64_t start_ms = 0;  // since 1970 UTC
    std::uint64_t threads = 0;
};

// Nothing if /proc cannot be read. Reads no disk. O(open files).
std::optional<ProcessStats> process_stats();

}  // namespace duewheel
