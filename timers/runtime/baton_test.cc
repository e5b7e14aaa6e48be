// The baton on real processors; interleaving_test.cc explores the orders in which threads can reach it.
#include "runtime/baton.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace duewheel {
namespace {

TEST(Baton, keeps_a_favoured_driver_and_the_others_apart) {
    // Without the others' fence a processor looks whether the baton is held before it has said that it is inside.
    Baton baton;
    std::uint64_t count = 0;  // guarded by the baton
    std::atomic<std::uint64_t> driven{0};
    std::atomic<bool> ends{false};
    std::thread driver([&] {
        while (!ends) {
            {
                const DriverLock lock(baton);
                ++count;
            }
            driven.store(driven.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    });
    constexpr std::uint64_t kVisits = 1000;
    for (std::uint64_t visit = 0; visit < kVisits; ++visit) {
        const std::uint64_t until = driven + 600;  // now it is favoured, or still is
        while (driven < until) std::this_thread::yield();
        const std::lock_guard lock(baton);
        ++count;
    }
    ends = true;
    driver.join();
    EXPECT_EQ(count, driven + kVisits);
}

}  // namespace
}  // namespace duewheel
