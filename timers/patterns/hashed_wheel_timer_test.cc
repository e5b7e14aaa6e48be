#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/hashed_wheel_timer.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using Times = std::vector<seconds>;

// The timer's thread sleeps on the clock, and each advance() returns when it sleeps again: so what a task writes may be
// read between two of them.
class HashedWheelTimerTest : public testing::Test {
  protected:
    std::unique_ptr<HashedWheelTimer> make(HashedWheelTimerOptions options = {.tick = 1s, .ticks_per_wheel = 100}) {
        options.on_misuse = [this](std::string_view what) { misuses.emplace_back(what); };
        return std::make_unique<HashedWheelTimer>(std::move(options), clock);
    }
    auto noting() {
        return [this] { times.push_back(std::chrono::duration_cast<seconds>(clock.now() - begin_)); };
    }

    ManualClock clock;
    Times times;
    std::vector<std::string> misuses;

  private:
    const TimerInstant begin_ = clock.now();
};

TEST_F(HashedWheelTimerTest, a_hundred_slots_of_a_second_with_tasks_at_3_and_4_s) {
    const auto timer = make();
    ASSERT_TRUE(timer->new_timeout(noting(), 3s).ok());
    ASSERT_TRUE(timer->new_timeout(noting(), 4s).ok());
    EXPECT_EQ(timer->pending_timeouts(), 2U);
    clock.advance(2s);
    EXPECT_TRUE(times.empty());
    clock.advance(8s);
    EXPECT_EQ(times, (Times{3s, 4s}));
    EXPECT_EQ(timer->pending_timeouts(), 0U);
    EXPECT_TRUE(timer->stop().empty());
}

TEST_F(HashedWheelTimerTest, a_task_at_5_s_is_cancelled_and_submitted_again_at_3_s_beside_one_at_10_s) {
    const auto timer = make();
    Timeout five = timer->new_timeout([] { ADD_FAILURE(); }, 5s).value();
    ASSERT_TRUE(timer->new_timeout(noting(), 10s).ok());
    if (five.cancel() == CancelOutcome::removed) {
        ASSERT_TRUE(timer->new_timeout(noting(), 3s).ok());
    }
    EXPECT_TRUE(five.is_cancelled());
    clock.advance(20s);
    EXPECT_EQ(times, (Times{3s, 10s}));
    EXPECT_TRUE(timer->stop().empty());
}

TEST_F(HashedWheelTimerTest, stop_returns_what_was_not_run) {
    const auto timer = make();
    const Timeout first = timer->new_timeout([] { ADD_FAILURE(); }, 3s).value();
    Timeout cancelled = timer->new_timeout([] { ADD_FAILURE(); }, 3s).value();
    const Timeout ran = timer->new_timeout(noting(), 1s).value();
    cancelled.cancel();
    clock.advance(2s);
    const std::vector<Timeout> left = timer->stop();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0], first);
    EXPECT_TRUE(ran.is_expired());
    EXPECT_TRUE(timer->stop().empty());
    EXPECT_EQ(timer->new_timeout([] {}, 1s).error().code, ErrorCode::timers_stopped);
    clock.advance(1h);
    EXPECT_EQ(times.size(), 1U);
    EXPECT_TRUE(misuses.empty());
}

TEST_F(HashedWheelTimerTest, a_task_gets_its_own_timeout_and_may_stop_the_timer) {
    const auto timer = make();
    std::vector<Timeout> left;
    bool was_expired = false;
    ASSERT_TRUE(timer
                    ->new_timeout(
                        [&](const Timeout& own) {
                            was_expired = own.is_expired();
                            left = timer->stop();
                        },
                        1s)
                    .ok());
    ASSERT_TRUE(timer->new_timeout([] { ADD_FAILURE(); }, 2s).ok());
    clock.advance(1h);
    EXPECT_TRUE(was_expired);
    EXPECT_EQ(left.size(), 1U);
}

