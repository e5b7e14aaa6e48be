// The worked examples with which the literature explains these schemes, and those in the opening comments of the files:
// where a timer is, when it is moved, when it fires.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "schemes/every_scheme.h"
#include "schemes/fired_timers.h"

namespace duewheel {
namespace {

TEST(EveryScheme, has_a_name_of_its_own_and_starts_at_a_given_tick) {
    std::set<std::string> names;
    visit_every_scheme([&]<class Queue>(std::string_view name, std::type_identity<Queue>) {
        EXPECT_TRUE(names.emplace(name).second) << name;
        Queue queue(7);
        EXPECT_EQ(queue.now(), 7U);
        EXPECT_TRUE(queue.schedule(9, 1));
        EXPECT_EQ(advance_checked(queue, 9), (FiredTimers{{1, 9}})) << name;
    });
    EXPECT_EQ(names.size(), 13U);
}

TEST(OrderedList, keeps_equal_deadlines_in_the_order_in_which_they_came) {
    OrderedList list;
    const TimerHandle second = list.schedule(20, 1);
    const TimerHandle third = list.schedule(20, 2);
    const TimerHandle first = list.schedule(10, 3);
    EXPECT_EQ(list.place_of(first), (Place{0, 0}));
    EXPECT_EQ(list.place_of(second), (Place{0, 1}));
    EXPECT_EQ(list.place_of(third), (Place{0, 2}));
    EXPECT_EQ(advance_checked(list, 20), (FiredTimers{{3, 10}, {1, 20}, {2, 20}}));
}

TEST(TimerHeap, holds_children_beside_each_other) {
    BinaryHeap binary;
    QuaternaryHeap quaternary;
    std::vector<TimerHandle> in_binary;
    std::vector<TimerHandle> in_quaternary;
    for (Tick deadline = 50; deadline >= 10; deadline -= 10) {  // each new one is the earliest, and rises to the root
        in_binary.push_back(binary.schedule(deadline, deadline));
        in_quaternary.push_back(quaternary.schedule(deadline, deadline));
    }
    // 50 has sunk to the bottom: in the binary tree below two others, in the 4-ary one below the root alone.
    EXPECT_EQ(binary.place_of(in_binary[0]), (Place{0, 3}));
    EXPECT_EQ(quaternary.place_of(in_quaternary[0]), (Place{0, 1}));
    EXPECT_EQ(binary.place_of(in_binary[4]), (Place{0, 0}));
    EXPECT_EQ(quaternary.place_of(in_quaternary[4]), (Place{0, 0}));
}

TEST(SimpleWheel, has_one_slot_for_each_of_the_next_ticks) {
    SimpleWheel wheel(10, 8);
    EXPECT_EQ(wheel.rows()[0].hand, 2U);
    for (Tick deadline = 11; deadline <= 18; ++deadline) {
        EXPECT_EQ(wheel.place_of(wheel.schedule(deadline, deadline)), (Place{0, deadline % 8}));
    }
    wheel.check();
    for (Tick deadline = 11; deadline <= 18; ++deadline) {
        EXPECT_EQ(advance_checked(wheel, deadline), (FiredTimers{{deadline, deadline}}));
    }
}

TEST(SimpleWheel, refuses_what_has_no_slot_and_changes_nothing) {
    SimpleWheel wheel(10, 8);
    EXPECT_EQ(wheel.latest_deadline(), 18U);
    EXPECT_FALSE(wheel.schedule(19, 1));
    EXPECT_EQ(wheel.size(), 0U);
    const TimerHandle handle = wheel.schedule(15, 2);
    EXPECT_FALSE(wheel.reschedule(handle, 19));
    EXPECT_EQ(wheel.deadline_of(handle), 15U);
    EXPECT_TRUE(wheel.reschedule(handle, kNever)) << "which needs no slot";
    EXPECT_TRUE(wheel.reschedule(handle, 18));
    EXPECT_TRUE(wheel.schedule(3, 4)) << "late ones need none either";
    EXPECT_EQ(advance_checked(wheel, 17), (FiredTimers{{4, 3}}));
    EXPECT_EQ(wheel.latest_deadline(), 25U);
    EXPECT_EQ(advance_checked(wheel, 1'000'000), (FiredTimers{{2, 18}}));
    EXPECT_EQ(wheel.latest_deadline(), 1'000'008U);
}

TEST(SimpleWheel, reaches_one_turn_ahead_again_after_it_caught_up) {
    SimpleWheel wheel(0, 8);
    wheel.schedule(5, 1);
    std::size_t fired = 0;
    fired += wheel.advance_to(
        100, [](std::uint64_t, Tick) {}, 1);  // as many as there are
    EXPECT_EQ(fired, 1U);
    ASSERT_TRUE(wheel.caught_up());
    EXPECT_EQ(wheel.latest_deadline(), 108U);
}

TEST(HashedSortedWheel, sorts_the_timers_of_a_slot) {
    HashedSortedWheel wheel(10, 8);
    const TimerHandle last = wheel.schedule(43, 43);
    const TimerHandle first = wheel.schedule(11, 11);
    const TimerHandle middle = wheel.schedule(19, 19);
    EXPECT_EQ(wheel.place_of(first), (Place{0, 3, 0}));
    EXPECT_EQ(wheel.place_of(middle), (Place{0, 3, 1}));
    EXPECT_EQ(wheel.place_of(last), (Place{0, 3, 4}));
    EXPECT_EQ(advance_checked(wheel, 100), (FiredTimers{{11, 11}, {19, 19}, {43, 43}}));
}

TEST(HashedRoundsWheel, lets_50_seconds_on_8_slots_wait_6_rounds_in_slot_2) {
    HashedRoundsWheel wheel(0, 8);
    const TimerHandle timer = wheel.schedule(50, 1);
    EXPECT_EQ(wheel.place_of(timer), (Place{0, 2, 6}));
    Tick rounds = 6;
    for (Tick second = 1; second < 50; ++second) {
        EXPECT_EQ(advance_checked(wheel, second), FiredTimers{});
        if (second % 8 == 2) --rounds;
        EXPECT_EQ(wheel.place_of(timer), (Place{0, 2, rounds})) << second;
    }
    EXPECT_EQ(rounds, 0U);
    EXPECT_EQ(advance_checked(wheel, 50), (FiredTimers{{1, 50}}));
}

TEST(HashedRoundsWheel, counts_a_delay_of_whole_turns_as_one_round_less) {
    HashedRoundsWheel wheel(3, 8);
    EXPECT_EQ(wheel.place_of(wheel.schedule(11, 1)), (Place{0, 3, 0}));
    EXPECT_EQ(wheel.place_of(wheel.schedule(19, 2)), (Place{0, 3, 1}));
    EXPECT_EQ(advance_checked(wheel, 11), (FiredTimers{{1, 11}}));
    EXPECT_EQ(advance_checked(wheel, 18), FiredTimers{});
    EXPECT_EQ(advance_checked(wheel, 19), (FiredTimers{{2, 19}}));
}

TEST(HierarchicalWheel, takes_a_500_s_task_down_after_436_s_and_after_56_s_more) {
    HierarchicalWheel wheel(12, {8, 8, 8});
    const TimerHandle task = wheel.schedule(512, 1);
    EXPECT_EQ(wheel.place_of(task), (Place{2, 7, 0}));
    advance_checked(wheel, 12 + 435);
    EXPECT_EQ(wheel.place_of(task), (Place{2, 7, 0}));
    advance_checked(wheel, 12 + 436);
    EXPECT_EQ(*wheel.deadline_of(task) - wheel.now(), 64U) << "a task of 64 s, which is what the second ring takes";
    EXPECT_EQ(wheel.place_of(task), (Place{1, 7, 0}));
    advance_checked(wheel, 448 + 55);
    EXPECT_EQ(wheel.place_of(task), (Place{1, 7, 0}));
    advance_checked(wheel, 448 + 56);
    EXPECT_EQ(*wheel.deadline_of(task) - wheel.now(), 8U) << "a task of 8 s, which is what the first ring takes";
    EXPECT_EQ(wheel.place_of(task), (Place{0, 0, 0}));
    EXPECT_EQ(advance_checked(wheel, 511), FiredTimers{});
    EXPECT_EQ(advance_checked(wheel, 512), (FiredTimers{{1, 512}}));
}

TEST(HierarchicalWheel, turns_two_hands_over_3_by_3_slots) {
    // The lower hand moves at every tick, the upper one when the lower has made a turn; then it takes down the timers
    // of the next three ticks.
    for (Tick start = 0; start < 9; ++start) {
        for (Tick delay = 1; delay <= 9; ++delay) {
            SCOPED_TRACE(testing::Message() << "start " << start << " delay " << delay);
            HierarchicalWheel wheel(start, {3, 3});
            const Tick deadline = start + delay;
            const TimerHandle timer = wheel.schedule(deadline, 1);
            const Tick taken_down = delay <= 3 ? start : (deadline - 1) / 3 * 3;
            for (Tick now = start; now < deadline; ++now) {
                EXPECT_EQ(advance_checked(wheel, now), FiredTimers{});
                EXPECT_EQ(wheel.rows()[0].hand, now % 3);
                EXPECT_EQ(wheel.rows()[1].hand, now / 3 % 3);
                const Place lower{0, deadline % 3, 0};
                const Place upper{1, (deadline - 1) / 3 % 3, 0};
                EXPECT_EQ(wheel.place_of(timer), now < taken_down ? upper : lower) << "at " << now;
            }
            EXPECT_EQ(advance_checked(wheel, deadline), (FiredTimers{{1, deadline}}));
        }
    }
}

TEST(HierarchicalWheel, lets_what_is_beyond_the_highest_ring_stay_there_for_turns) {
    HierarchicalWheel wheel(0, {3, 3});
    const TimerHandle timer = wheel.schedule(31, 1);
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 1, 3}));
    advance_checked(wheel, 20);
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 1, 1}));
    advance_checked(wheel, 29);
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 1, 0}));
    advance_checked(wheel, 30);
    EXPECT_EQ(wheel.place_of(timer), (Place{0, 1, 0}));
    EXPECT_EQ(advance_checked(wheel, 31), (FiredTimers{{1, 31}}));
}

