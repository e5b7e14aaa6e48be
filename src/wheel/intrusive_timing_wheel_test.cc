// What is IntrusiveTimingWheel's own: the timers are the caller's, so he has each of them back when the wheel is
// cleared.
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/intrusive_timing_wheel.h>

namespace duewheel {
namespace {

struct Timer : IntrusiveTimer {
    explicit Timer(std::string timer_name) : name(std::move(timer_name)) {}
    std::string name;
};

TEST(IntrusiveTimingWheel, gives_every_timer_back_when_it_is_cleared_wherever_it_lies) {
    // Timers that were late, waiting for their turn or asleep could be left in the wheel, and no test saw it.
    std::map<std::string, std::unique_ptr<Timer>> timers;
    IntrusiveTimingWheel<Timer> wheel;
    const auto arm = [&](const char* name, Tick deadline) {
        timers[name] = std::make_unique<Timer>(name);
        wheel.schedule(*timers[name], deadline);
    };
    const auto fires_none = [&](Tick now, std::size_t budget) {
        EXPECT_EQ(wheel.advance_to(
                      now, [](Timer&) {}, budget),
                  0U);
        wheel.check();
    };
    arm("due", 4096);
    arm("to be moved down", 4097);
    arm("to be moved down too", 5000);
    arm("far", 1'000'000);
    arm("asleep", kNever);
    fires_none(4096, 1);  // and has moved one timer to its tick
    arm("waiting", 4000);
    fires_none(4096, 0);  // and it has its turn
    arm("late", 4000);
    EXPECT_EQ(wheel.size(), timers.size());

    std::map<std::string, int> given_back;
    wheel.clear([&](Timer& timer) {
        EXPECT_FALSE(timer.is_pending()) << timer.name;
        ++given_back[timer.name];
        timers.erase(std::string(timer.name));
    });
    EXPECT_EQ(given_back, (std::map<std::string, int>{{"due", 1},
                                                      {"to be moved down", 1},
                                                      {"to be moved down too", 1},
                                                      {"far", 1},
                                                      {"asleep", 1},
                                                      {"waiting", 1},
                                                      {"late", 1}}));
    wheel.check();
    EXPECT_TRUE(wheel.empty());
    EXPECT_TRUE(wheel.caught_up());
    EXPECT_EQ(wheel.next_expiry(), kNever);
    EXPECT_EQ(wheel.now(), 4096U) << "time stays";

    Timer next("next");
    wheel.schedule(next, 4100);
    EXPECT_EQ(wheel.advance_to(10'000'000, [&next](Timer& timer) { EXPECT_EQ(&timer, &next); }), 1U);
}

}  // namespace
}  // namespace duewheel
