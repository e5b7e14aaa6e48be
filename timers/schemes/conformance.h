// What the conformance tests have in common: each runs once for every scheme.
#pragma once

#include <optional>

#include <gtest/gtest.h>

#include "schemes/fired_timers.h"
#include "schemes/tested_schemes.h"

namespace duewheel {

class TimerQueueConformance : public testing::TestWithParam<TestedScheme> {
  protected:
    static AnyTimerQueue make(Tick now) { return GetParam().make(now); }

    // The tick by which a timer fires that is armed at `now`; kNever if that is after the end of time.
    static Tick fires_by(Tick now, Tick deadline) {
        const Tick lateness = make(0).lateness_max(deadline - now);
        return deadline >= kNever - lateness ? kNever : deadline + lateness;
    }

    static bool is_exact() { return make(0).lateness_max(1'000'000) == 0; }

    static constexpr auto kIgnore = [](std::uint64_t, Tick) {};

    // Fires when it should and at no tick before, however the time gets there. Does nothing where the scheme does not
    // reach so far.
    static void expect_fires_in_time(Tick start, Tick deadline) {
        SCOPED_TRACE(testing::Message() << "start " << start << " deadline " << deadline);
        AnyTimerQueue jumped = make(start);
        if (deadline > jumped.latest_deadline()) return;
        ASSERT_TRUE(jumped.schedule(deadline, 1));
        jumped.check();
        const Tick next = jumped.next_expiry();
        EXPECT_GE(next, deadline);
        EXPECT_LE(next, fires_by(start, deadline));
        if (next == kNever) return;
        EXPECT_EQ(advance_checked(jumped, next - 1), FiredTimers{});
        EXPECT_EQ(jumped.next_expiry(), next);
        EXPECT_EQ(advance_checked(jumped, next), (FiredTimers{{1, deadline}}));

        // The same in steps of half the way, which stops within the span of many slots.
        AnyTimerQueue stepped = make(start);
        ASSERT_TRUE(stepped.schedule(deadline, 1));
        while (stepped.now() + 1 < next) {
            const Tick left = next - 1 - stepped.now();
            EXPECT_EQ(advance_checked(stepped, stepped.now() + (left + 1) / 2), FiredTimers{});
            EXPECT_EQ(stepped.next_expiry(), next);
        }
        EXPECT_EQ(advance_checked(stepped, next), (FiredTimers{{1, deadline}}));
    }

    // Nothing if it is refused because the scheme does not reach so far.
    static std::optional<TimerHandle> schedule_if_reached(AnyTimerQueue& queue, Tick deadline, std::uint64_t cookie) {
        if (deadline > queue.latest_deadline()) return std::nullopt;
        return queue.schedule(deadline, cookie);
    }
};

inline std::string name_of_scheme(const testing::TestParamInfo<TestedScheme>& scheme) {
    return scheme.param.name;
}

}  // namespace duewheel
