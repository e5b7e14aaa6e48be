// What TimingWheel promises about a pass: sinks that cancel, move and arm timers, budgets that stop in the middle,
// sinks that throw. One named test for each promise and for each trap that other wheels fell into.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "wheel/timing_wheel_fired.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {
namespace {

TEST(TimingWheel, has_one_winner_between_cancel_and_fire) {
    TimingWheel wheel;
    const TimerHandle own = wheel.schedule(5, 1);
    bool cancelled_in_sink = true;
    wheel.advance_to(5, [&](std::uint64_t, Tick) { cancelled_in_sink = wheel.cancel(own); });
    EXPECT_FALSE(cancelled_in_sink);
    EXPECT_FALSE(wheel.cancel(own));
    EXPECT_FALSE(wheel.reschedule(own, 10));
    EXPECT_EQ(wheel.deadline_of(own), std::nullopt);

    const TimerHandle other = wheel.schedule(10, 2);
    EXPECT_TRUE(wheel.cancel(other));
    EXPECT_FALSE(wheel.cancel(other));
    EXPECT_EQ(advance(wheel, 10), Fired{});
}

TEST(TimingWheel, cancels_a_peer_due_in_the_same_pass) {
    TimingWheel wheel;
    const TimerHandle first = wheel.schedule(5, 1);
    const TimerHandle second = wheel.schedule(5, 2);
    const TimerHandle later = wheel.schedule(6, 3);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        EXPECT_TRUE(wheel.cancel(cookie == 1 ? second : first));
        EXPECT_TRUE(wheel.cancel(later));
        wheel.check();
    };
    EXPECT_EQ(wheel.advance_to(10, sink), 1U);
    EXPECT_EQ(fired.size(), 1U);
    EXPECT_TRUE(wheel.empty());
    wheel.check();
}

TEST(TimingWheel, moves_a_peer_due_in_the_same_pass) {
    TimingWheel wheel;
    std::map<std::uint64_t, TimerHandle> handles;
    for (std::uint64_t cookie = 1; cookie <= 3; ++cookie) handles[cookie] = wheel.schedule(5, cookie);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        handles.erase(cookie);
        Tick deadline = 4;  // the first peer becomes late and waits for the next call, the other moves on
        for (const auto& [peer, handle] : handles) EXPECT_TRUE(wheel.reschedule(handle, std::exchange(deadline, 50)));
        wheel.check();
    };
    EXPECT_EQ(wheel.advance_to(10, sink), 1U);
    EXPECT_EQ(advance(wheel, 10).size(), 1U);
    EXPECT_EQ(advance(wheel, 49).size(), 0U);
    EXPECT_EQ(advance(wheel, 50).size(), 1U);
}

TEST(TimingWheel, cancels_a_timer_wherever_demotion_has_brought_it) {
    // Trap: unlinking by a position recorded before the timer moved.
    const Tick deadline = 3 * 64 * 64 + 5 * 64 + 7;
    for (const Tick stop : {Tick{0}, Tick{3 * 64 * 64}, Tick{3 * 64 * 64 + 5 * 64}, deadline - 1}) {
        TimingWheel wheel;
        const TimerHandle handle = wheel.schedule(deadline, 1);
        wheel.schedule(deadline, 2);
        advance(wheel, stop);
        EXPECT_TRUE(wheel.cancel(handle));
        wheel.check();
        EXPECT_EQ(wheel.next_expiry(), deadline);
        EXPECT_EQ(advance(wheel, deadline), (Fired{{2, deadline}}));
    }
}

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

TEST(TimingWheel, keeps_the_handle_of_a_timer_that_arms_itself_again) {
    // Trap: a periodic timer cannot be cancelled in the gap between its run and its next arming.
    TimingWheel wheel;
    const TimerHandle handle = wheel.schedule(10, 1);
    std::size_t runs = 0;
    const auto sink = [&](std::uint64_t, Tick deadline) {
        EXPECT_EQ(wheel.size(), 0U) << "a timer that fires is not pending";
        EXPECT_EQ(wheel.deadline_of(handle), std::nullopt);
        EXPECT_TRUE(wheel.reschedule(handle, deadline + 10));
        EXPECT_EQ(wheel.deadline_of(handle), deadline + 10);
        ++runs;
        if (runs == 3) {
            EXPECT_TRUE(wheel.cancel(handle));
        }
    };
    for (Tick now = 0; now <= 100; now += 5) {
        wheel.advance_to(now, sink);
        wheel.check();
    }
    EXPECT_EQ(runs, 3U);
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, lets_a_timer_that_arms_itself_at_once_wait_for_the_next_call) {
    // Trap: a zero delay livelocks the pass. Here also a call that jumps far passes the new deadline only once.
    TimingWheel wheel;
    const TimerHandle handle = wheel.schedule(10, 1);
    for (const Tick deadline : {Tick{0}, Tick{10}, Tick{11}, Tick{100}}) {
        const auto sink = [&](std::uint64_t cookie, Tick) {
            EXPECT_EQ(wheel.now(), 100U);
            if (cookie == 2) return;
            EXPECT_TRUE(wheel.reschedule(handle, deadline));
            wheel.schedule(deadline, 2);
            wheel.check();
        };
        const std::size_t pending = wheel.size();
        EXPECT_EQ(wheel.advance_to(100, sink), pending);
        EXPECT_TRUE(wheel.caught_up()) << "what was armed in the call does not keep a loop going";
        EXPECT_EQ(wheel.next_expiry(), 100U) << "but it is due";
        wheel.check();
    }
}

