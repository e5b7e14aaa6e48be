// What wheel/timer_queue.h promises about time, handles and memory, one named test for each promise and for each trap
// that other timers fell into, run on every scheme and on the core wheel. A test that a trap has led to says which in
// its first line. What happens inside and between calls of advance_to() is in conformance_pass_test.cc.
#include "schemes/conformance.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "wheel/timer_queue.h"

namespace duewheel {
namespace {

using TimerQueueTime = TimerQueueConformance;
INSTANTIATE_TEST_SUITE_P(Every, TimerQueueTime, testing::ValuesIn(tested_schemes()), name_of_scheme);

TEST_P(TimerQueueTime, is_empty_at_first) {
    AnyTimerQueue queue = make(42);
    queue.check();
    EXPECT_EQ(queue.now(), 42U);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_TRUE(queue.caught_up());
    EXPECT_EQ(queue.next_expiry(), kNever);
    EXPECT_EQ(advance_checked(queue, 1'000'000), FiredTimers{});
    EXPECT_EQ(queue.now(), 1'000'000U);
    EXPECT_FALSE(queue.cancel(TimerHandle{}));
    EXPECT_FALSE(queue.reschedule(TimerHandle{}, 5));
    EXPECT_EQ(queue.deadline_of(TimerHandle{}), std::nullopt);
}

TEST_P(TimerQueueTime, shows_its_use) {
    AnyTimerQueue queue = make(0);
    const TimerHandle request = queue.schedule(20, 7);
    const TimerHandle session = queue.schedule(30, 8);
    EXPECT_EQ(queue.next_expiry(), 20U);
    EXPECT_TRUE(queue.reschedule(session, 45));
    EXPECT_EQ(queue.deadline_of(session), 45U);
    EXPECT_TRUE(queue.cancel(request));
    EXPECT_EQ(queue.next_expiry(), 45U);
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(advance_checked(queue, 60), (FiredTimers{{8, 45}}));
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.next_expiry(), kNever);
}

TEST_P(TimerQueueTime, fires_on_the_tick_for_every_short_delay_from_every_phase) {
    // Traps: off by one slot; truncation in upper levels.
    for (Tick start = 0; start < 70; ++start) {
        for (Tick delay = 1; delay < 140; ++delay) {
            AnyTimerQueue queue = make(start);
            queue.schedule(start + delay, 1);
            const Tick next = queue.next_expiry();
            ASSERT_GE(next, start + delay);
            ASSERT_LE(next, fires_by(start, start + delay));
            ASSERT_EQ(queue.advance_to(next - 1, kIgnore), 0U) << start << " + " << delay;
            ASSERT_EQ(queue.advance_to(next, kIgnore), 1U) << start << " + " << delay;
        }
    }
}

TEST_P(TimerQueueTime, fires_on_the_slot_edge) {
    // Traps: truncation in upper levels, and slots that are off by one where levels meet.
    const std::vector<Tick> edges{9,       12,        27,        60,         64,         81,           400,
                                  512,     3600,      4096,      8000,       86'400,     160'000,      604'800,
                                  262'144, 2'678'400, 3'200'000, 16'777'216, 31'536'000, Tick{1} << 35};
    for (const Tick edge : edges) {
        for (const Tick start : {Tick{0}, edge / 2, edge - 2}) {
            for (const Tick deadline : {edge - 1, edge, edge + 1, 2 * edge - 1, 2 * edge}) {
                if (deadline > start) expect_fires_in_time(start, deadline);
            }
        }
    }
}

TEST_P(TimerQueueTime, fires_whatever_the_delay) {
    // Traps: a delay longer than the wheel; now + delay overflows.
    for (const Tick delay : {Tick{3'600'000}, Tick{1} << 32, Tick{1} << 40, Tick{1} << 60, Tick{1} << 63, kNever - 1}) {
        expect_fires_in_time(0, delay);
    }
}

TEST_P(TimerQueueTime, knows_no_32_bit_wrap) {
    const Tick wrap = Tick{1} << 32;
    for (const Tick deadline : {wrap - 1, wrap, wrap + 1, wrap + 100}) expect_fires_in_time(wrap - 50, deadline);
    AnyTimerQueue queue = make(wrap - 1);
    const std::uint64_t cookie = 0xfedc'ba98'7654'3210;
    queue.schedule(wrap + 1, cookie);
    EXPECT_EQ(advance_checked(queue, wrap + 1), (FiredTimers{{cookie, wrap + 1}}));
}

TEST_P(TimerQueueTime, works_up_to_the_last_tick) {
    expect_fires_in_time(kNever - 200, kNever - 1);
    expect_fires_in_time(kNever - 40, kNever - 1);
    AnyTimerQueue queue = make(kNever);
    EXPECT_EQ(queue.now(), kNever - 1);
    ASSERT_TRUE(queue.schedule(kNever - 1, 1));
    EXPECT_EQ(queue.next_expiry(), kNever - 1);
    EXPECT_EQ(advance_checked(queue, kNever), (FiredTimers{{1, kNever - 1}}));
    EXPECT_EQ(queue.next_expiry(), kNever);
}

TEST_P(TimerQueueTime, never_fires_a_timer_without_deadline) {
    AnyTimerQueue queue = make(0);
    const TimerHandle asleep = queue.schedule(kNever, 1);
    const TimerHandle woken = queue.schedule(kNever, 2);
    ASSERT_TRUE(asleep);
    EXPECT_EQ(queue.next_expiry(), kNever);
    EXPECT_EQ(advance_checked(queue, kNever - 1000), FiredTimers{});
    EXPECT_TRUE(queue.reschedule(woken, kNever - 990));
    EXPECT_EQ(advance_checked(queue, kNever), (FiredTimers{{2, kNever - 990}}));
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.deadline_of(asleep), kNever);
    EXPECT_TRUE(queue.cancel(asleep));
    queue.check();
}

TEST_P(TimerQueueTime, fires_a_past_deadline_at_the_next_advance) {
    // Traps: an unsigned difference that underflows files it far away; a next expiry in the past spins the loop.
    AnyTimerQueue queue = make(1000);
    queue.schedule(999, 1);
    queue.schedule(0, 2);
    queue.schedule(1000, 3);
    queue.schedule(1001, 4);
    EXPECT_EQ(queue.next_expiry(), 1000U);
    FiredTimers fired = advance_checked(queue, 1000);
    std::sort(fired.begin(), fired.end());
    EXPECT_EQ(fired, (FiredTimers{{1, 999}, {2, 0}, {3, 1000}}));
    EXPECT_EQ(queue.next_expiry(), 1001U);
}

TEST_P(TimerQueueTime, fires_late_timers_before_those_due_afterwards) {
    AnyTimerQueue queue = make(10);
    queue.schedule(11, 1);
    queue.schedule(5, 2);
    EXPECT_EQ(advance_checked(queue, 20), (FiredTimers{{2, 5}, {1, 11}}));
}

TEST_P(TimerQueueTime, fires_in_tick_order_over_a_jump) {
    AnyTimerQueue queue = make(7);
    std::vector<Tick> expected;
    std::uint64_t cookie = 0;
    for (unsigned bit = 3; bit < 64; ++bit) {
        for (const Tick offset : {5U, 0U, 1U, 3U}) {
            const Tick deadline = (Tick{1} << bit) + offset;
            if (schedule_if_reached(queue, deadline, cookie++)) expected.push_back(deadline);
        }
    }
    std::sort(expected.begin(), expected.end());
    Tick latest = 0;
    std::vector<Tick> fired;
    for (const auto& [fired_cookie, deadline] : advance_checked(queue, kNever)) {
        // What is late by the scheme's leave may come in another order, but not by more than that.
        EXPECT_LE(latest, fires_by(7, deadline));
        latest = std::max(latest, deadline);
        fired.push_back(deadline);
    }
    if (is_exact()) {
        EXPECT_EQ(fired, expected);
    }
    EXPECT_EQ(fired.size() + queue.size(), expected.size());
}

TEST_P(TimerQueueTime, crosses_an_idle_age_at_once) {
    // Trap: a jump that walks every tick would not return within a lifetime.
    AnyTimerQueue queue = make(0);
    std::size_t timers = 0;
    for (Tick tick = 1; tick < kNever / 4; tick *= 2) {
        EXPECT_EQ(queue.advance_to(tick - 1, kIgnore), 0U);
        if (schedule_if_reached(queue, kNever / 2, tick)) ++timers;
    }
    EXPECT_EQ(queue.advance_to(kNever / 2 - 1, kIgnore), 0U);
    EXPECT_EQ(queue.advance_to(kNever - 1, kIgnore), timers);
    queue.check();
}

TEST_P(TimerQueueTime, clamps_time_that_goes_backward) {
    AnyTimerQueue queue = make(100);
    queue.schedule(150, 1);
    advance_checked(queue, 120);
    EXPECT_EQ(advance_checked(queue, 50), FiredTimers{});
    EXPECT_EQ(queue.now(), 120U);
    queue.schedule(110, 2);
    EXPECT_EQ(advance_checked(queue, 0), (FiredTimers{{2, 110}}))
        << "what is late fires though the clock went backward";
    EXPECT_EQ(advance_checked(queue, 150), (FiredTimers{{1, 150}}));
}

TEST_P(TimerQueueTime, updates_the_minimum_when_it_is_cancelled) {
    // Trap: a stale minimum after a cancel wakes the loop for nothing.
    AnyTimerQueue queue = make(0);
    const TimerHandle first = queue.schedule(5000, 1);
    const TimerHandle second = queue.schedule(5700, 2);
    const TimerHandle third = queue.schedule(7900, 3);
    const Tick next = queue.next_expiry();
    EXPECT_GE(next, 5000U);
    EXPECT_TRUE(queue.cancel(first));
    EXPECT_GE(queue.next_expiry(), 5700U);
    EXPECT_TRUE(queue.reschedule(second, 8000));
    EXPECT_GE(queue.next_expiry(), 7900U);
    EXPECT_TRUE(queue.cancel(third));
    EXPECT_GE(queue.next_expiry(), 8000U);
    EXPECT_TRUE(queue.cancel(second));
    EXPECT_EQ(queue.next_expiry(), kNever);
    queue.check();
}

TEST_P(TimerQueueTime, reports_an_earlier_timer_while_its_owner_sleeps) {
    // Trap: a stale minimum after an insert that is earlier makes the loop oversleep.
    AnyTimerQueue queue = make(0);
    queue.schedule(8000, 1);
    EXPECT_GE(queue.next_expiry(), 8000U);
    const TimerHandle moved = queue.schedule(4000, 2);
    EXPECT_LE(queue.next_expiry(), fires_by(0, 4000));
    EXPECT_TRUE(queue.reschedule(moved, 500));
    EXPECT_LE(queue.next_expiry(), fires_by(0, 500));
    queue.schedule(10, 3);
    EXPECT_EQ(queue.next_expiry(), 10U);
}

TEST_P(TimerQueueTime, wakes_its_owner_only_when_something_fires) {
    // Traps: wake-ups for cancelled timers, for demotions, or one for each tick.
    AnyTimerQueue queue = make(0);
    std::vector<TimerHandle> cancelled;
    for (Tick deadline = 1; deadline < 5'000'000; deadline = deadline * 3 + 1) {
        if (!schedule_if_reached(queue, deadline, deadline)) break;
        if (const auto handle = schedule_if_reached(queue, deadline + 1, 0)) cancelled.push_back(*handle);
    }
    for (const TimerHandle handle : cancelled) EXPECT_TRUE(queue.cancel(handle));
    std::size_t wakes = 0;
    const std::size_t timers = queue.size();
    for (; queue.next_expiry() != kNever; ++wakes) {
        ASSERT_EQ(advance_checked(queue, queue.next_expiry()).size(), 1U);
    }
    EXPECT_EQ(wakes, timers);
}

TEST_P(TimerQueueTime, cancels_a_timer_wherever_it_has_been_moved) {
    // Traps: cancel racing a move between slots; unlinking by a position recorded before the timer moved.
    const Tick deadline = 5003;
    for (const Tick stop : {0, 1, 60, 500, 4096, 4860, 4992, 5000, 5002}) {
        AnyTimerQueue queue = make(0);
        const TimerHandle handle = queue.schedule(deadline, 1);
        queue.schedule(deadline, 2);
        advance_checked(queue, stop);
        EXPECT_TRUE(queue.cancel(handle));
        queue.check();
        const Tick next = queue.next_expiry();
        EXPECT_GE(next, deadline);
        EXPECT_EQ(advance_checked(queue, next), (FiredTimers{{2, deadline}}));
    }
}

TEST_P(TimerQueueTime, refuses_the_handle_of_a_timer_whose_memory_serves_another) {
    // Trap: a handle that is used again (ABA).
    AnyTimerQueue queue = make(0);
    const TimerHandle old = queue.schedule(5, 1);
    EXPECT_TRUE(queue.cancel(old));
    const TimerHandle reused = queue.schedule(6, 2);
    ASSERT_EQ(static_cast<std::uint32_t>(old.bits), static_cast<std::uint32_t>(reused.bits)) << "or nothing is tested";
    EXPECT_NE(old, reused);
    EXPECT_FALSE(queue.cancel(old));
    EXPECT_FALSE(queue.reschedule(old, 100));
    EXPECT_EQ(queue.deadline_of(old), std::nullopt);
    EXPECT_EQ(advance_checked(queue, 10), (FiredTimers{{2, 6}}));
    EXPECT_FALSE(queue.cancel(reused));
}

TEST_P(TimerQueueTime, keeps_occupancy_in_step_when_slots_empty_and_fill) {
    // Trap: the note that a slot is in use goes with the first of two timers, or stays after the second.
    for (unsigned bit = 0; bit < 63; ++bit) {
        AnyTimerQueue queue = make(0);
        const Tick deadline = Tick{1} << bit;
        if (deadline > queue.latest_deadline()) break;
        const TimerHandle a = queue.schedule(deadline, 1);
        const TimerHandle b = queue.schedule(deadline, 2);
        const Tick next = queue.next_expiry();
        EXPECT_TRUE(queue.cancel(a));
        queue.check();
        EXPECT_EQ(queue.next_expiry(), next) << "the slot still holds the other";
        EXPECT_TRUE(queue.cancel(b));
        queue.check();
        EXPECT_EQ(queue.next_expiry(), kNever);
        EXPECT_TRUE(queue.schedule(deadline, 3));
        queue.check();
        EXPECT_EQ(queue.next_expiry(), next);
    }
}

TEST_P(TimerQueueTime, uses_the_memory_of_cancelled_timers_again) {
    // Trap: cancelled far timers are kept until their time comes.
    AnyTimerQueue queue = make(0);
    const auto first = static_cast<std::uint32_t>(queue.schedule(8000, 0).bits);
    for (std::uint64_t round = 0; round < 20'000; ++round) {
        const TimerHandle handle = queue.schedule(4000 + round % 1000, round);
        ASSERT_LE(static_cast<std::uint32_t>(handle.bits), first + 1);
        ASSERT_TRUE(queue.cancel(handle));
    }
    EXPECT_EQ(queue.size(), 1U);
    queue.check();
}

TEST_P(TimerQueueTime, forgets_everything_on_clear) {
    AnyTimerQueue queue = make(0);
    const TimerHandle handle = queue.schedule(5000, 1);
    queue.schedule(1, 2);
    queue.schedule(0, 3);
    queue.schedule(kNever, 4);
    queue.clear();
    queue.check();
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_FALSE(queue.cancel(handle));
    EXPECT_EQ(queue.next_expiry(), kNever);
    EXPECT_EQ(advance_checked(queue, 10'000), FiredTimers{});
    queue.schedule(10'001, 5);
    EXPECT_EQ(advance_checked(queue, 10'001), (FiredTimers{{5, 10'001}}));
}

}  // namespace
}  // namespace duewheel
