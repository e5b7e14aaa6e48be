#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/system_timer.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

TEST(SystemTimer, advance_clock_waits_for_due_tasks_up_to_its_timeout) {
    ManualClock clock;
    clock.auto_advance(true);
    const TimerInstant begin = clock.now();
    SystemTimer timer({}, clock);
    std::string ran;
    ASSERT_TRUE(timer.add(300ms, [&] { ran += 'a'; }).ok());
    ASSERT_TRUE(timer.add(100ms, [&] { ran += 'b'; }).ok());
    EXPECT_EQ(timer.size(), 2U);
    EXPECT_FALSE(timer.advance_clock(60ms));
    EXPECT_EQ(clock.now() - begin, 60ms);
    EXPECT_TRUE(timer.advance_clock(200ms));
    EXPECT_EQ(clock.now() - begin, 100ms);
    EXPECT_EQ(ran, "b");
    EXPECT_FALSE(timer.advance_clock(200ms - 1ms));
    EXPECT_TRUE(timer.advance_clock(1h));
    EXPECT_EQ(ran, "ba");
    EXPECT_EQ(clock.now() - begin, 300ms);
    EXPECT_FALSE(timer.advance_clock(10min)) << "with nothing to wait for it still has patience";
    EXPECT_EQ(clock.now() - begin, 10min + 300ms);
    EXPECT_FALSE(timer.advance_clock(0ms));
}

TEST(SystemTimer, due_tasks_run_at_once_and_tasks_they_add_in_the_next_call) {
    ManualClock clock;
    SystemTimer timer({}, clock);
    int runs = 0;
    ASSERT_TRUE(timer
                    .add(0ms,
                         [&] {
                             ++runs;
                             EXPECT_TRUE(timer.add(-5ms, [&] { ++runs; }).ok());
                         })
                    .ok());
    EXPECT_TRUE(timer.advance_clock(1h));
    EXPECT_EQ(runs, 1);
    EXPECT_TRUE(timer.advance_clock(1h));
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(timer.size(), 0U);
}

TEST(SystemTimer, a_cancelled_task_neither_runs_nor_wakes_a_thread) {
    ManualClock clock;
    clock.auto_advance(true);
    const TimerInstant begin = clock.now();
    SystemTimer timer({}, clock);
    Timeout early = timer.add(1s, [] { ADD_FAILURE(); }).value();
    ASSERT_TRUE(timer.add(5s, [] {}).ok());
    EXPECT_EQ(early.cancel(), CancelOutcome::removed);
    EXPECT_EQ(timer.size(), 1U);
    EXPECT_TRUE(timer.advance_clock(1min));
    EXPECT_EQ(clock.now() - begin, 5s);
}

TEST(SystemTimer, tasks_go_to_the_executor) {
    ManualClock clock;
    std::vector<TimerTask> handed;
    SystemTimer timer({.executor = [&](TimerTask task) { handed.push_back(std::move(task)); }}, clock);
    int runs = 0;
    ASSERT_TRUE(timer.add(0ms, [&] { ++runs; }).ok());
    EXPECT_TRUE(timer.advance_clock(0ms));
    EXPECT_EQ(runs, 0);
    ASSERT_EQ(handed.size(), 1U);
    handed[0]();
    EXPECT_EQ(runs, 1);
    handed.clear();
}

TEST(SystemTimer, a_task_added_by_another_thread_wakes_a_thread_that_waits_for_a_later_one) {
    ManualClock clock;
    SystemTimer timer({}, clock);
    std::atomic<bool> ran = false;
    std::atomic<bool> returned = false;
    ASSERT_TRUE(timer.add(1h, [] { ADD_FAILURE(); }).ok());
    std::thread reaper([&] { returned = timer.advance_clock(24h); });
    clock.advance(1s);  // it may sleep by now or not: both must end well
    ASSERT_TRUE(timer.add(2s, [&] { ran = true; }).ok());
    clock.advance(2s);
    reaper.join();
    EXPECT_TRUE(returned);
    EXPECT_TRUE(ran);
}

TEST(SystemTimer, shutdown_returns_pending_tasks_and_wakes_waiting_threads) {
    ManualClock clock;
    SystemTimer timer({}, clock);
    ASSERT_TRUE(timer.add(1h, [] { ADD_FAILURE(); }).ok());
    std::atomic<bool> returned = false;
    std::thread reaper([&] {
        EXPECT_FALSE(timer.advance_clock(24h));
        returned = true;
    });
    EXPECT_EQ(timer.shutdown().size(), 1U);
    reaper.join();
    EXPECT_TRUE(returned);
    EXPECT_TRUE(timer.shutdown().empty());
    EXPECT_EQ(timer.add(1s, [] {}).error().code, ErrorCode::timers_stopped);
    EXPECT_FALSE(timer.advance_clock(24h)) << "a timer that was shut down has no patience";
}

}  // namespace
}  // namespace duewheel
