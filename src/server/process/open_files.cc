#include "server/process/open_files.h"

#include <algorithm>

#include <sys/resource.h>

namespace duewheel {

std::uint64_t raise_open_files_max(std::uint64_t wanted) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    rlimit raised = limit;
    raised.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(wanted, limit.rlim_max));
    if (raised.rlim_cur != limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur;
}

std::size_t connections_within(std::uint64_t open_files_max, std::size_t connections) {
    const std::uint64_t kept = std::min((open_files_max + 1) / 2, kOpenFilesKept);
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(connections, 1, std::max<std::uint64_t>(open_files_max - kept, 1)));
}

}  // namespace duewheel