TEST(OverflowWheel, files_the_delays_of_the_20_slot_example) {
    OverflowWheel wheel(0, 20);
    advance_checked(wheel, 2);
    const TimerHandle delay_8 = wheel.schedule(2 + 8, 8);
    const TimerHandle delay_19 = wheel.schedule(2 + 19, 19);
    EXPECT_EQ(wheel.rows().size(), 1U) << "no overflow wheel before one is needed";
    const TimerHandle delay_22 = wheel.schedule(2 + 22, 22);
    const TimerHandle delay_350 = wheel.schedule(2 + 350, 350);
    EXPECT_EQ(wheel.rows().size(), 2U);
    const TimerHandle delay_399 = wheel.schedule(2 + 399, 399);
    const TimerHandle delay_402 = wheel.schedule(2 + 402, 402);
    EXPECT_EQ(wheel.rows().size(), 3U);
    EXPECT_EQ(wheel.place_of(delay_8), (Place{0, 10}));
    EXPECT_EQ(wheel.place_of(delay_19), (Place{0, 1})) << "a slot that the time has passed serves again";
    EXPECT_EQ(wheel.place_of(delay_22), (Place{1, 1}));
    EXPECT_EQ(wheel.place_of(delay_350), (Place{1, 17}));
    EXPECT_EQ(wheel.place_of(delay_399), (Place{2, 1}))
        << "the second wheel's interval ends at 400, and it is due at 401";
    EXPECT_EQ(wheel.place_of(delay_402), (Place{2, 1}));

    EXPECT_EQ(advance_checked(wheel, 19), (FiredTimers{{8, 10}}));
    EXPECT_EQ(wheel.place_of(delay_22), (Place{1, 1}));
    EXPECT_EQ(advance_checked(wheel, 20), FiredTimers{});
    EXPECT_EQ(wheel.place_of(delay_22), (Place{0, 4})) << "demoted after 18 s, fires 4 s later";
    EXPECT_EQ(advance_checked(wheel, 23), (FiredTimers{{19, 21}}));
    EXPECT_EQ(advance_checked(wheel, 24), (FiredTimers{{22, 24}}));
    EXPECT_EQ(advance_checked(wheel, 340), FiredTimers{});
    EXPECT_EQ(wheel.place_of(delay_350), (Place{0, 12}));
    EXPECT_EQ(advance_checked(wheel, 400), (FiredTimers{{350, 352}}));
    EXPECT_EQ(wheel.place_of(delay_399), (Place{0, 1}));
    EXPECT_EQ(wheel.place_of(delay_402), (Place{0, 4}));
    EXPECT_EQ(advance_checked(wheel, 404), (FiredTimers{{399, 401}, {402, 404}}));
}

