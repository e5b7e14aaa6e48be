// check() of every scheme finds damage; otherwise it would prove nothing in the other tests. Also what only a damaged
// or long-used scheme shows.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "schemes/every_scheme.h"
#include "schemes/fired_timers.h"

namespace duewheel {

// Reaches what no owner can.
struct SchemeProbe {
    template <class Self>
    static Timer& timer(Scheme<Self>& scheme, TimerHandle handle) {
        return *scheme.pool_.find(handle);
    }
    template <class Self>
    static void miscount(Scheme<Self>& scheme) {
        ++scheme.size_;
    }
};

namespace {

template <class Queue>
class SchemeCheck : public testing::Test {};

using CheckedSchemes = testing::Types<UnorderedList, OrderedList, BinaryHeap, QuaternaryHeap, SimpleWheel,
                                      HashedSortedWheel, HashedRoundsWheel, HierarchicalWheel, OverflowWheel,
                                      NonCascadingWheel, CalendarWheel, DurationLanes>;
TYPED_TEST_SUITE(SchemeCheck, CheckedSchemes);

// Filled so that the timer that is damaged is neither alone nor the first.
template <class Queue, class Damage>
void check_after(Damage damage) {
    Queue queue(0);
    queue.schedule(100, 1);
    queue.schedule(130, 2);
    const TimerHandle handle = queue.schedule(130, 3);
    queue.schedule(700, 4);
    queue.check();
    damage(queue, handle);
    queue.check();
}

TYPED_TEST(SchemeCheck, finds_a_wrong_size) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(check_after<TypeParam>([](auto& queue, TimerHandle) { SchemeProbe::miscount(queue); }), "the size is");
}

TYPED_TEST(SchemeCheck, finds_a_timer_in_the_slot_of_another_deadline) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(check_after<TypeParam>(
                     [](auto& queue, TimerHandle handle) { SchemeProbe::timer(queue, handle).deadline = kNever; }),
                 "Scheme::check");
}

TYPED_TEST(SchemeCheck, finds_a_timer_with_an_invalid_kind) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(check_after<TypeParam>([](auto& queue, TimerHandle handle) {
                     SchemeProbe::timer(queue, handle).state = Timer::State::free;
                 }),
                 "Scheme::check");
}

TYPED_TEST(SchemeCheck, finds_a_broken_link) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(check_after<TypeParam>([](auto& queue, TimerHandle handle) {
                     Timer& timer = SchemeProbe::timer(queue, handle);
                     if (timer.next == &timer) timer.note += 1;  // in a heap, which has no links, a position
                     timer.prev = &timer;
                 }),
                 "Scheme::check");
}

TYPED_TEST(SchemeCheck, never_repeats_a_handle_when_generations_run_out) {
    // Trap: the generation wraps, and a handle of long ago names a timer again.
    TypeParam queue(0);
    TimerHandle handle = queue.schedule(5, 1);
    const std::uint64_t first = handle.bits;
    // As after four billion uses of this memory.
    SchemeProbe::timer(queue, handle).generation = std::numeric_limits<std::uint32_t>::max();
    handle.bits |= std::uint64_t{std::numeric_limits<std::uint32_t>::max()} << 32;
    EXPECT_TRUE(queue.cancel(handle));
    queue.check();
    const TimerHandle fresh = queue.schedule(5, 2);
    EXPECT_NE(static_cast<std::uint32_t>(fresh.bits), static_cast<std::uint32_t>(handle.bits));
    EXPECT_FALSE(queue.cancel(TimerHandle{first}));
    EXPECT_FALSE(queue.cancel(handle));
    EXPECT_EQ(advance_checked(queue, 5), (FiredTimers{{2, 5}}));
}

}  // namespace
}  // namespace duewheel
