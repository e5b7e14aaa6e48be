// What TimingWheel promises about a pass beyond the conformance suite (schemes/conformance_pass_test.cc), which
// runs on it too: how much one call moves, and what waits for the next one.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include "wheel/timing_wheel_fired.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {
namespace {

TEST(TimingWheel, cancels_and_moves_timers_of_a_slot_half_demoted) {
    TimingWheel wheel;
    std::vector<TimerHandle> handles;
    for (std::uint64_t cookie = 0; cookie < 10; ++cookie) handles.push_back(wheel.schedule(128 + 2 * cookie, cookie));
    EXPECT_EQ(advance(wheel, 128, 4), Fired{}) << "the budget went into moving four";
    ASSERT_FALSE(wheel.caught_up());
    EXPECT_EQ(wheel.next_expiry(), 128U) << "there is work left";
    EXPECT_TRUE(wheel.cancel(handles[2]));
    EXPECT_TRUE(wheel.cancel(handles[9]));
    EXPECT_TRUE(wheel.reschedule(handles[8], 129));
    wheel.check();
    EXPECT_EQ(advance(wheel, 128), (Fired{{0, 128}}));
    EXPECT_EQ(advance(wheel, 400), (Fired{{8, 129}, {1, 130}, {3, 134}, {4, 136}, {5, 138}, {6, 140}, {7, 142}}));
}

TEST(TimingWheel, keeps_what_becomes_late_after_a_stop_in_its_turn) {
    // A timer armed late after a call that had stopped went with the late ones that call had left, and so ahead of one
    // that had been due for long.
    TimingWheel wheel(10);
    wheel.schedule(5, 1);
    wheel.schedule(5, 2);
    wheel.schedule(50, 3);
    EXPECT_EQ(advance(wheel, 100, 1).size(), 1U);
    wheel.schedule(100, 4);
    const Fired fired = advance(wheel, 100);
    ASSERT_EQ(fired.size(), 3U);
    EXPECT_EQ(fired[0].second, 5U);
    EXPECT_EQ(fired[1], (Fired::value_type{3, 50}));
    EXPECT_EQ(fired[2], (Fired::value_type{4, 100}));
}

TEST(TimingWheel, lets_what_the_sink_arms_late_wait_however_many_calls_have_stopped) {
    // After a million calls none of which caught up there was no number left to tell those armed in this call by, and
    // one call fired timers that it had itself armed.
    TimingWheel wheel(10);
    std::vector<TimerHandle> handles;
    for (std::uint64_t cookie = 0; cookie < 5; ++cookie) handles.push_back(wheel.schedule(0, cookie));
    std::size_t calls = 0;
    const auto again = [&](std::uint64_t cookie, Tick) { EXPECT_TRUE(wheel.reschedule(handles[cookie], 0)); };
    for (; calls < (1 << 20) + 10; ++calls) ASSERT_EQ(wheel.advance_to(11, again, 1), 1U) << calls;
    const auto all_again = [&](std::uint64_t, Tick) {
        for (const TimerHandle handle : handles) EXPECT_TRUE(wheel.reschedule(handle, 0));
    };
    for (int call = 0; call < 3; ++call)
        EXPECT_EQ(wheel.advance_to(11, all_again), 1U) << "all others were armed in it";
    wheel.check();
}

TEST(TimingWheel, bounds_demotion_by_the_budget_too) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 1000; ++cookie) wheel.schedule(8192 + 1 + cookie, cookie);
    std::size_t calls = 0;
    while (!wheel.caught_up() || wheel.now() < 8192) {
        EXPECT_EQ(advance(wheel, 8192, 10), Fired{});
        ASSERT_LT(++calls, 1000U);
    }
    EXPECT_GE(calls, 100U);
    EXPECT_EQ(wheel.next_expiry(), 8193U);
    EXPECT_EQ(advance(wheel, 10'000).size(), 1000U);
}

TEST(TimingWheel, moves_timers_down_ahead_of_their_slot) {
    // Trap: at the first tick of a slot all of its timers move at once, here sixty thousand.
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 1'000'000; ++cookie) wheel.schedule(1 + cookie * 7919 % 60'000, cookie);
    std::uint64_t touched_most = 0;
    for (Tick now = 1; now <= 60'000; ++now) {
        const std::uint64_t before = wheel.touched();
        const std::size_t fired = wheel.advance_to(now, kIgnore);
        ASSERT_TRUE(wheel.caught_up());
        touched_most = std::max(touched_most, wheel.touched() - before - fired);
    }
    EXPECT_TRUE(wheel.empty());
    EXPECT_LE(touched_most, 4 * 62U) << "a strip or two of each of the two levels in use, beside what fires";
}

TEST(TimingWheel, takes_a_mass_that_comes_just_before_its_slot) {
    // What is armed in the last tick before a slot's turn begins has the length of one slot to be moved down. Shares of
    // one strip each, and advances that looked at the slot only when its first tick came, passed every other test: each
    // left nearly all of it to that tick.
    TimingWheel wheel(63);
    for (std::uint64_t cookie = 0; cookie < 100'000; ++cookie) wheel.schedule(128 + cookie % 64, cookie);
    std::uint64_t touched_most = 0;
    for (Tick now = 64; now < 192; ++now) {
        const std::uint64_t before = wheel.touched();
        const std::size_t fired = wheel.advance_to(now, kIgnore);
        EXPECT_EQ(fired, now < 128 ? 0 : 100'000 / 64 + (now - 128 < 100'000 % 64)) << now;
        touched_most = std::max(touched_most, wheel.touched() - before - fired);
    }
    EXPECT_LE(touched_most, 100'000U / 64 + 2 * 62) << "also in the slot's first tick";
    EXPECT_GE(touched_most, 100'000U / 64 - 62) << "or nothing is tested";
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, begins_to_move_a_slot_down_when_it_comes_next_whatever_fired_before) {
    // After an advance that had something to fire, the next thing to do was once the first tick of the mass ahead, and
    // no longer the beginning of its slot's turn: so all of it moved in that tick.
    TimingWheel wheel;
    wheel.schedule(5, 1);
    for (std::uint64_t cookie = 0; cookie < 100'000; ++cookie) wheel.schedule(8192 + cookie % 4096, cookie);
    std::uint64_t touched_most = 0;
    for (Tick now = 1; now < 8192 + 4096; ++now) {
        const std::uint64_t before = wheel.touched();
        const std::size_t fired = wheel.advance_to(now, kIgnore);
        touched_most = std::max(touched_most, wheel.touched() - before - fired);
    }
    EXPECT_LE(touched_most, 4 * 62U) << "a strip or two of each of the two levels in use, beside what fires";
    EXPECT_GT(touched_most, 0U) << "or nothing is tested";
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, takes_a_million_due_at_once_in_calls_of_a_thousand) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 1'000'000; ++cookie) wheel.schedule(500'000, cookie);
    std::vector<bool> seen(1'000'000, false);
    std::size_t fired = 0;
    do {
        const std::uint64_t before = wheel.touched();
        wheel.advance_to(
            500'000,
            [&](std::uint64_t cookie, Tick) {
                ASSERT_FALSE(seen[cookie]);
                seen[cookie] = true;
                ++fired;
            },
            1000);
        ASSERT_LE(wheel.touched() - before, 1000U);
    } while (!wheel.caught_up());
    EXPECT_EQ(fired, 1'000'000U);
}

TEST(TimingWheel, clears_away_what_is_left_of_moved_and_cancelled_timers) {
    // Trap: timers that are cancelled far ahead of their time stay in memory until then.
    TimingWheel wheel;
    const std::size_t timers = 20'000;
    std::vector<TimerHandle> handles;
    for (std::uint64_t cookie = 0; cookie < timers; ++cookie) handles.push_back(wheel.schedule(1 << 30, cookie));
    std::uint64_t touched_most = 0;
    Random random(1);
    for (std::uint64_t round = 0; round < 400'000; ++round) {
        const std::uint64_t before = wheel.touched();
        TimerHandle& handle = handles[random.below(timers)];
        // Ever nearer, so that every move makes a new entry; and a new timer now and then.
        const Tick deadline = (Tick{1} << 30) - 2000 * round;
        if (round % 3 == 0) {
            ASSERT_TRUE(wheel.cancel(handle));
            handle = wheel.schedule(deadline, round);
        } else {
            ASSERT_TRUE(wheel.reschedule(handle, deadline));
        }
        touched_most = std::max(touched_most, wheel.touched() - before);
    }
    wheel.check();
    EXPECT_LE(touched_most, 4 * 62U) << "four strips at most";
    EXPECT_GT(touched_most, 0U) << "or nothing is tested";
    EXPECT_LE(wheel.memory_bytes(), sizeof(wheel) + timers * 32 + 1408 * 256 + 24 * 8192);
    EXPECT_EQ(advance(wheel, Tick{1} << 31).size(), timers);
}

TEST(TimingWheel, fills_a_list_with_what_fires) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 100; ++cookie) wheel.schedule(10 + cookie / 10, cookie);
    std::vector<TimingWheel::Fired> fired(7);
    std::vector<bool> seen(100, false);
    std::size_t sum = 0;
    Tick last = 0;
    do {
        const std::size_t count = wheel.advance_to(30, fired);
        wheel.check();
        ASSERT_LE(count, fired.size());
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_FALSE(seen[fired[i].cookie]);
            seen[fired[i].cookie] = true;
            EXPECT_GE(fired[i].deadline, last);
            last = fired[i].deadline;
        }
        sum += count;
    } while (!wheel.caught_up());
    EXPECT_EQ(sum, 100U);
}

}  // namespace
}  // namespace duewheel
