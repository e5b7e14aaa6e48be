// For the tests: what a call of advance_to() fired, as a value to compare.
#pragma once

#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "schemes/place.h"
#include "wheel/timer_queue.h"

namespace duewheel {

// For GoogleTest's messages.
inline void PrintTo(const Place& place, std::ostream* out) {
    *out << "row " << place.row << ", slot " << place.slot << ", rounds " << place.rounds;
}

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

}  // namespace duewheel
