// What the operating system says of this process, for the `process_` metrics that all Prometheus clients have.
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

// Nothing where /proc cannot be read. Reads no disk. O(open files).
std::optional<ProcessStats> process_stats();

}  // namespace duewheel
