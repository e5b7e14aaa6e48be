// The properties that only IntrusiveTimingWheel has: the timers belong to the caller, and each of them is returned to
// it when the wheel is cleared.
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/intrusive_timing_wheel.h>

namespace duewheel {
namespace {

struct Timer : IntrusiveTimer {
    explicit Timer(std::string timer_name) : name(std::move(timer_name)) {}
    std::string name;
};

TEST(IntrusiveTimingWheel, returns_every_timer_when_it_is_cleared) {
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

TEST(IntrusiveTimingWheel, a_timer_that_is_destroyed_is_cancelled_wherever_it_lies) {
    // An assertion it was, and in a release build the wheel went on through freed memory.
    IntrusiveTimingWheel<Timer> wheel;
    std::map<std::string, std::unique_ptr<Timer>> timers;
    const auto arm = [&](const char* name, Tick deadline) {
        timers[name] = std::make_unique<Timer>(name);
        wheel.schedule(*timers[name], deadline);
    };
    arm("due", 4096);
    arm("to be moved down", 4097);
    arm("near", 4099);
    arm("far", 1'000'000);
    arm("asleep", kNever);
    wheel.advance_to(
        4096, [](Timer&) {}, 1);  // has moved one timer to its tick
    arm("waiting", 4000);
    wheel.advance_to(
        4096, [](Timer&) {}, 0);  // and it has its turn
    arm("late", 4000);
    Timer stays("stays");
    wheel.schedule(stays, 5000);
    while (!timers.empty()) {
        const std::size_t size = wheel.size();
        timers.erase(timers.begin());
        wheel.check();
        EXPECT_EQ(wheel.size(), size - 1);
    }
    while (!wheel.caught_up()) wheel.advance_to(4096, [](Timer& due) { ADD_FAILURE() << due.name; });
    EXPECT_EQ(wheel.next_expiry(), 5000U) << "none that is gone wakes anybody";
    EXPECT_EQ(wheel.advance_to(5000, [](Timer&) {}), 1U);
}

TEST(IntrusiveTimingWheel, a_peer_that_is_due_with_a_timer_is_destroyed_by_it) {
    IntrusiveTimingWheel<Timer> wheel;
    Timer first("first");
    auto peer = std::make_unique<Timer>("peer");
    wheel.schedule(first, 5);
    wheel.schedule(*peer, 5);
    EXPECT_EQ(wheel.advance_to(5,
                               [&](Timer& due) {
                                   EXPECT_EQ(due.name, "first");
                                   peer.reset();
                               }),
              1U);
    wheel.check();
    EXPECT_TRUE(wheel.empty());
}

TEST(IntrusiveTimingWheel, a_timer_outlives_its_wheel_and_goes_to_another) {
    Timer timer("timer");
    {
        IntrusiveTimingWheel<Timer> gone;
        gone.schedule(timer, 5);
    }
    EXPECT_FALSE(timer.is_pending());
    IntrusiveTimingWheel<Timer> wheel;
    {
        Timer moved("moved");
        IntrusiveTimingWheel<Timer> before;
        before.schedule(moved, 5);
        EXPECT_TRUE(before.cancel(moved));
        wheel.schedule(moved, 5);
        EXPECT_TRUE(before.empty());
    }
    EXPECT_TRUE(wheel.empty()) << "it left the wheel that it was in last";
    static_assert(sizeof(IntrusiveTimer) == 32 && sizeof(IntrusiveLinks) == 24);
}

TEST(IntrusiveTimingWheel, leaves_a_timer_the_requested_deadline) {
    IntrusiveTimingWheel<Timer> wheel(10);
    Timer timer("timer");
    EXPECT_EQ(timer.deadline(), kNever) << "none was asked for";
    wheel.schedule(timer, 7);  // late
    EXPECT_EQ(timer.deadline(), 7U);
    EXPECT_EQ(wheel.advance_to(20, [](Timer& due) { EXPECT_EQ(due.deadline(), 7U); }), 1U);
    EXPECT_EQ(timer.deadline(), 7U) << "after it has fired too";
    wheel.schedule(timer, 90);
    EXPECT_TRUE(wheel.cancel(timer));
    EXPECT_FALSE(wheel.cancel(timer));
    EXPECT_EQ(timer.deadline(), 90U);
}

TEST(IntrusiveTimingWheel, stops_at_the_last_tick) {
    IntrusiveTimingWheel<Timer> late(kNever);
    late.check();
    EXPECT_EQ(late.now(), kLastTick);
    IntrusiveTimingWheel<Timer> wheel;
    Timer last("last");
    Timer asleep("asleep");
    wheel.schedule(last, kLastTick);
    wheel.schedule(asleep, kNever);
    EXPECT_EQ(wheel.advance_to(kNever, [&last](Timer& due) { EXPECT_EQ(&due, &last); }), 1U);
    wheel.check();
    EXPECT_EQ(wheel.now(), kLastTick);
    EXPECT_TRUE(wheel.cancel(asleep));
}

TEST(IntrusiveTimingWheel, returns_a_near_expiry_without_reading_a_timer) {
    IntrusiveTimingWheel<Timer> wheel;
    std::vector<std::unique_ptr<Timer>> timers;
    for (Tick deadline = 1; deadline <= 60; ++deadline) {
        timers.push_back(std::make_unique<Timer>("near"));
        wheel.schedule(*timers.back(), deadline);
    }
    for (Tick now = 1; now < 60; ++now) {
        EXPECT_EQ(wheel.advance_to(now, [](Timer&) {}), 1U);
        EXPECT_EQ(wheel.next_expiry(), now + 1);
    }
    EXPECT_EQ(wheel.touched(), 59U) << "those that fired, and no other";
    wheel.clear();
}

}  // namespace
}  // namespace duewheel
