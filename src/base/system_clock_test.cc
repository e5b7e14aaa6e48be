#include "base/system_clock.h"

#include <chrono>
#include <fstream>

#include <gtest/gtest.h>

namespace duewheel {
namespace {

TEST(SystemClock, wall_clock_counts_milliseconds_since_1970) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    const auto standard = [] {
        return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    };
    const InstantMs before = standard();
    const InstantMs now = wall_now_ms();
    const InstantMs after = standard();
    EXPECT_LE(before, now);
    EXPECT_LE(now, after);
}

TEST(SystemClock, monotonic_clock_counts_nanoseconds_and_does_not_go_back) {
    using std::chrono::duration_cast;
    using std::chrono::nanoseconds;
    const auto standard = [] {
        return duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    std::int64_t last = standard();
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t now = monotonic_now_ns();
        ASSERT_LE(last, now);
        last = now;
    }
    EXPECT_LE(last, standard());
}

TEST(SystemClock, boot_clock_is_the_uptime_of_the_kernel) {
    double uptime_s = 0;
    std::ifstream("/proc/uptime") >> uptime_s;
    if (uptime_s == 0) GTEST_SKIP() << "no /proc/uptime here";
    const std::int64_t boot_ns = boot_now_ns();
    EXPECT_LE(monotonic_now_ns() - boot_ns, 1'000'000'000);
    EXPECT_NEAR(static_cast<double>(boot_ns) / 1e9, uptime_s, 60.0);
}

TEST(SystemClock, thread_clock_counts_work_of_this_thread) {
    const std::int64_t wall_before = monotonic_now_ns();
    const std::int64_t before = thread_cpu_ns();
    std::uint64_t work = 1;
    std::int64_t now = before;
    for (int round = 0; round < 1'000'000 && now == before; ++round) {
        for (int i = 0; i < 1000; ++i) work = work * 31 + 7;
        now = thread_cpu_ns();
    }
    EXPECT_NE(work, 0u);
    EXPECT_GT(now, before);
    EXPECT_LE(now - before, monotonic_now_ns() - wall_before);
}

}  // namespace
}  // namespace duewheel
