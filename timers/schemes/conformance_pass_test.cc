// What wheel/timer_queue.h promises about a pass, run on every scheme and on the core wheel: sinks that cancel, move
// and arm timers, budgets that stop in the middle, sinks that throw. A test that a trap has led to says which in its
// first line.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "schemes/conformance.h"
#include "wheel/timer_queue.h"

namespace duewheel {
namespace {

using TimerQueuePass = TimerQueueConformance;
INSTANTIATE_TEST_SUITE_P(Every, TimerQueuePass, testing::ValuesIn(tested_schemes()), name_of_scheme);

TEST_P(TimerQueuePass, has_one_winner_between_cancel_and_fire) {
    AnyTimerQueue queue = make(0);
    const TimerHandle own = queue.schedule(5, 1);
    bool cancelled_in_sink = true;
    queue.advance_to(5, [&](std::uint64_t, Tick) { cancelled_in_sink = queue.cancel(own); });
    EXPECT_FALSE(cancelled_in_sink);
    EXPECT_FALSE(queue.cancel(own));
    EXPECT_FALSE(queue.reschedule(own, 10));
    EXPECT_EQ(queue.deadline_of(own), std::nullopt);

    const TimerHandle other = queue.schedule(10, 2);
    EXPECT_TRUE(queue.cancel(other));
    EXPECT_FALSE(queue.cancel(other));
    EXPECT_EQ(advance_checked(queue, 10), FiredTimers{});
}

TEST_P(TimerQueuePass, cancels_a_peer_due_in_the_same_pass) {
    AnyTimerQueue queue = make(0);
    const TimerHandle first = queue.schedule(5, 1);
    const TimerHandle second = queue.schedule(5, 2);
    const TimerHandle later = queue.schedule(6, 3);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        EXPECT_TRUE(queue.cancel(cookie == 1 ? second : first));
        EXPECT_TRUE(queue.cancel(later));
        queue.check();
    };
    EXPECT_EQ(queue.advance_to(10, sink), 1U);
    EXPECT_EQ(fired.size(), 1U);
    EXPECT_EQ(queue.size(), 0U);
    queue.check();
}

TEST_P(TimerQueuePass, moves_a_peer_due_in_the_same_pass) {
    AnyTimerQueue queue = make(0);
    std::map<std::uint64_t, TimerHandle> handles;
    for (std::uint64_t cookie = 1; cookie <= 3; ++cookie) handles[cookie] = queue.schedule(5, cookie);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        handles.erase(cookie);
        Tick deadline = 4;  // the first peer becomes late and waits for the next call, the other moves on
        for (const auto& [peer, handle] : handles) EXPECT_TRUE(queue.reschedule(handle, std::exchange(deadline, 50)));
        queue.check();
    };
    EXPECT_EQ(queue.advance_to(10, sink), 1U);
    EXPECT_EQ(advance_checked(queue, 10).size(), 1U);
    EXPECT_EQ(advance_checked(queue, 49).size(), 0U);
    EXPECT_EQ(advance_checked(queue, 50).size(), 1U);
}

TEST_P(TimerQueuePass, keeps_the_handle_of_a_timer_that_arms_itself_again) {
    // Trap: a periodic timer cannot be cancelled in the gap between its run and its next arming.
    AnyTimerQueue queue = make(0);
    const TimerHandle handle = queue.schedule(10, 1);
    std::size_t runs = 0;
    const auto sink = [&](std::uint64_t, Tick deadline) {
        EXPECT_EQ(queue.size(), 0U) << "a timer that fires is not pending";
        EXPECT_EQ(queue.deadline_of(handle), std::nullopt);
        EXPECT_TRUE(queue.reschedule(handle, deadline + 10));
        EXPECT_EQ(queue.deadline_of(handle), deadline + 10);
        ++runs;
        if (runs == 3) {
            EXPECT_TRUE(queue.cancel(handle));
        }
    };
    for (Tick now = 0; now <= 100; now += 5) {
        queue.advance_to(now, sink);
        queue.check();
    }
    EXPECT_EQ(runs, 3U);
    EXPECT_EQ(queue.size(), 0U);
}

TEST_P(TimerQueuePass, lets_a_timer_that_arms_itself_at_once_wait_for_the_next_call) {
    // Trap: a zero delay livelocks the pass. Here also a call that jumps far passes the new deadline only once.
    AnyTimerQueue queue = make(0);
    const TimerHandle handle = queue.schedule(10, 1);
    for (const Tick deadline : {Tick{0}, Tick{10}, Tick{11}, Tick{100}}) {
        const auto sink = [&](std::uint64_t cookie, Tick) {
            EXPECT_EQ(queue.now(), 100U);
            if (cookie == 2) return;
            EXPECT_TRUE(queue.reschedule(handle, deadline));
            queue.schedule(deadline, 2);
            queue.check();
        };
        const std::size_t pending = queue.size();
        EXPECT_EQ(queue.advance_to(100, sink), pending);
        EXPECT_TRUE(queue.caught_up()) << "what was armed in the call does not keep a loop going";
        EXPECT_EQ(queue.next_expiry(), 100U) << "but it is due";
        queue.check();
    }
}

