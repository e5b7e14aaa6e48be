#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/chrono_wheel.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Cookies = std::vector<std::uint64_t>;

// Not on the edge of a tick.
constexpr Clock::time_point kBegin(123'456'789ns);

TEST(ChronoWheel, a_deadline_is_rounded_up_and_now_is_rounded_down) {
    ChronoWheel<TimingWheel> wheel(kBegin, 1ms);
    Cookies fired;
    const auto advance = [&](Clock::time_point now) {
        wheel.advance_to(now, [&](std::uint64_t cookie, Tick) { fired.push_back(cookie); });
    };
    wheel.schedule_at(kBegin + 1ms, 1);
    wheel.schedule_at(kBegin + 1ms + 1ns, 2);
    wheel.schedule_at(kBegin, 3);
    wheel.schedule_at(kBegin - 1h, 4);
    EXPECT_EQ(wheel.next_expiry(), kBegin);
    advance(kBegin);
    EXPECT_EQ(fired, (Cookies{3, 4}));
    EXPECT_EQ(wheel.next_expiry(), kBegin + 1ms);
    advance(kBegin + 1ms - 1ns);
    EXPECT_EQ(fired.size(), 2U) << "early by a nanosecond";
    advance(kBegin + 1ms);
    EXPECT_EQ(fired.back(), 1U) << "on the edge it is not late";
    advance(kBegin + 2ms - 1ns);
    EXPECT_EQ(fired.size(), 3U);
    advance(kBegin + 2ms);
    EXPECT_EQ(fired.back(), 2U);
    EXPECT_EQ(wheel.next_expiry(), Clock::time_point::max());
}

TEST(ChronoWheel, the_ends_of_the_clock_are_no_trap) {
    for (const Clock::time_point begin :
         {Clock::time_point::min(), Clock::time_point(), Clock::time_point::max() - 1h}) {
        for (const Clock::duration tick : {Clock::duration(1), Clock::duration(7), Clock::duration(1h)}) {
            ChronoWheel<TimingWheel> wheel(begin, tick);
            const Clock::time_point last = Clock::time_point::max() - 1ns;
            wheel.schedule_at(Clock::time_point::max(), 1);
            EXPECT_EQ(wheel.next_expiry(), Clock::time_point::max()) << "never";
            wheel.schedule_at(last, 2);
            EXPECT_GE(wheel.next_expiry(), last) << "not early";
            EXPECT_EQ(wheel.advance_to(last - tick, [](std::uint64_t, Tick) {}), 0U);
        }
    }
    EXPECT_THROW(ChronoWheel<TimingWheel>(kBegin, 0ms), std::invalid_argument);
    EXPECT_THROW(ChronoWheel<TimingWheel>(kBegin, -1ms), std::invalid_argument);
}

TEST(ChronoWheel, all_three_wheels_are_armed_and_moved) {
    ChronoWheel<TimingWheel> handles(kBegin, 1ms);
    const TimerHandle handle = handles.schedule_at(kBegin + 5ms, 1);
    EXPECT_TRUE(handles.reschedule_at(handle, kBegin + 9ms));
    EXPECT_EQ(handles.next_expiry(), kBegin + 9ms);

    ChronoWheel<IdTimingWheel> ids(kBegin, 1ms, 10);
    ids.schedule_at(kBegin + 5ms, 7);
    ids.schedule_at(kBegin + 8ms, 7);
    EXPECT_EQ(ids.next_expiry(), kBegin + 8ms);
    EXPECT_EQ(ids.advance_to(kBegin + 8ms, [](IdTimingWheel::Id id, Tick) { EXPECT_EQ(id, 7U); }), 1U);

    struct Member : IntrusiveTimer {};
    ChronoWheel<IntrusiveTimingWheel<Member>> members(kBegin, 1ms);
    Member timer;
    members.schedule_at(kBegin + 5ms, timer);
    members.schedule_at(kBegin + 7ms, timer);
    EXPECT_EQ(members.next_expiry(), kBegin + 7ms);
    EXPECT_EQ(members.advance_to(kBegin + 7ms, [&](Member& due) { EXPECT_EQ(&due, &timer); }), 1U);
    EXPECT_EQ(members.wheel().size(), 0U);
}

}  // namespace
}  // namespace duewheel