TEST(TimingWheel, does_not_let_a_self_arming_timer_use_up_every_budget) {
    // Trap: the oldest always comes first, arms itself late again, and nobody else has a turn.
    TimingWheel wheel;
    const TimerHandle greedy_a = wheel.schedule(10, 1);
    const TimerHandle greedy_b = wheel.schedule(10, 2);
    wheel.schedule(20, 3);
    wheel.schedule(90, 4);
    std::vector<std::uint64_t> calm;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        if (cookie > 2) {
            calm.push_back(cookie);
        } else {
            EXPECT_TRUE(wheel.reschedule(cookie == 1 ? greedy_a : greedy_b, 0));
        }
    };
    for (Tick now = 100; now < 120; ++now) {
        wheel.advance_to(now, sink, 1);
        wheel.check();
    }
    EXPECT_EQ(calm, (std::vector<std::uint64_t>{3, 4}));
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

TEST(TimingWheel, takes_timers_into_the_slot_being_drained) {
    TimingWheel wheel(63);
    wheel.schedule(64 + 5, 1);
    bool first = true;
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        if (!std::exchange(first, false)) return;
        wheel.schedule(64 + 5, 2);         // this very tick
        wheel.schedule(64 + 5 + 64, 3);    // the same slot of the next round
        wheel.schedule(64 + 5 + 4096, 4);  // and one level up
        wheel.check();
    };
    EXPECT_EQ(wheel.advance_to(64 + 5, sink), 1U);
    EXPECT_EQ(wheel.advance_to(64 + 5, sink), 1U);
    EXPECT_EQ(wheel.advance_to(64 + 5 + 63, sink), 0U);
    EXPECT_EQ(wheel.advance_to(64 + 5 + 64, sink), 1U);
    EXPECT_EQ(wheel.advance_to(64 + 5 + 4096, sink), 1U);
    EXPECT_EQ(fired, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(TimingWheel, fires_what_the_sink_arms_after_the_call_in_its_turn) {
    TimingWheel wheel;
    wheel.schedule(10, 1);
    wheel.advance_to(20, [&](std::uint64_t, Tick) { wheel.schedule(21, 2); });
    EXPECT_EQ(wheel.next_expiry(), 21U);
    EXPECT_EQ(advance(wheel, 21), (Fired{{2, 21}}));
}

TEST(TimingWheel, stops_at_its_budget_and_goes_on) {
    TimingWheel wheel;
    std::vector<Tick> expected;
    for (std::uint64_t cookie = 0; cookie < 200; ++cookie) {
        const Tick deadline = 60 + cookie / 20;  // ten ticks of 20 over an edge between slots
        wheel.schedule(deadline, cookie);
        expected.push_back(deadline);
    }
    std::vector<Tick> fired;
    std::vector<bool> seen(200, false);
    std::size_t calls = 0;
    do {
        ++calls;
        const Fired part = advance(wheel, 100, 7);
        EXPECT_LE(part.size(), 7U);
        for (const auto& [cookie, deadline] : part) {
            EXPECT_FALSE(seen[cookie]);
            seen[cookie] = true;
            fired.push_back(deadline);
        }
        EXPECT_EQ(wheel.next_expiry(), wheel.caught_up() ? kNever : 100U);
        ASSERT_LT(calls, 1000U);
    } while (!wheel.caught_up());
    EXPECT_EQ(fired, expected);
    EXPECT_GE(calls, 200U / 7);
    EXPECT_EQ(wheel.advance_to(100, kIgnore, 0), 0U);
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

TEST(TimingWheel, spreads_the_burst_after_a_suspend_over_calls) {
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 5000; ++cookie) wheel.schedule(1 + cookie * 700, cookie);
    Tick now = Tick{1} << 40;
    std::uint64_t next = 0;
    for (std::size_t call = 0; !wheel.empty(); ++call, ++now) {
        ASSERT_LT(call, 1000U);
        const Fired part = advance(wheel, now, 64);
        for (const auto& [cookie, deadline] : part) EXPECT_EQ(cookie, next++);
    }
}

TEST(TimingWheel, fires_a_timer_once_though_its_sink_throws) {
    TimingWheel wheel;
    wheel.schedule(5, 1);
    wheel.schedule(6, 2);
    const TimerHandle again = wheel.schedule(7, 3);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        if (cookie == 3 && fired.size() == 3) {
            EXPECT_TRUE(wheel.reschedule(again, 8));
        }
        throw std::runtime_error("poison");
    };
    for (std::size_t left : {2U, 1U, 1U, 0U}) {
        EXPECT_THROW(wheel.advance_to(10, sink), std::runtime_error);
        EXPECT_EQ(wheel.size(), left);
        wheel.check();
    }
    EXPECT_EQ(wheel.advance_to(10, sink), 0U);
    EXPECT_EQ(fired, (std::vector<std::uint64_t>{1, 2, 3, 3}));
}

}  // namespace
}  // namespace duewheel