TEST_P(TimerQueuePass, does_not_let_a_self_arming_timer_use_up_every_budget) {
    // Trap: the oldest always comes first, arms itself late again, and no other timer has a turn.
    AnyTimerQueue queue = make(0);
    const TimerHandle greedy_a = queue.schedule(10, 1);
    const TimerHandle greedy_b = queue.schedule(10, 2);
    queue.schedule(20, 3);
    queue.schedule(90, 4);
    std::vector<std::uint64_t> calm;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        if (cookie > 2) {
            calm.push_back(cookie);
        } else {
            EXPECT_TRUE(queue.reschedule(cookie == 1 ? greedy_a : greedy_b, 0));
        }
    };
    for (Tick now = 100; now < 120; ++now) {
        queue.advance_to(now, sink, 1);
        queue.check();
    }
    EXPECT_EQ(calm, (std::vector<std::uint64_t>{3, 4}));
}

TEST_P(TimerQueuePass, takes_timers_into_the_slot_being_drained) {
    // Trap: what the sink puts into the slot that fires just now is lost, or fired a turn early, or for ever.
    for (const Tick turn : {3, 4, 8, 9, 12, 20, 60, 64, 400, 3600, 4096}) {
        SCOPED_TRACE(turn);
        AnyTimerQueue queue = make(turn - 1);
        const Tick deadline = turn + 5;
        queue.schedule(deadline, 1);
        bool first = true;
        std::vector<std::uint64_t> fired;
        const auto sink = [&](std::uint64_t cookie, Tick) {
            fired.push_back(cookie);
            if (!std::exchange(first, false)) return;
            queue.schedule(deadline, 2);         // this very tick
            queue.schedule(deadline + turn, 3);  // the same slot of the next turn
            queue.check();
        };
        EXPECT_EQ(queue.advance_to(deadline, sink), 1U);
        EXPECT_EQ(queue.advance_to(deadline, sink), 1U);
        EXPECT_EQ(queue.advance_to(deadline + turn - 1, sink), 0U);
        EXPECT_EQ(queue.advance_to(fires_by(deadline, deadline + turn), sink), 1U);
        EXPECT_EQ(fired, (std::vector<std::uint64_t>{1, 2, 3}));
    }
}

TEST_P(TimerQueuePass, fires_what_the_sink_arms_after_the_call_in_its_turn) {
    AnyTimerQueue queue = make(0);
    queue.schedule(10, 1);
    queue.advance_to(20, [&](std::uint64_t, Tick) { queue.schedule(21, 2); });
    EXPECT_EQ(queue.next_expiry(), 21U);
    EXPECT_EQ(advance_checked(queue, 21), (FiredTimers{{2, 21}}));
}

TEST_P(TimerQueuePass, stops_at_its_budget_and_goes_on) {
    // Trap: a budget that stops in the middle of a slot loses what was left, or fires it twice.
    AnyTimerQueue queue = make(0);
    std::vector<Tick> expected;
    for (std::uint64_t cookie = 0; cookie < 200; ++cookie) {
        const Tick deadline = 55 + cookie / 20;  // ten ticks of 20 over an edge between slots
        queue.schedule(deadline, cookie);
        expected.push_back(deadline);
    }
    std::vector<Tick> fired;
    std::vector<bool> seen(200, false);
    std::size_t calls = 0;
    do {
        ++calls;
        const FiredTimers part = advance_checked(queue, 100, 7);
        EXPECT_LE(part.size(), 7U);
        for (const auto& [cookie, deadline] : part) {
            EXPECT_FALSE(seen[cookie]);
            seen[cookie] = true;
            fired.push_back(deadline);
        }
        EXPECT_EQ(queue.next_expiry(), queue.caught_up() ? kNever : 100U);
        ASSERT_LT(calls, 1000U);
    } while (!queue.caught_up());
    if (!is_exact()) std::sort(fired.begin(), fired.end());
    EXPECT_EQ(fired, expected);
    EXPECT_GE(calls, 200U / 7);
    EXPECT_EQ(queue.advance_to(100, kIgnore, 0), 0U);
}

