// What TimingWheel promises about its levels, handles and memory beyond the conformance suite
// (schemes/conformance_test.cc), which runs on it too. What happens inside and between calls of advance_to() is
// in timing_wheel_pass_test.cc, random histories against a model are in timing_wheel_model_test.cc.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include "wheel/timing_wheel_fired.h"
#include "wheel/wheel_probes.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

namespace {

// Fires at `deadline` and at no tick before, however the time gets there.
void expect_fires_exactly_at(Tick start, Tick deadline) {
    SCOPED_TRACE(testing::Message() << "start " << start << " deadline " << deadline);
    TimingWheel jumped(start);
    jumped.schedule(deadline, 1);
    jumped.check();
    EXPECT_EQ(jumped.next_expiry(), deadline);
    EXPECT_EQ(advance(jumped, deadline - 1), Fired{});
    EXPECT_EQ(jumped.next_expiry(), deadline);
    EXPECT_EQ(advance(jumped, deadline), (Fired{{1, deadline}}));

    // The same in steps of half the way, which stops within the span of many slots.
    TimingWheel stepped(start);
    stepped.schedule(deadline, 1);
    while (stepped.now() + 1 < deadline) {
        const Tick left = deadline - 1 - stepped.now();
        EXPECT_EQ(advance(stepped, stepped.now() + (left + 1) / 2), Fired{});
    }
    EXPECT_EQ(advance(stepped, deadline), (Fired{{1, deadline}}));
}

TEST(TimingWheel, follows_the_placement_example_of_its_header) {
    TimingWheel wheel(100);
    wheel.schedule(101, 1);
    wheel.schedule(130, 2);
    wheel.schedule(5000, 3);
    EXPECT_EQ(advance(wheel, 101), (Fired{{1, 101}}));
    EXPECT_EQ(advance(wheel, 128), Fired{});
    EXPECT_EQ(advance(wheel, 130), (Fired{{2, 130}}));
    EXPECT_EQ(advance(wheel, 4096), Fired{});
    EXPECT_EQ(advance(wheel, 4992), Fired{});
    EXPECT_EQ(advance(wheel, 4999), Fired{});
    EXPECT_EQ(advance(wheel, 5000), (Fired{{3, 5000}}));
}

TEST(TimingWheel, follows_the_example_of_its_levels) {
    // That of parking_levels.h: when each timer is moved down, which touched() tells.
    TimingWheel wheel(100);
    wheel.schedule(130, 1);
    wheel.schedule(300, 2);
    wheel.schedule(20'000, 3);
    wheel.check();
    std::map<Tick, std::uint64_t> touched;  // ticks at which something was
    std::map<Tick, Fired> fired;
    for (Tick now = 101; now <= 20'000; ++now) {
        const std::uint64_t before = wheel.touched();
        const Fired part = advance(wheel, now);
        if (wheel.touched() != before) touched[now] = wheel.touched() - before;
        if (!part.empty()) fired[now] = part;
    }
    EXPECT_EQ(fired, (std::map<Tick, Fired>{{130, {{1, 130}}}, {300, {{2, 300}}}, {20'000, {{3, 20'000}}}}));
    EXPECT_EQ(touched.size(), 6U);
    const auto moves_within = [&touched](Tick first, Tick last) {
        const auto found = touched.lower_bound(first);
        return found != touched.end() && found->first <= last && found->second == 1;
    };
    EXPECT_TRUE(moves_within(192, 255)) << "300 to level 0";
    EXPECT_TRUE(moves_within(12'288, 16'383)) << "20000 to level 1";
    EXPECT_TRUE(moves_within(19'904, 19'967)) << "and to level 0";
}

// The example of parking_levels.h.
TEST(TimingWheel, shows_the_slots_of_its_timers) {
    TimingWheel wheel(100);
    using Slots = std::map<std::pair<unsigned, Tick>, std::size_t>;
    std::size_t others = 0;
    const auto slots = [&] {
        Slots used;
        others = wheel.visit_slots([&](unsigned level, Tick start, std::size_t timers) {
            EXPECT_TRUE(used.emplace(std::pair(level, start), timers).second);
        });
        return used;
    };
    for (const Tick deadline : {130, 130, 300, 20000}) wheel.schedule(deadline, 1);
    const TimerHandle moved = wheel.schedule(131, 1);
    const TimerHandle cancelled = wheel.schedule(132, 1);
    wheel.schedule(kNever, 1);
    wheel.schedule(100, 1);
    const Slots before{{{0, 130}, 2}, {{0, 131}, 1}, {{0, 132}, 1}, {{1, 256}, 1}, {{2, 16384}, 1}};
    EXPECT_EQ(slots(), before);
    EXPECT_EQ(others, 1u) << "the late one";
    ASSERT_TRUE(wheel.cancel(cancelled));
    ASSERT_TRUE(wheel.reschedule(moved, 300));
    const Slots after{{{0, 130}, 2}, {{0, 131}, 1}, {{1, 256}, 1}, {{2, 16384}, 1}};
    EXPECT_EQ(slots(), after) << "a timer that is moved to a later tick stays parked";
    EXPECT_EQ(advance(wheel, 255).size(), 3u);
    const Slots later{{{0, 300}, 2}, {{2, 16384}, 1}};
    EXPECT_EQ(slots(), later) << "they have moved down";
    EXPECT_EQ(others, 0u);
}

