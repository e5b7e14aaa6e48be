// What the fronts of the wheel say about their work: how much a call may do, and that touched() tells it. Bounds that
// are stated in touched() mean nothing if it does not count, and a budget means nothing if something is free of charge.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gtest/gtest.h>

#include "shared/random.h"
#include "wheel/fronts_by_id.h"

namespace duewheel {
namespace {

constexpr auto kIgnoreAny = [](const auto&...) {};

template <class Front>
class WheelWork : public testing::Test {};

using Fronts = testing::Types<Handles, OwnIds, Members>;
TYPED_TEST_SUITE(WheelWork, Fronts);

TYPED_TEST(WheelWork, counts_each_timer_that_fires) {
    constexpr Id kTimers = 500;
    TypeParam front(kTimers);
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 1 + id % 60);  // all within 64 ticks: nothing is moved down
    EXPECT_EQ(front.wheel.advance_to(60, kIgnoreAny), kTimers);
    EXPECT_EQ(front.wheel.touched(), kTimers);
}

TYPED_TEST(WheelWork, counts_each_timer_that_is_moved_down) {
    constexpr Id kTimers = 500;
    TypeParam front(kTimers);
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 3 * 64 + 1 + id % 60);
    EXPECT_EQ(front.wheel.advance_to(3 * 64 + 60, kIgnoreAny), kTimers);
    EXPECT_EQ(front.wheel.touched(), 2 * kTimers) << "once to move it, once to fire it";
}

TYPED_TEST(WheelWork, charges_the_budget_for_what_is_moved_down) {
    // An intrusive front that did not take what it moves down off its budget passed every other test: a call with a
    // budget of ten moved a thousand timers.
    constexpr Id kTimers = 1000;
    constexpr std::size_t kBudget = 10;
    TypeParam front(kTimers);
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 8192 + 1 + id);
    std::size_t calls = 0;
    do {
        const std::uint64_t before = front.wheel.touched();
        EXPECT_EQ(front.wheel.advance_to(8192, kIgnoreAny, kBudget), 0U);
        ASSERT_LE(front.wheel.touched() - before, kBudget);
        ASSERT_LT(++calls, kTimers);
    } while (!front.wheel.caught_up());
    EXPECT_GE(calls, kTimers / kBudget) << "each of them moves once at least";
    EXPECT_EQ(front.wheel.advance_to(10'000, kIgnoreAny), kTimers);
}

TYPED_TEST(WheelWork, charges_one_budget_for_moving_down_and_for_firing) {
    constexpr Id kTimers = 40;
    TypeParam front(kTimers);
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 3 * 64);  // all due in the first tick of an upper slot
    std::size_t fired = 0;
    while (front.wheel.now() < 3 * 64 || !front.wheel.caught_up()) {
        const std::uint64_t before = front.wheel.touched();
        fired += front.wheel.advance_to(3 * 64, kIgnoreAny, 7);
        ASSERT_LE(front.wheel.touched() - before, 7U);
    }
    EXPECT_EQ(fired, kTimers);
    EXPECT_EQ(front.wheel.touched(), 2 * kTimers);
}

TYPED_TEST(WheelWork, looks_for_the_next_expiry_once) {
    // A wheel that looked for it at every question passed every other test, and cost its owner O(n) a turn of its loop.
    constexpr Id kTimers = 1000;
    TypeParam front(kTimers + 2);
    auto& wheel = front.wheel;
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 5 * 4096 + 1 + id);
    EXPECT_EQ(wheel.next_expiry(), Tick{5 * 4096 + 1});
    const auto costs = [&wheel] {
        const std::uint64_t before = wheel.touched();
        static_cast<void>(wheel.next_expiry());
        return wheel.touched() - before;
    };
    EXPECT_EQ(costs(), 0U) << "it is known";
    front.arm(kTimers, 6 * 4096);
    EXPECT_EQ(costs(), 0U) << "a later one changes nothing";
    front.disarm(7);
    EXPECT_EQ(costs(), 0U) << "nor does that one of the others goes";
    front.arm(kTimers + 1, 5 * 4096);
    EXPECT_EQ(costs(), 0U) << "an earlier one is the answer itself";
    wheel.advance_to(100, kIgnoreAny);
    EXPECT_EQ(costs(), 0U) << "and time that passes changes nothing";
    front.disarm(kTimers + 1);
    const std::uint64_t search = costs();
    EXPECT_GE(search, kTimers - 1) << "the earliest has gone: its slot is read, and that is counted";
    EXPECT_LE(search, kTimers + 1) << "once, with one entry that is of no more use";
    EXPECT_EQ(wheel.next_expiry(), Tick{5 * 4096 + 1});
    EXPECT_EQ(costs(), 0U) << "and known again";
}