TEST(OverflowWheel, demotes_450_ticks_twice) {
    OverflowWheel wheel(0, 20);
    const TimerHandle timer = wheel.schedule(450, 1);
    EXPECT_EQ(wheel.place_of(timer), (Place{2, 1}));
    advance_checked(wheel, 400);
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 2})) << "50 remain: the slot of 440 to 459";
    advance_checked(wheel, 440);
    EXPECT_EQ(wheel.place_of(timer), (Place{0, 10})) << "10 remain";
    EXPECT_EQ(advance_checked(wheel, 449), FiredTimers{});
    EXPECT_EQ(advance_checked(wheel, 450), (FiredTimers{{1, 450}}));
}

TEST(OverflowWheel, has_the_slots_of_the_table_at_c_and_the_next_three_ticks) {
    using Starts = std::vector<Tick>;
    const Tick c = 27 * 1000;
    OverflowWheel wheel(c, 3);
    wheel.schedule(c + 26, 1);  // which needs all three wheels
    const auto expect_slots = [&](Starts first, Starts second, Starts third) {
        EXPECT_EQ(wheel.slot_starts(0), first);
        EXPECT_EQ(wheel.slot_starts(1), second);
        EXPECT_EQ(wheel.slot_starts(2), third);
    };
    expect_slots({c, c + 1, c + 2}, {c, c + 3, c + 6}, {c, c + 9, c + 18});
    advance_checked(wheel, c + 1);
    expect_slots({c + 1, c + 2, c + 3}, {c, c + 3, c + 6}, {c, c + 9, c + 18});
    advance_checked(wheel, c + 2);
    expect_slots({c + 2, c + 3, c + 4}, {c, c + 3, c + 6}, {c, c + 9, c + 18});
    advance_checked(wheel, c + 3);
    expect_slots({c + 3, c + 4, c + 5}, {c + 3, c + 6, c + 9}, {c, c + 9, c + 18});
}