TEST(TimingWheel, fires_on_the_slot_edge) {
    // Trap: truncation in upper levels, and slots that are off by one where levels meet.
    for (unsigned level = 1; level < 11; ++level) {
        const Tick edge = Tick{1} << (6 * level);
        for (const Tick start : {Tick{0}, edge / 2, edge - 2}) {
            for (const Tick deadline : {edge - 1, edge, edge + 1, 2 * edge - 1, 2 * edge}) {
                if (deadline > start) expect_fires_exactly_at(start, deadline);
            }
        }
    }
}

TEST(TimingWheel, never_repeats_a_handle_when_generations_run_out) {
    TimingWheel wheel;
    const TimerHandle first = wheel.schedule(5, 1);
    EXPECT_TRUE(wheel.cancel(first));
    TimingWheelProbe::use_last_generation(wheel);
    const TimerHandle last = wheel.schedule(5, 2);
    EXPECT_EQ(last.bits >> 32, std::numeric_limits<std::uint32_t>::max());
    EXPECT_TRUE(wheel.cancel(last));
    wheel.check();
    const TimerHandle fresh = wheel.schedule(5, 3);
    EXPECT_NE(static_cast<std::uint32_t>(fresh.bits), static_cast<std::uint32_t>(last.bits));
    EXPECT_FALSE(wheel.cancel(first));
    EXPECT_FALSE(wheel.cancel(last));
    EXPECT_TRUE(wheel.cancel(fresh));
}

TEST(TimingWheel, refuses_handles_it_never_returned) {
    TimingWheel wheel;
    wheel.schedule(5, 1);
    EXPECT_FALSE(TimerHandle{});
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1} << 32, std::uint64_t{1} << 32 | 703,
                                     std::uint64_t{1} << 32 | 0xffff'ffff, ~std::uint64_t{0}}) {
        EXPECT_FALSE(wheel.cancel(TimerHandle{bits}));
        EXPECT_FALSE(wheel.reschedule(TimerHandle{bits}, 6));
        EXPECT_EQ(wheel.deadline_of(TimerHandle{bits}), std::nullopt);
    }
    wheel.check();
    EXPECT_EQ(wheel.size(), 1U);
}

TEST(TimingWheel, keeps_no_memory_of_cancelled_far_timers) {
    TimingWheel wheel;
    ASSERT_TRUE(wheel.cancel(wheel.schedule(1, 0)));  // the first timer gets the wheel its memory
    const std::size_t before = wheel.memory_bytes();
    for (std::uint64_t round = 0; round < 100'000; ++round) {
        ASSERT_TRUE(wheel.cancel(wheel.schedule(Tick{1} << 50 | round, round)));
    }
    EXPECT_EQ(wheel.memory_bytes(), before);
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, uses_32_bytes_per_timer) {
    TimingWheel wheel;
    const std::size_t empty = wheel.memory_bytes();
    EXPECT_LE(empty, 256U * 1024) << "a table of nodes, of which one is touched, and the slots";
    const std::size_t timers = 500'000;
    for (std::uint64_t cookie = 0; cookie < timers; ++cookie) wheel.schedule(cookie * 97, cookie);
    EXPECT_LE(wheel.memory_bytes(), empty + timers * 65 / 2);
    EXPECT_THROW(wheel.reserve(TimingWheel::kTimersMax + 1), std::length_error);
}

