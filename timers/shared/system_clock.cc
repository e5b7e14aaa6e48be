#include "shared/system_clock.h"

#include <cstdlib>
#include <fstream>

#include <time.h>

namespace duewheel {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;

timespec read_clock(clockid_t clock) {
    timespec now{};
    // Only a kernel without the clock refuses; nothing can run there.
    if (::clock_gettime(clock, &now) != 0) std::abort();
    return now;
}

std::int64_t read_ns(clockid_t clock) {
    const timespec now = read_clock(clock);
    return std::int64_t{now.tv_sec} * kNanosecondsPerSecond + now.tv_nsec;
}

}  // namespace

// The nanoseconds are never negative, so that this rounds down before 1970, too.
InstantMs wall_now_ms() {
    const timespec now = read_clock(CLOCK_REALTIME);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / kNanosecondsPerMillisecond;
}

std::int64_t wall_now_ns() {
    return read_ns(CLOCK_REALTIME);
}

std::int64_t monotonic_now_ns() {
    return read_ns(CLOCK_MONOTONIC);
}

std::int64_t boot_now_ns() {
    return read_ns(CLOCK_BOOTTIME);
}

std::string machine_run() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    // A sandbox may hide the file; the service manager passes what it says, without the hyphens.
    const char* passed = std::getenv("MACHINE_BOOT_ID");
    if (id.empty() && passed != nullptr) id = passed;
    std::erase(id, '-');
    return id;
}

std::int64_t thread_cpu_ns() {
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace duewheel