TEST_F(HashedWheelTimerTest, refuses_more_than_may_be_pending) {
    const auto timer = make({.tick = 1s, .max_pending_timeouts = 2});
    Timeout first = timer->new_timeout([] {}, 3s).value();
    ASSERT_TRUE(timer->new_timeout([] {}, 3s).ok());
    EXPECT_EQ(timer->new_timeout([] {}, 3s).error().code, ErrorCode::timers_full);
    first.cancel();
    EXPECT_TRUE(timer->new_timeout([] {}, 3s).ok()) << "a cancelled one makes room";
    EXPECT_EQ(timer->stop().size(), 2U);
}

TEST_F(HashedWheelTimerTest, a_task_that_throws_disturbs_no_other) {
    std::atomic<int> errors = 0;
    const auto timer = make({.tick = 1s, .on_error = [&](std::exception_ptr, const char*) { ++errors; }});
    ASSERT_TRUE(timer->new_timeout([] { throw std::runtime_error("task"); }, 1s).ok());
    ASSERT_TRUE(timer->new_timeout(noting(), 1s).ok());
    ASSERT_TRUE(timer->new_timeout(noting(), 2s).ok());
    clock.advance(3s);
    EXPECT_EQ(times, (Times{1s, 2s}));
    EXPECT_EQ(errors, 1);
    timer->stop();
}

TEST_F(HashedWheelTimerTest, does_not_wake_while_nothing_is_due) {
    const auto timer = make();
    ASSERT_TRUE(timer->new_timeout(noting(), 24h).ok());
    clock.advance(1s);
    const std::uint64_t before = timer->wakeups();
    for (int minute = 0; minute < 23 * 60; ++minute) clock.advance(1min);
    EXPECT_EQ(timer->wakeups(), before);
    clock.advance(2h);
    EXPECT_EQ(times.size(), 1U);
    EXPECT_LE(timer->wakeups(), before + 2);
    timer->stop();
}

TEST_F(HashedWheelTimerTest, starts_its_thread_with_the_first_timeout_through_the_factory) {
    int threads = 0;
    const auto timer = make({.tick = 1s, .thread_factory = [&](std::function<void()> body) {
                                 ++threads;
                                 return std::thread(std::move(body));
                             }});
    EXPECT_EQ(threads, 0);
    ASSERT_TRUE(timer->new_timeout([] {}, 1s).ok());
    timer->start();
    EXPECT_EQ(threads, 1);
    EXPECT_EQ(timer->stop().size(), 1U);
    timer->start();
    EXPECT_EQ(threads, 1);
}

TEST_F(HashedWheelTimerTest, sizes_are_rounded_up_to_a_power_of_two) {
    for (const auto& [asked, given] : {std::pair{1U, 1U}, {100U, 128U}, {512U, 512U}, {513U, 1024U}}) {
        EXPECT_EQ(make({.tick = 1s, .ticks_per_wheel = asked})->ticks_per_wheel(), given);
    }
    EXPECT_EQ(make()->tick(), 1s);
}

TEST_F(HashedWheelTimerTest, one_that_is_never_stopped_is_reported_with_what_it_lost) {
    auto timer = make();
    ASSERT_TRUE(timer->new_timeout([] { ADD_FAILURE(); }, 1s).ok());
    timer.reset();
    ASSERT_EQ(misuses.size(), 1U);
    EXPECT_NE(misuses[0].find("without stop(), with 1 time-outs pending"), std::string::npos) << misuses[0];
    make().reset();
    EXPECT_EQ(misuses.size(), 1U) << "one that was never used has lost nothing";
}

TEST_F(HashedWheelTimerTest, too_many_instances_are_reported_once) {
    std::vector<std::unique_ptr<HashedWheelTimer>> timers;
    const std::size_t before = HashedWheelTimer::instances();
    for (std::size_t i = 0; i <= HashedWheelTimer::kInstancesMax + 5; ++i) {
        timers.push_back(make());
        EXPECT_EQ(misuses.size(), HashedWheelTimer::instances() > HashedWheelTimer::kInstancesMax) << "and no sooner";
    }
    EXPECT_EQ(HashedWheelTimer::instances(), before + HashedWheelTimer::kInstancesMax + 6);
    ASSERT_EQ(misuses.size(), 1U);
    EXPECT_NE(misuses[0].find("more than 64 instances"), std::string::npos) << misuses[0];
    timers.clear();
    EXPECT_EQ(HashedWheelTimer::instances(), before);
}

}  // namespace
}  // namespace duewheel
