#include "shared/system_clock.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace duewheel {
namespace {

// What the kernel stamps on a file is the judge: it is up to one tick of the kernel (10 ms at most) behind the clock.
TEST(SystemClock, wall_clock_counts_milliseconds_since_1970) {
    const std::string path = ::testing::TempDir() + "duewheel_now_" + std::to_string(::getpid());
    const InstantMs before = wall_now_ms();
    std::ofstream(path) << "now";
    const InstantMs after = wall_now_ms();
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    std::remove(path.c_str());
    const InstantMs stamp = std::int64_t{facts.st_mtim.tv_sec} * 1000 + facts.st_mtim.tv_nsec / 1'000'000;
    EXPECT_LE(before - 20, stamp);
    EXPECT_LE(stamp, after);
}

TEST(SystemClock, monotonic_clock_does_not_go_back_and_follows_the_boot_clock) {
    const std::int64_t boot_first = boot_now_ns();
    const std::int64_t first = monotonic_now_ns();
    std::int64_t last = first;
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t now = monotonic_now_ns();
        ASSERT_LE(last, now);
        last = now;
    }
    EXPECT_GT(last, first);
    EXPECT_LE(last - first, boot_now_ns() - boot_first);
}

TEST(SystemClock, boot_clock_is_the_uptime_of_the_kernel) {
    double uptime_s = 0;
    std::ifstream("/proc/uptime") >> uptime_s;
    if (uptime_s == 0) GTEST_SKIP() << "no /proc/uptime here";
    const std::int64_t boot_ns = boot_now_ns();
    EXPECT_LE(monotonic_now_ns() - boot_ns, 1'000'000'000);
    EXPECT_NEAR(static_cast<double>(boot_ns) / 1e9, uptime_s, 60.0);
}

TEST(SystemClock, thread_clock_counts_the_work_of_this_thread_and_nothing_else) {
    const auto used_ns = [] {
        rusage usage{};
        ::getrusage(RUSAGE_THREAD, &usage);
        const std::int64_t seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
        return seconds * 1'000'000'000 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
    };
    const std::int64_t before = thread_cpu_ns();
    std::uint64_t work = 1;
    while (thread_cpu_ns() < before + 1'000'000) work = work * 31 + 7;
    EXPECT_NE(work, 0u);
    EXPECT_NEAR(static_cast<double>(thread_cpu_ns()), static_cast<double>(used_ns()), 50e6);
}

}  // namespace
}  // namespace duewheel
