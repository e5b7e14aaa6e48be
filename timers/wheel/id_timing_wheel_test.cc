// The properties that only IdTimingWheel has: it executes calls up to 16 calls later, and no query may show that.
#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/id_timing_wheel.h>

namespace duewheel {
namespace {

TEST(IdTimingWheel, lists_armed_timers_without_those_just_cancelled) {
    // A list that did not carry out what had been ordered lost up to 16 timers, and kept cancelled ones; every other
    // test had asked something else before.
    IdTimingWheel wheel(20);
    for (IdTimingWheel::Id id = 0; id < 10; ++id) wheel.schedule(id, 100 - id);
    const std::vector<IdTimingWheel::Timer> ten = wheel.pending();
    ASSERT_EQ(ten.size(), 10U);
    EXPECT_EQ(ten.front(), (IdTimingWheel::Timer{9, 91}));
    EXPECT_EQ(ten.back(), (IdTimingWheel::Timer{0, 100}));
    wheel.cancel(9);
    wheel.schedule(0, 50);
    const std::vector<IdTimingWheel::Timer> nine = wheel.pending();
    ASSERT_EQ(nine.size(), 9U);
    EXPECT_EQ(nine.front(), (IdTimingWheel::Timer{0, 50}));
}

TEST(IdTimingWheel, knows_its_next_work_without_other_calls) {
    // A loop that slept until next_work() slept through a timer that had been armed before, and was late for it.
    IdTimingWheel wheel(3);
    wheel.schedule(1, 5000);
    EXPECT_EQ(wheel.next_work(), 4992U) << "the beginning of its slot of 64 ticks";
    wheel.schedule(2, 70);
    EXPECT_EQ(wheel.next_work(), 70U);
    wheel.schedule(0, 0);
    EXPECT_EQ(wheel.next_work(), 0U) << "it is late";
}

TEST(IdTimingWheel, executes_a_posted_call_with_the_sixteenth_call_after_it) {
    // The first timer to be filed asks for memory, and how much there is can be asked without having it filed.
    IdTimingWheel wheel(20);
    const std::size_t empty = wheel.memory_bytes();
    wheel.schedule(0, 5);
    EXPECT_EQ(wheel.memory_bytes(), empty);
    for (IdTimingWheel::Id id = 1; id <= 16; ++id) wheel.cancel(id);
    EXPECT_GT(wheel.memory_bytes(), empty);
}

TEST(IdTimingWheel, reports_whether_a_timer_is_pending_right_after_a_posted_call) {
    IdTimingWheel wheel(3);
    EXPECT_FALSE(wheel.is_pending(1));
    wheel.schedule(1, 50);
    EXPECT_TRUE(wheel.is_pending(1));
    wheel.cancel(1);
    EXPECT_FALSE(wheel.is_pending(1));
    wheel.schedule(1, 60);
    wheel.schedule(1, kNever);
    EXPECT_FALSE(wheel.is_pending(1)) << "kNever disarms it";
    wheel.schedule(1, 5);
    EXPECT_EQ(wheel.advance_to(5, [](auto...) {}), 1U);
    EXPECT_FALSE(wheel.is_pending(1)) << "it has fired";
    wheel.schedule(2, 70);
    wheel.clear();
    EXPECT_FALSE(wheel.is_pending(2));
}

TEST(IdTimingWheel, fills_a_list_with_what_fires) {
    // A list that told the time of the call for each deadline passed every other test.
    IdTimingWheel wheel(10);
    for (IdTimingWheel::Id id = 0; id < 5; ++id) wheel.schedule(id, 100 - 10 * id);
    wheel.schedule(7, 0);  // late
    std::vector<IdTimingWheel::Timer> fired(4);
    ASSERT_EQ(wheel.advance_to(1000, fired), 4U);
    EXPECT_EQ(fired, (std::vector<IdTimingWheel::Timer>{{7, 0}, {4, 60}, {3, 70}, {2, 80}}));
    EXPECT_FALSE(wheel.caught_up()) << "the list was full";
    ASSERT_EQ(wheel.advance_to(1000, fired), 2U);
    EXPECT_EQ(fired, (std::vector<IdTimingWheel::Timer>{{1, 90}, {0, 100}, {3, 70}, {2, 80}})) << "no more is written";
    EXPECT_TRUE(wheel.caught_up());
    EXPECT_EQ(wheel.advance_to(1000, std::span<IdTimingWheel::Timer>{}), 0U);
}

}  // namespace
}  // namespace duewheel
