// For tests of the wheel: what a call of advance_to() fired, as a value to compare.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/timing_wheel.h>

namespace duewheel {

// Cookies and deadlines, in the order they came.
using Fired = std::vector<std::pair<std::uint64_t, Tick>>;

// Advances, and has the wheel check itself afterwards.
inline Fired advance(TimingWheel& wheel, Tick now, std::size_t budget = TimingWheel::kUnlimited) {
    Fired fired;
    const std::size_t count = wheel.advance_to(
        now, [&](std::uint64_t cookie, Tick deadline) { fired.emplace_back(cookie, deadline); }, budget);
    EXPECT_EQ(count, fired.size());
    wheel.check();
    return fired;
}

// A sink for those who only count.
inline constexpr auto kIgnore = [](std::uint64_t, Tick) {};

}  // namespace duewheel