TEST_P(TimerQueuePass, spreads_the_burst_after_a_suspend_over_calls) {
    AnyTimerQueue queue = make(0);
    for (std::uint64_t cookie = 0; cookie < 1000; ++cookie) queue.schedule(1 + cookie * 8, cookie);
    Tick now = Tick{1} << 40;
    std::vector<bool> seen(1000, false);
    for (std::size_t call = 0; queue.size() > 0; ++call, ++now) {
        ASSERT_LT(call, 300U);
        const FiredTimers part = advance_checked(queue, now, 64);
        ASSERT_LE(part.size(), 64U);
        for (const auto& [cookie, deadline] : part) {
            ASSERT_FALSE(seen[cookie]);
            seen[cookie] = true;
        }
    }
}

TEST_P(TimerQueuePass, fires_a_timer_once_though_its_sink_throws) {
    // Trap: a timer that always throws stays the oldest, and nothing else ever fires.
    AnyTimerQueue queue = make(0);
    queue.schedule(5, 1);
    queue.schedule(6, 2);
    const TimerHandle again = queue.schedule(7, 3);
    std::vector<std::uint64_t> fired;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        fired.push_back(cookie);
        if (cookie == 3 && fired.size() == 3) {
            EXPECT_TRUE(queue.reschedule(again, 8));
        }
        throw std::runtime_error("poison");
    };
    for (const std::size_t left : {2U, 1U, 1U, 0U}) {
        EXPECT_THROW(queue.advance_to(10, sink), std::runtime_error);
        EXPECT_EQ(queue.size(), left);
        queue.check();
    }
    EXPECT_EQ(queue.advance_to(10, sink), 0U);
    EXPECT_EQ(fired, (std::vector<std::uint64_t>{1, 2, 3, 3}));
}

TEST_P(TimerQueuePass, fires_others_beside_one_that_always_throws_and_arms_itself_late) {
    // Trap: a poison timer that is armed again each time it fails is the oldest for ever, and with a budget of one no
    // other timer has a turn.
    AnyTimerQueue queue = make(0);
    constexpr std::uint64_t kPoison = 99;
    const TimerHandle poison = queue.schedule(1, kPoison);
    for (std::uint64_t cookie = 0; cookie < 20; ++cookie) queue.schedule(10 + cookie, cookie);
    std::vector<std::uint64_t> calm;
    std::size_t thrown = 0;
    const auto sink = [&](std::uint64_t cookie, Tick) {
        if (cookie != kPoison) return calm.push_back(cookie);
        EXPECT_TRUE(queue.reschedule(poison, 0));
        throw std::runtime_error("poison");
    };
    for (Tick now = 100; now < 300; ++now) {
        try {
            queue.advance_to(now, sink, 1);
        } catch (const std::runtime_error&) {
            ++thrown;
        }
        queue.check();
    }
    ASSERT_EQ(calm.size(), 20U);
    for (std::uint64_t cookie = 0; cookie < 20; ++cookie) EXPECT_EQ(calm[cookie], cookie);
    EXPECT_GE(thrown, 20U) << "it has its turns too";
    EXPECT_EQ(queue.size(), 1U);
}

TEST_P(TimerQueuePass, may_be_cleared_by_its_sink) {
    // Trap: a callback that destroys its timer, and all others.
    AnyTimerQueue queue = make(0);
    const TimerHandle own = queue.schedule(5, 1);
    queue.schedule(5, 2);
    queue.schedule(6, 3);
    const auto sink = [&](std::uint64_t, Tick) {
        queue.clear();
        queue.check();
        EXPECT_FALSE(queue.reschedule(own, 50)) << "a cleared timer does not come back";
        queue.schedule(60, 4);
    };
    EXPECT_EQ(queue.advance_to(10, sink), 1U);
    queue.check();
    EXPECT_EQ(advance_checked(queue, 100), (FiredTimers{{4, 60}}));
}