TEST(TimingWheel, is_caught_up_when_it_was_cleared_after_a_stop) {
    // A wheel cleared after a call that had stopped said that there was work left, and its owner did not sleep.
    TimingWheel wheel;
    for (std::uint64_t cookie = 0; cookie < 10; ++cookie) wheel.schedule(5 + 64 * cookie, cookie);
    wheel.schedule(0, 10);
    EXPECT_EQ(advance(wheel, 1000, 3).size(), 3U);
    EXPECT_FALSE(wheel.caught_up());
    wheel.clear();
    wheel.check();
    EXPECT_TRUE(wheel.caught_up());
    EXPECT_EQ(wheel.next_expiry(), kNever);
    wheel.schedule(1001, 11);
    EXPECT_EQ(wheel.next_expiry(), 1001U);
    EXPECT_EQ(advance(wheel, 1000), Fired{});
    EXPECT_EQ(advance(wheel, 1001), (Fired{{11, 1001}}));
}

TEST(TimingWheel, never_fires_what_a_posted_cancel_named) {
    TimingWheel wheel;
    std::vector<TimerHandle> handles;
    for (std::uint64_t cookie = 0; cookie < 100; ++cookie) handles.push_back(wheel.schedule(10 + cookie, cookie));
    for (std::uint64_t cookie = 0; cookie < 40; ++cookie) wheel.cancel_posted(handles[cookie]);
    wheel.cancel_posted(TimerHandle{});
    wheel.cancel_posted(TimerHandle{~std::uint64_t{0}});
    wheel.check();
    EXPECT_EQ(wheel.next_expiry(), 50U);
    EXPECT_EQ(wheel.size(), 60U);
    wheel.cancel_posted(handles[40]);
    EXPECT_EQ(advance(wheel, 52), (Fired{{41, 51}, {42, 52}}));
    wheel.cancel_posted(handles[41]);  // it has fired
    wheel.cancel_posted(handles[44]);
    wheel.clear();
    const TimerHandle fresh = wheel.schedule(60, 1);
    for (const TimerHandle handle : handles) wheel.cancel_posted(handle);
    EXPECT_EQ(advance(wheel, 200), (Fired{{1, 60}}));
    wheel.cancel_posted(fresh);
    EXPECT_EQ(advance(wheel, 300), Fired{});
}

TEST(TimingWheel, executes_a_posted_cancel_with_the_sixteenth_after_it_at_the_latest) {
    // With a ring of 256 every other promise held, but timers stayed for long after their cancel.
    TimingWheel wheel;
    std::vector<TimerHandle> handles;
    for (std::uint64_t cookie = 0; cookie < 40; ++cookie) handles.push_back(wheel.schedule(10 + cookie, cookie));
    for (std::size_t posted = 1; posted <= 40; ++posted) {
        wheel.cancel_posted(handles[posted - 1]);
        EXPECT_GE(wheel.size(), 40 - posted);
        EXPECT_LE(wheel.size(), 40 - posted + 16);
    }
    EXPECT_EQ(wheel.next_expiry(), kNever);
    EXPECT_EQ(wheel.size(), 0U);
}

TEST(TimingWheel, posted_cancel_reaches_a_peer_in_the_same_pass) {
    TimingWheel wheel;
    const TimerHandle first = wheel.schedule(5, 1);
    const TimerHandle second = wheel.schedule(5, 2);
    const auto sink = [&](std::uint64_t cookie, Tick) { wheel.cancel_posted(cookie == 1 ? second : first); };
    EXPECT_EQ(wheel.advance_to(5, sink), 1U);
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, lists_no_timer_whose_cancel_was_posted) {
    // A list of what was pending was taken over into another wheel, and timers came back whose cancel had only been
    // posted: neither pending() nor deadline_of() carried out what next_expiry() does.
    TimingWheel wheel;
    const TimerHandle cancelled = wheel.schedule(100, 7);
    const TimerHandle kept = wheel.schedule(200, 8);
    wheel.cancel_posted(cancelled);
    EXPECT_EQ(wheel.deadline_of(cancelled), std::nullopt);
    wheel.cancel_posted(wheel.schedule(50, 9));
    const std::vector<TimingWheel::Pending> pending = wheel.pending();
    ASSERT_EQ(pending.size(), 1U);
    EXPECT_EQ(pending[0].handle, kept);
    EXPECT_EQ(wheel.size(), 1U);
    wheel.check();
}

