// What the suites of this folder run on: every timer queue, the wheels with so few slots that their edges come often.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wheel/schemes/every_scheme.h"
#include "wheel/timer_queue.h"

namespace duewheel {

struct ShortSimpleWheel : SimpleWheel {
    explicit ShortSimpleWheel(Tick now = 0) : SimpleWheel(now, 300) {}
};
struct LongSimpleWheel : SimpleWheel {
    explicit LongSimpleWheel(Tick now = 0) : SimpleWheel(now, 8192) {}
};
struct SmallHashedSortedWheel : HashedSortedWheel {
    explicit SmallHashedSortedWheel(Tick now = 0) : HashedSortedWheel(now, 8) {}
};
struct SmallHashedRoundsWheel : HashedRoundsWheel {
    explicit SmallHashedRoundsWheel(Tick now = 0) : HashedRoundsWheel(now, 8) {}
};
struct SmallHierarchicalWheel : HierarchicalWheel {
    explicit SmallHierarchicalWheel(Tick now = 0) : HierarchicalWheel(now, {4, 3, 5}) {}
};
struct OneRingHierarchicalWheel : HierarchicalWheel {
    explicit OneRingHierarchicalWheel(Tick now = 0) : HierarchicalWheel(now, {8}) {}
};
struct SmallOverflowWheel : OverflowWheel {
    explicit SmallOverflowWheel(Tick now = 0) : OverflowWheel(now, 3) {}
};

using TestedSchemes =
    testing::Types<UnorderedList, OrderedList, BinaryHeap, QuaternaryHeap, LongSimpleWheel, SmallHashedSortedWheel,
                   SmallHashedRoundsWheel, HierarchicalWheel, SmallHierarchicalWheel, OneRingHierarchicalWheel,
                   OverflowWheel, SmallOverflowWheel, NonCascadingWheel, CalendarWheel, DurationLanes, TimingWheel>;

// Cookies and deadlines, in the order they came.
using FiredTimers = std::vector<std::pair<std::uint64_t, Tick>>;

// Advances, and has the queue check itself afterwards.
template <TimerQueue Queue>
FiredTimers advance_checked(Queue& queue, Tick now, std::size_t budget = Queue::kUnlimited) {
    FiredTimers fired;
    const std::size_t count = queue.advance_to(
        now, [&](std::uint64_t cookie, Tick deadline) { fired.emplace_back(cookie, deadline); }, budget);
    EXPECT_EQ(count, fired.size());
    queue.check();
    return fired;
}

// What the conformance tests have in common.
template <class Queue>
class TimerQueueConformance : public testing::Test {
  public:
    // The tick by which a timer fires that is armed at `now`; kNever if that is after the end of time.
    static Tick fires_by(Tick now, Tick deadline) {
        const Tick lateness = lateness_max<Queue>(deadline - now);
        return deadline >= kNever - lateness ? kNever : deadline + lateness;
    }

    static bool is_exact() { return lateness_max<Queue>(1'000'000) == 0; }

    static constexpr auto kIgnore = [](std::uint64_t, Tick) {};

    // Fires when it should and at no tick before, however the time gets there. Does nothing where the scheme does not
    // reach so far.
    static void expect_fires_in_time(Tick start, Tick deadline) {
        SCOPED_TRACE(testing::Message() << "start " << start << " deadline " << deadline);
        Queue jumped(start);
        if (deadline > latest_deadline(jumped)) return;
        ASSERT_TRUE(jumped.schedule(deadline, 1));
        jumped.check();
        const Tick next = jumped.next_expiry();
        EXPECT_GE(next, deadline);
        EXPECT_LE(next, fires_by(start, deadline));
        if (next == kNever) return;
        EXPECT_EQ(advance_checked(jumped, next - 1), FiredTimers{});
        EXPECT_EQ(jumped.next_expiry(), next);
        EXPECT_EQ(advance_checked(jumped, next), (FiredTimers{{1, deadline}}));

        // The same in halves of the way, which stops within the span of many slots.
        Queue stepped(start);
        ASSERT_TRUE(stepped.schedule(deadline, 1));
        while (stepped.now() + 1 < next) {
            const Tick left = next - 1 - stepped.now();
            EXPECT_EQ(advance_checked(stepped, stepped.now() + (left + 1) / 2), FiredTimers{});
            EXPECT_EQ(stepped.next_expiry(), next);
        }
        EXPECT_EQ(advance_checked(stepped, next), (FiredTimers{{1, deadline}}));
    }

    // As it is scheduled, or refused because the scheme does not reach so far.
    static std::optional<TimerHandle> schedule_if_reached(Queue& queue, Tick deadline, std::uint64_t cookie) {
        if (deadline > latest_deadline(queue)) return std::nullopt;
        return queue.schedule(deadline, cookie);
    }
};

}  // namespace duewheel
