// A wheel reports misuse: calls from its own sink, or with a timer that is destroyed.
#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>

#include "wheel/fronts_by_id.h"
#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {

namespace {

// With timers enough that the wheel would go on with the next one.
template <class Front>
void destroy_in_sink() {
    auto* const front = new Front(100);
    for (Id id = 0; id < 100; ++id) front->arm(id, 5);
    front->wheel.advance_to(5, [front](const auto&...) { delete front; });
}

TEST(WheelDeathTest, says_when_a_wheel_is_destroyed_by_its_own_sink) {
    // Trap: a callback that destroys the wheel, which was forbidden in words alone: the pass went on in freed memory.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(destroy_in_sink<Handles>(), "destroyed by its own sink");
    EXPECT_DEATH(destroy_in_sink<OwnIds>(), "destroyed by its own sink");
    EXPECT_DEATH(destroy_in_sink<Members>(), "destroyed by its own sink");
}

template <class Front>
void advance_in_sink() {
    Front front(100);
    for (Id id = 0; id < 100; ++id) front.arm(id, 5);
    front.wheel.advance_to(5, [&front](const auto&...) { front.wheel.advance_to(6, [](const auto&...) {}); });
}

TEST(WheelDeathTest, says_when_a_wheel_is_advanced_by_its_own_sink) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(advance_in_sink<Handles>(), "advance_to.. called from its own sink");
    EXPECT_DEATH(advance_in_sink<OwnIds>(), "advance_to.. called from its own sink");
    EXPECT_DEATH(advance_in_sink<Members>(), "advance_to.. called from its own sink");
}

TEST(WheelDeathTest, says_when_a_pending_timer_is_destroyed_that_does_not_know_its_wheel) {
    // Unseen, the wheel would go on through freed memory at some later tick.
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    struct Timer : IntrusiveLinks {};
    for (const Tick deadline : {Tick{0}, Tick{5}, kNever}) {
        const auto destroy_pending = [deadline] {
            IntrusiveTimingWheel<Timer> wheel;
            Timer timer;
            wheel.schedule(timer, deadline);
        };
        EXPECT_DEATH(destroy_pending(), "a pending timer is destroyed: cancel it before") << deadline;
    }
}

TEST(WheelDeathTest, is_destroyed_after_a_pass_that_stopped_or_threw) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 100; ++cookie) wheel.schedule(5, cookie);
    EXPECT_EQ(wheel.advance_to(
                  5, [](std::uint64_t, Tick) {}, 10),
              10U);
    EXPECT_THROW(wheel.advance_to(5, [](std::uint64_t, Tick) { throw std::runtime_error("poison"); }),
                 std::runtime_error);
}

}  // namespace
}  // namespace duewheel