TEST(NonCascadingWheel, rounds_a_delay_of_100_up_to_104) {
    NonCascadingWheel wheel;
    const TimerHandle timer = wheel.schedule(100, 1);
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 13}));
    EXPECT_EQ(wheel.next_expiry(), 104U);
    EXPECT_EQ(advance_checked(wheel, 103), FiredTimers{});
    EXPECT_EQ(wheel.place_of(timer), (Place{1, 13})) << "it is never moved";
    EXPECT_EQ(advance_checked(wheel, 104), (FiredTimers{{1, 100}}));
}

TEST(NonCascadingWheel, is_late_by_less_than_an_eighth_of_the_delay) {
    static_assert(NonCascadingWheel::lateness_max(63) == 0);
    static_assert(NonCascadingWheel::lateness_max(64) == 7 && NonCascadingWheel::lateness_max(511) == 7);
    static_assert(NonCascadingWheel::lateness_max(512) == 63 && NonCascadingWheel::lateness_max(4096) == 511);
    for (const Tick start : {0U, 1U, 7U, 63U, 511U, 4095U, 12'345U}) {
        for (Tick delay = 1; delay < 40'000; delay += 1 + delay / 150) {
            NonCascadingWheel wheel(start);
            wheel.schedule(start + delay, 1);
            const Tick fires_at = wheel.next_expiry();
            ASSERT_GE(fires_at, start + delay);
            ASSERT_LE(fires_at - (start + delay), NonCascadingWheel::lateness_max(delay));
            ASSERT_LT((fires_at - (start + delay)) * 8, delay) << "start " << start << " delay " << delay;
        }
    }
}

TEST(DurationLanes, keeps_a_lane_for_each_duration_as_long_as_it_holds_timers) {
    DurationLanes lanes;
    const TimerHandle a = lanes.schedule(30, 1);
    const TimerHandle b = lanes.schedule(5, 2);
    lanes.schedule(30, 3);
    advance_checked(lanes, 3);
    const TimerHandle d = lanes.schedule(8, 4);
    ASSERT_EQ(lanes.rows().size(), 2U);
    EXPECT_EQ(lanes.rows()[0].name, "lane of 5");
    EXPECT_EQ(lanes.place_of(b), (Place{0, 0}));
    EXPECT_EQ(lanes.place_of(d), (Place{0, 1}));
    EXPECT_EQ(lanes.place_of(a), (Place{1, 0}));
    EXPECT_EQ(advance_checked(lanes, 8), (FiredTimers{{2, 5}, {4, 8}}));
    EXPECT_EQ(lanes.rows().size(), 1U);
    EXPECT_TRUE(lanes.cancel(a));
    EXPECT_EQ(advance_checked(lanes, 30), (FiredTimers{{3, 30}}));
    EXPECT_TRUE(lanes.rows().empty());
}

}  // namespace
}  // namespace duewheel
