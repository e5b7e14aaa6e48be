#include "server/process/process_stats.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shared/system_clock.h"

namespace duewheel {
namespace {

std::string content_of(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Milliseconds since 1970 UTC, by the clock at the first call: a wall clock that is set later is no restart. Without
// /proc/stat, which a sandbox may hide.
std::int64_t boot_time_ms() {
    static const std::int64_t kBooted = wall_now_ms() - boot_now_ns() / 1'000'000;
    return kBooted;
}

std::uint64_t count_open_fds() {
    DIR* directory = ::opendir("/proc/self/fd");
    if (directory == nullptr) return 0;
    std::uint64_t count = 0;
    while (const dirent* entry = ::readdir(directory)) count += entry->d_name[0] != '.';
    ::closedir(directory);
    return count - 1;  // without the descriptor that reads the directory
}

}  // namespace

// proc(5): the name of the program is in parentheses and may contain anything, so the fields are counted from its end:
// state is the third.
std::optional<ProcessStats> process_stats() {
    const std::string stat = content_of("/proc/self/stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string field[25];
    for (int number = 3; number < 25; ++number) fields >> field[number];
    if (!fields) return std::nullopt;
    const auto value = [&](int number) { return std::strtoull(field[number].c_str(), nullptr, 10); };
    const auto ticks_per_s = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    ProcessStats stats;
    stats.cpu_us = static_cast<std::int64_t>((value(14) + value(15)) * 1'000'000 / ticks_per_s);
    stats.threads = value(20);
    stats.start_ms = boot_time_ms() + static_cast<std::int64_t>(value(22) * 1000 / ticks_per_s);
    stats.virtual_bytes = value(23);
    stats.resident_bytes = value(24) * page_bytes;
    stats.open_fds = count_open_fds();
    stats.max_fds = files.rlim_cur;
    return stats;
}

}  // namespace duewheel