TYPED_TEST(WheelWork, reads_the_slot_once_per_lookup_however_many_are_cancelled) {
    // An entry that was of no use had the slot read three times for each question, instead of once: to find the entry,
    // to write the others back without it, and to read those. With no clearing away at all the last question would read
    // as much as the first.
    constexpr Id kTimers = 1000;
    TypeParam front(kTimers);
    auto& wheel = front.wheel;
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 5 * 4096 + 1 + id);
    std::uint64_t touched = 0;
    for (Id id = 0; id < kTimers; ++id) {
        EXPECT_EQ(wheel.next_expiry(), 5 * 4096 + 1 + id);
        front.disarm(id);
        const std::uint64_t before = wheel.touched();
        static_cast<void>(wheel.next_expiry());
        const std::uint64_t costs = wheel.touched() - before;
        EXPECT_LE(costs, 5 * (kTimers - id)) << "twice what waits, and now and then as much again to clear away";
        touched += costs;
    }
    EXPECT_LE(touched, std::uint64_t{kTimers} * kTimers * 8 / 10) << "of a half, if each read those that wait alone";
    EXPECT_EQ(wheel.next_expiry(), kNever);
    wheel.check();
}

TYPED_TEST(WheelWork, reads_one_slot_once_when_the_earliest_has_fired) {
    constexpr Id kTimers = 1000;
    TypeParam front(kTimers + 1);
    auto& wheel = front.wheel;
    front.arm(kTimers, 10);
    for (Id id = 0; id < kTimers; ++id) front.arm(id, 5 * 4096 + 1 + id);
    EXPECT_EQ(wheel.next_expiry(), 10U);
    EXPECT_EQ(wheel.advance_to(10, kIgnoreAny), 1U);
    for (const std::uint64_t reads : {kTimers, Id{0}}) {
        const std::uint64_t before = wheel.touched();
        EXPECT_EQ(wheel.next_expiry(), Tick{5 * 4096 + 1});
        EXPECT_EQ(wheel.touched() - before, reads);
    }
}

TYPED_TEST(WheelWork, counts_the_late_timers_that_a_lookup_reads) {
    // A question that looked at them free of charge passed every other test, and a bound stated in touched() meant
    // nothing beside it.
    if constexpr (!std::is_same_v<TypeParam, Members>) {  // whose late ones are in a list of their own
        constexpr Id kTimers = 500;
        TypeParam front(kTimers + 1);
        auto& wheel = front.wheel;
        const auto costs = [&wheel](Tick answer) {
            const std::uint64_t before = wheel.touched();
            EXPECT_EQ(wheel.next_expiry(), answer);
            return wheel.touched() - before;
        };
        for (Id id = 0; id < kTimers; ++id) front.arm(id, 0);
        EXPECT_EQ(costs(0), 1U) << "the first one is late";
        for (Id id = 0; id < kTimers; ++id) front.disarm(id);
        EXPECT_EQ(costs(kNever), 2 * kTimers) << "once to see that it is late no more, once to clear it away";
        EXPECT_EQ(costs(kNever), 0U);
    }
}

TYPED_TEST(WheelWork, does_nothing_for_ticks_on_which_nothing_is_due) {
    TypeParam front(1);
    front.arm(0, Tick{1} << 40);
    for (Tick now = 1; now < 10'000; ++now) front.wheel.advance_to(now, kIgnoreAny);
    EXPECT_EQ(front.wheel.touched(), 0U);
    // As far ahead as an hour in milliseconds, a thousand times.
    for (Tick hour = 1; hour <= 1000; ++hour) front.wheel.advance_to(10'000 + hour * 3'600'000, kIgnoreAny);
    EXPECT_EQ(front.wheel.touched(), 0U);
}

TYPED_TEST(WheelWork, removes_up_to_the_limit_in_one_call) {
    // Only TimingWheel said and kept how much a call may clear away; one with ids carries out up to 16 orders in one
    // call, and each of them may.
    constexpr std::uint64_t kByOneOrder = std::is_same_v<TypeParam, Members> ? 0 : 4 * 62;
    constexpr std::uint64_t kByLookup = std::is_same_v<TypeParam, OwnIds> ? 16 * kByOneOrder : 0;
    constexpr std::size_t kBudget = 10;
    constexpr Id kTimers = 20'000;
    TypeParam front(kTimers);
    auto& wheel = front.wheel;
    const auto costs = [&wheel](auto&& call) {
        const std::uint64_t before = wheel.touched();
        call();
        return wheel.touched() - before;
    };
    std::uint64_t by_order_most = 0;
    std::uint64_t by_lookup_max = 0;
    Random random(11);
    for (Tick pass = 1; pass <= 9; ++pass) {
        // Into earlier slots of 4,096 ticks, so that every move makes an entry and leaves one of no use.
        for (Id id = 0; id < kTimers; ++id) {
            const Tick deadline = 4096 * (44 - 4 * pass) + random.below(4 * 4096);
            by_order_most = std::max(by_order_most, costs([&] { front.arm(id, deadline); }));
            if (random.below(32) != 0) continue;
            if (random.below(2) == 0) {
                by_lookup_max = std::max(by_lookup_max, costs([&] { static_cast<void>(wheel.size()); }));
            } else {
                ASSERT_LE(costs([&] { wheel.advance_to(wheel.now() + 1, kIgnoreAny, kBudget); }), kBudget + kByLookup);
            }
        }
    }
    EXPECT_LE(by_order_most, kByOneOrder);
    EXPECT_GE(by_order_most, kByOneOrder / 2) << "or nothing is tested";
    EXPECT_LE(by_lookup_max, kByLookup);
    EXPECT_GE(by_lookup_max, kByLookup / 16) << "or nothing is tested";
}

}  // namespace
}  // namespace duewheel
