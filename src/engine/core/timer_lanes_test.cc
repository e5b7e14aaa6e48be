// Timers of large and small queues together.
#include "engine/core/timer_lanes.h"

#include <vector>

#include <gtest/gtest.h>

namespace duewheel::timer_lanes_test {
namespace {

constexpr std::size_t kAll = TimingWheel::kUnlimited;

struct Fired {
    std::vector<std::uint64_t> cookies;
    void operator()(std::uint64_t cookie, Tick) { cookies.push_back(cookie); }
};

TEST(TimerLanes, each_lane_takes_queues_sixteen_times_as_large) {
    const TimerLanes lanes(0, 10);
    EXPECT_EQ(lanes.lane_of(0), 0u);
    EXPECT_EQ(lanes.lane_of(9), 0u);
    EXPECT_EQ(lanes.lane_of(10), 1u);
    EXPECT_EQ(lanes.lane_of(159), 1u);
    EXPECT_EQ(lanes.lane_of(160), 2u);
    EXPECT_EQ(lanes.lane_of(2559), 2u);
    EXPECT_EQ(lanes.lane_of(2560), 3u);
    EXPECT_EQ(lanes.lane_of(UINT64_MAX), 3u);
}

TEST(TimerLanes, a_burst_due_before_it_does_not_delay_a_small_queue) {
    TimerLanes lanes(0, 10);
    for (std::uint64_t cookie = 0; cookie < 1000; ++cookie) lanes.schedule(50, cookie, 1000);
    lanes.schedule(51, 5000, 1);
    Fired fired;
    lanes.advance_to(51, fired, 20);
    EXPECT_EQ(fired.cookies.front(), 5000u);
    EXPECT_EQ(fired.cookies.size(), 21u);
    EXPECT_FALSE(lanes.caught_up());
    EXPECT_EQ(lanes.next_work(), 51u);
    while (!lanes.caught_up()) lanes.advance_to(51, fired, 20);
    EXPECT_EQ(fired.cookies.size(), 1001u);
}

TEST(TimerLanes, a_handle_names_one_timer_of_one_lane) {
    TimerLanes lanes(0, 1);
    std::vector<TimerHandle> handles;
    for (std::uint64_t company : {0u, 1u, 16u, 256u})
        handles.push_back(lanes.schedule(10 + company % 50, company, company));
    EXPECT_EQ(lanes.next_work(), 10u);
    EXPECT_EQ(lanes.size(), 4u);
    std::vector<Tick> starts;
    EXPECT_EQ(lanes.visit_slots([&](unsigned, Tick start, std::size_t) { starts.push_back(start); }), 0u);
    EXPECT_EQ(starts, (std::vector<Tick>{10, 11, 26, 16})) << "lane by lane";
    EXPECT_FALSE(lanes.deadline_of(TimerHandle{}));
    EXPECT_FALSE(lanes.cancel(TimerHandle{}));
    EXPECT_EQ(lanes.deadline_of(handles[2]), 26u);
    EXPECT_TRUE(lanes.reschedule(handles[2], 5));
    EXPECT_EQ(lanes.deadline_of(handles[2]), 5u);
    EXPECT_TRUE(lanes.cancel(handles[1]));
    EXPECT_FALSE(lanes.cancel(handles[1]));
    EXPECT_FALSE(lanes.deadline_of(handles[1]));
    Fired fired;
    lanes.advance_to(1000, fired, kAll);
    EXPECT_EQ(fired.cookies, (std::vector<std::uint64_t>{0, 16, 256}));
    for (const TimerHandle handle : handles) EXPECT_FALSE(lanes.reschedule(handle, 2000));
    lanes.check();
}

}  // namespace
}  // namespace duewheel::timer_lanes_test