TEST_P(TimerQueuePass, reports_the_rest_to_its_sink_without_the_timer_that_fires) {
    // In the sink of the only timer two fronts of the core wheel said that something was due at once and that they were
    // not caught up, and all other queues that nothing was left.
    AnyTimerQueue queue = make(0);
    const auto expect_left = [&queue](std::size_t size, bool caught_up, Tick next) {
        EXPECT_EQ(queue.size(), size);
        EXPECT_EQ(queue.caught_up(), caught_up);
        EXPECT_EQ(queue.next_expiry(), next);
        queue.check();
        EXPECT_EQ(queue.next_expiry(), next) << "asked again";
    };
    const auto fire_one = [&queue](Tick now, const AnyTimerQueue::Sink& sink) {
        std::size_t seen = 0;
        queue.advance_to(now, [&](std::uint64_t cookie, Tick deadline) {
            if (seen++ == 0) sink(cookie, deadline);
        });
        queue.check();
    };
    queue.schedule(5, 1);
    fire_one(5, [&](std::uint64_t, Tick) { expect_left(0, true, kNever); });
    EXPECT_EQ(queue.next_expiry(), kNever);

    queue.schedule(10, 1);
    queue.schedule(12, 2);
    fire_one(10, [&](std::uint64_t, Tick) { expect_left(1, true, 12); });
    EXPECT_EQ(queue.next_expiry(), 12U);
    queue.schedule(12, 3);
    fire_one(12, [&](std::uint64_t, Tick) { expect_left(1, false, 12); });

    const TimerHandle own = queue.schedule(20, 1);
    fire_one(20, [&](std::uint64_t, Tick) {
        const TimerHandle late = queue.schedule(7, 2);
        expect_left(1, true, 20);
        EXPECT_TRUE(queue.cancel(late));
        expect_left(0, true, kNever);
        EXPECT_TRUE(queue.reschedule(own, 23));
        expect_left(1, true, 23);
        queue.clear();
        expect_left(0, true, kNever);
    });
    EXPECT_TRUE(queue.caught_up());

    // A peer of the same tick that is moved on, or cancelled, is no longer due.
    std::map<std::uint64_t, TimerHandle> peers;
    for (std::uint64_t cookie = 0; cookie < 3; ++cookie) peers[cookie] = queue.schedule(30, cookie);
    fire_one(30, [&](std::uint64_t cookie, Tick) {
        expect_left(2, false, 30);
        peers.erase(cookie);
        EXPECT_TRUE(queue.reschedule(peers.begin()->second, 33));
        expect_left(2, false, 30);
        EXPECT_TRUE(queue.cancel(peers.rbegin()->second));
        expect_left(1, true, 33);
    });
    EXPECT_EQ(queue.next_expiry(), 33U);
    EXPECT_EQ(advance_checked(queue, 40).size(), 1U);

    // The sink of the first timer that became late between two calls receives the others.
    for (std::uint64_t cookie = 0; cookie < 2; ++cookie) queue.schedule(1, cookie);
    fire_one(41, [&](std::uint64_t, Tick) { expect_left(1, false, 41); });
    EXPECT_EQ(queue.size(), 0U);

    // And one that the sink arms late once more waits for the next call.
    for (std::uint64_t cookie = 0; cookie < 2; ++cookie) peers[cookie] = queue.schedule(1, cookie);
    fire_one(42, [&](std::uint64_t cookie, Tick) {
        EXPECT_TRUE(queue.reschedule(peers[1 - cookie], 2));
        expect_left(1, true, 42);
    });
    EXPECT_EQ(advance_checked(queue, 42).size(), 1U);
}

TEST_P(TimerQueuePass, never_tells_its_sink_of_a_later_time_than_when_something_fires) {
    // Over a jump, with timers before the time, beyond it, and cancelled in between.
    AnyTimerQueue queue = make(0);
    std::map<Tick, TimerHandle> due;  // one a tick
    for (Tick deadline = 3; deadline < 3000; deadline += 37) due[deadline] = queue.schedule(deadline, deadline);
    const auto sink = [&](std::uint64_t cookie, Tick deadline) {
        due.erase(deadline);
        if (cookie % 2 == 0 && !due.empty()) {
            EXPECT_TRUE(queue.cancel(due.begin()->second));
            due.erase(due.begin());
        }
        if (cookie % 3 == 0 && !due.empty()) {
            EXPECT_TRUE(queue.cancel(due.rbegin()->second));
            due.erase(std::prev(due.end()));
        }
        const Tick earliest = due.empty() ? kNever : std::max(due.begin()->first, queue.now());
        if (is_exact()) {
            EXPECT_LE(queue.next_expiry(), earliest);
            EXPECT_EQ(queue.next_expiry(), queue.caught_up() ? earliest : queue.now());
        }
        EXPECT_GE(queue.next_expiry(), queue.now());
        queue.check();
    };
    for (const Tick now : {200U, 210U, 700U, 3000U, 6000U}) queue.advance_to(now, sink);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_TRUE(due.empty());
}

TEST_P(TimerQueuePass, grows_inside_a_sink) {
    AnyTimerQueue queue = make(0);
    queue.schedule(1, 0);
    queue.schedule(1, 0);
    const auto sink = [&](const std::uint64_t& cookie, const Tick& deadline) {
        for (std::uint64_t added = 1; added <= 1000; ++added) queue.schedule(100 + added, added);
        EXPECT_EQ(cookie, 0U);
        EXPECT_EQ(deadline, 1U);
    };
    EXPECT_EQ(queue.advance_to(1, sink), 2U);
    queue.check();
    EXPECT_EQ(advance_checked(queue, 20'000).size(), 2000U);
}

}  // namespace
}  // namespace duewheel