TEST(TimingWheel, tells_what_is_pending_in_order_so_that_another_may_take_it_over) {
    TimingWheel wheel(10);
    for (const Tick deadline : {500U, 11U, 70'000U, 3U, 500U}) wheel.schedule(deadline, deadline + 1);
    wheel.schedule(kNever, 77);
    EXPECT_TRUE(wheel.cancel(wheel.schedule(12, 0)));
    TimingWheel other(wheel.now());
    std::vector<Tick> deadlines;
    for (const TimingWheel::Pending& timer : wheel.pending()) {
        deadlines.push_back(timer.deadline);
        EXPECT_EQ(wheel.deadline_of(timer.handle), timer.deadline);
        other.schedule(timer.deadline, timer.cookie);
    }
    EXPECT_EQ(deadlines, (std::vector<Tick>{3, 11, 500, 500, 70'000, kNever}));
    EXPECT_EQ(other.size(), wheel.size());
    EXPECT_EQ(advance(other, 100'000), advance(wheel, 100'000));
}

TEST(TimingWheel, names_the_beginning_of_the_first_slot_as_its_next_work) {
    // One that always answered now() kept every other promise, and its owner never slept.
    TimingWheel wheel;
    EXPECT_EQ(wheel.next_work(), kNever);
    wheel.schedule(kNever, 1);
    EXPECT_EQ(wheel.next_work(), kNever);
    wheel.schedule(5000, 2);
    EXPECT_EQ(wheel.next_work(), 4992U) << "the beginning of its slot of 64 ticks";
    const TimerHandle near = wheel.schedule(70, 3);
    EXPECT_EQ(wheel.next_work(), 70U);
    EXPECT_TRUE(wheel.cancel(near));
    EXPECT_EQ(wheel.next_work(), 70U) << "a wake-up that fires nothing";
    EXPECT_EQ(wheel.touched(), 0U) << "no entry is looked at for any of this";
    EXPECT_EQ(advance(wheel, 70), Fired{});
    EXPECT_EQ(wheel.next_work(), 4992U);
    wheel.schedule(70, 4);
    EXPECT_EQ(wheel.next_work(), 70U) << "it is late, and now() is 70";
}

TEST(Tick, sums_stop_at_never) {
    EXPECT_EQ(tick_after(5, 7), 12U);
    EXPECT_EQ(tick_after(kNever - 5, 4), kNever - 1);
    for (const Tick delay : {Tick{5}, Tick{6}, kNever}) EXPECT_EQ(tick_after(kNever - 5, delay), kNever);
    EXPECT_EQ(tick_after(0, kNever), kNever);
}

TEST(Tick, relaxed_is_never_early_nor_too_late_and_as_round_as_may_be) {
    EXPECT_EQ(relaxed_tick(1000, 50), 1024U);
    EXPECT_EQ(relaxed_tick(1000, 10), 1010U);
    EXPECT_EQ(relaxed_tick(1000, 0), 1000U);
    EXPECT_EQ(relaxed_tick(1000, 200), 1152U) << "of three multiples of 64 the last";
    EXPECT_EQ(relaxed_tick(4000, 200), 4096U) << "rounder than the multiples of 64 around it";
    EXPECT_EQ(relaxed_tick(260'000, 5000), 262'144U);
    // A slack of kNever gave tick 0: the end of the window was taken to be before its beginning.
    EXPECT_EQ(relaxed_tick(1, kNever), Tick{15} << 60);
    EXPECT_EQ(relaxed_tick(kLastTick, kNever), kLastTick);
    EXPECT_EQ(relaxed_tick(0, 100), 0U);
    EXPECT_EQ(relaxed_tick(kNever, 100), kNever);
    EXPECT_LT(relaxed_tick(kNever - 10, 100), kNever);
    Random random(7);
    for (int i = 0; i < 100'000; ++i) {
        const Tick deadline = 1 + (random.next() >> random.below(64));
        const Tick slack = random.next() >> random.below(64);
        if (deadline == 0 || deadline == kNever) continue;
        const Tick relaxed = relaxed_tick(deadline, slack);
        ASSERT_GE(relaxed, deadline);
        ASSERT_LE(relaxed - deadline, slack);
        if (slack == 0) continue;
        // Nothing in the window is rounder, and nothing later in it as round.
        Tick round = 1;
        while (round < Tick{1} << 60 && relaxed % (64 * round) == 0) round *= 64;
        const Tick latest = slack < kLastTick - deadline ? deadline + slack : kLastTick;
        ASSERT_GT(round, latest - relaxed) << deadline << " with " << slack;
        if (round == Tick{1} << 60) continue;
        ASSERT_LT(latest / (64 * round) * (64 * round), deadline) << deadline << " with " << slack;
    }
    std::set<Tick> ticks;
    for (Tick delay = 0; delay < 1000; ++delay) ticks.insert(relaxed_tick(60'000 + delay, 1000));
    EXPECT_LE(ticks.size(), 17U);
}

}  // namespace
}  // namespace duewheel
