#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "patterns/virtual_time_fixture.h"
#include <duewheel/manual_clock.h>
#include <duewheel/patterns/task_timer.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using Times = std::vector<seconds>;

// The timer's thread sleeps on the clock, and each advance() returns when it sleeps again: so what a task writes may be
// read between two of them.
class TaskTimerTest : public testing::Test {
  protected:
    seconds now() const { return std::chrono::duration_cast<seconds>(clock.now() - begin_); }
    // A task that writes down when it runs.
    auto noting(Times& times) {
        return [this, &times] { times.push_back(now()); };
    }

    ManualClock clock{Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}}};
    std::atomic<int> errors = 0;
    TaskTimer timer{{.on_error = [this](std::exception_ptr, const char*) { ++errors; }}, clock};

  private:
    const TimerInstant begin_ = clock.now();
};

TEST_F(TaskTimerTest, a_delay_and_a_period_and_one_task_that_throws_while_the_others_go_on) {
    // java.util.Timer ends with the first task that throws.
    Times first;
    Times second;
    ASSERT_TRUE(timer.schedule(noting(first), 1s, 2s).ok());
    ASSERT_TRUE(timer.schedule([] { throw std::runtime_error("task"); }, 1s, 2s).ok());
    ASSERT_TRUE(timer.schedule(noting(second), 1s, 2s).ok());
    clock.advance(8s);
    EXPECT_EQ(first, (Times{1s, 3s, 5s, 7s}));
    EXPECT_EQ(second, first);
    EXPECT_EQ(errors, 4) << "it is not dropped either";
}

TEST_F(TaskTimerTest, has_the_four_forms) {
    const Instant begin = clock.wall_now();
    Times after_delay;
    Times with_period;
    Times at_date;
    Times from_date;
    ASSERT_TRUE(timer.schedule(noting(after_delay), 3s).ok());
    ASSERT_TRUE(timer.schedule(noting(with_period), 2s, 3s).ok());
    ASSERT_TRUE(timer.schedule(noting(at_date), begin + 4s).ok());
    ASSERT_TRUE(timer.schedule(noting(from_date), begin + 5s, 2s).ok());
    EXPECT_EQ(timer.size(), 4U);
    clock.advance(10s);
    EXPECT_EQ(after_delay, Times{3s});
    EXPECT_EQ(with_period, (Times{2s, 5s, 8s}));
    EXPECT_EQ(at_date, Times{4s});
    EXPECT_EQ(from_date, (Times{5s, 7s, 9s}));
    EXPECT_EQ(timer.size(), 2U);
}

TEST_F(TaskTimerTest, a_date_that_has_passed_is_due_now) {
    Times once;
    Times again;
    ASSERT_TRUE(timer.schedule(noting(once), clock.wall_now() - 1h).ok());
    ASSERT_TRUE(timer.schedule(noting(again), clock.wall_now() - 1h, 4s).ok());
    clock.advance(5s);
    EXPECT_EQ(once, Times{0s});
    EXPECT_EQ(again, (Times{0s, 4s}));
    EXPECT_TRUE(timer.schedule([] {}, Instant::max()).ok()) << "beyond the end of the clock";
    EXPECT_TRUE(timer.schedule([] {}, Instant::max(), 1s).ok());
    EXPECT_TRUE(timer.schedule([] {}, Instant::min(), 1h).ok());
}

TEST_F(TaskTimerTest, a_task_may_cancel_itself_and_others_and_the_timer) {
    Times times;
    Timeout own;
    own = timer
              .schedule(
                  [&] {
                      times.push_back(now());
                      if (times.size() == 3) {
                          EXPECT_EQ(own.cancel(), CancelOutcome::running_here);
                      }
                  },
                  1s, 1s)
              .value();
    std::vector<Timeout> left;
    ASSERT_TRUE(timer.schedule([&] { left = timer.cancel(); }, 10s).ok());
    ASSERT_TRUE(timer.schedule([] { ADD_FAILURE(); }, 11s).ok());
    clock.advance(20s);
    EXPECT_EQ(times, (Times{1s, 2s, 3s}));
    EXPECT_EQ(left.size(), 1U);
    EXPECT_TRUE(timer.cancel().empty());
    EXPECT_EQ(timer.schedule([] {}, 1s).error().code, ErrorCode::timers_stopped);
}

// A task that takes five seconds of a period of two. No thread sleeps on the clock here, so the task itself may move
// it.
class LongTaskTest : public VirtualTime {
  protected:
    Times starts(MissedPeriods missed) {
        Times times;
        Timeout timeout = service
                              .schedule_at_fixed_rate(
                                  1s, 2s,
                                  [&] {
                                      times.push_back(now());
                                      if (times.size() == 1) clock.advance(5s);
                                  },
                                  missed)
                              .value();
        pass(11s);
        timeout.cancel();
        return times;
    }
};

TEST_F(LongTaskTest, a_fixed_rate_makes_up_for_what_a_long_task_has_missed) {
    EXPECT_EQ(starts(MissedPeriods::burst), (Times{1s, 6s, 6s, 7s, 9s, 11s}));
}

TEST_F(LongTaskTest, a_period_after_each_start_does_not) {
    // What schedule(task, delay, period) does: after the long one, two seconds from its late successor.
    const Times times = starts(MissedPeriods::delay);
    ASSERT_GE(times.size(), 4U);
    EXPECT_EQ(times[0], 1s);
    EXPECT_EQ(times[1], 6s);
    for (std::size_t i = 2; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], 2s) << i;
}

TEST_F(LongTaskTest, a_fixed_delay_counts_from_the_end) {
    Times times;
    ASSERT_TRUE(service
                    .schedule_with_fixed_delay(1s, 2s,
                                               [&] {
                                                   times.push_back(now());
                                                   if (times.size() == 1) clock.advance(5s);
                                               })
                    .ok());
    pass(11s);
    EXPECT_EQ(times, (Times{1s, 8s, 10s}));
    service.stop();
}

}  // namespace
}  // namespace duewheel
