#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include "runtime/watched_thread_fixture.h"
#include <duewheel/patterns/retry.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

class RetryTest : public VirtualTime {
  protected:
    Retry start(RetryPolicy policy, unsigned succeeds_at) {
        const auto attempt = [this, succeeds_at](unsigned number) {
            EXPECT_EQ(number, attempts.size() + 1);
            attempts.push_back(now());
            return number == succeeds_at;
        };
        return Retry::start(service, policy, attempt, [this](unsigned tried) { given_up.push_back(tried); }).value();
    }

    std::vector<seconds> attempts;
    std::vector<unsigned> given_up;
};

TEST_F(RetryTest, a_failing_call_is_tried_after_5_s_and_four_times_more_every_3_s_and_then_given_up) {
    const Retry retry = start({.attempts_max = 5, .first_delay = 5s, .delay = 3s}, 99);
    pass(1h);
    EXPECT_EQ(attempts, (std::vector<seconds>{5s, 8s, 11s, 14s, 17s}));
    EXPECT_EQ(given_up, std::vector<unsigned>{5});
    EXPECT_EQ(retry.state(), RetryState::given_up);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(RetryTest, an_attempt_that_succeeds_is_the_last) {
    const Retry retry = start({.attempts_max = 5, .delay = 3s}, 3);
    EXPECT_EQ(retry.attempts(), 0U) << "nothing runs in start()";
    pass(1h);
    EXPECT_EQ(attempts, (std::vector<seconds>{0s, 3s, 6s}));
    EXPECT_TRUE(given_up.empty());
    EXPECT_EQ(retry.state(), RetryState::succeeded);
    EXPECT_EQ(retry.attempts(), 3U);
}

TEST_F(RetryTest, waits_twice_as_long_each_time_up_to_the_longest) {
    start({.attempts_max = 6, .delay = 1s, .growth = RetryPolicy::Growth::doubling, .delay_max = 5s}, 99);
    pass(1h);
    EXPECT_EQ(attempts, (std::vector<seconds>{0s, 1s, 3s, 7s, 12s, 17s}));
}

TEST_F(RetryTest, delays_do_not_overflow_however_many_attempts) {
    const RetryPolicy policy{.delay = 1s, .growth = RetryPolicy::Growth::doubling};
    for (unsigned attempt = 2; attempt < 200; ++attempt) {
        EXPECT_GE(policy.delay_before(attempt + 1), policy.delay_before(attempt)) << attempt;
    }
    EXPECT_EQ(policy.delay_before(4'000'000'000U), std::chrono::nanoseconds::max());
    EXPECT_EQ((RetryPolicy{.delay = 0s, .growth = RetryPolicy::Growth::doubling}.delay_before(100)), 0s);
    EXPECT_EQ((RetryPolicy{.first_delay = -1s}.delay_before(1)), 0s);
}

TEST_F(RetryTest, chance_shortens_delays_within_its_part_and_is_the_same_for_the_same_seed) {
    std::chrono::nanoseconds least = 100s;
    std::chrono::nanoseconds most = 0s;
    std::chrono::nanoseconds sum{0};
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const RetryPolicy policy{.delay = 10s, .jitter_percent = 50, .seed = seed};
        const std::chrono::nanoseconds delay = policy.delay_before(2);
        EXPECT_EQ(delay, policy.delay_before(2));
        least = std::min(least, delay);
        most = std::max(most, delay);
        sum += delay;
    }
    EXPECT_GE(least, 5s);
    EXPECT_LT(least, 5100ms);
    EXPECT_LE(most, 10s);
    EXPECT_GT(most, 9900ms);
    EXPECT_NEAR(static_cast<double>(sum.count()) / 1e12, 7.5, 0.2);
    const RetryPolicy policy{.delay = 10s, .jitter_percent = 50, .seed = 1};
    EXPECT_NE(policy.delay_before(2), policy.delay_before(3));
}

TEST_F(RetryTest, cancel_ends_it_between_two_attempts_and_from_within_one) {
    Retry between = start({.attempts_max = 5, .delay = 3s}, 99);
    pass(4s);
    EXPECT_TRUE(between.cancel());
    EXPECT_FALSE(between.cancel());
    pass(1h);
    EXPECT_EQ(attempts.size(), 2U);
    EXPECT_TRUE(given_up.empty());

    std::optional<Retry> within;
    int calls = 0;
    within = Retry::start(service, {.attempts_max = 5}, [&](unsigned) {
                 ++calls;
                 EXPECT_TRUE(within->cancel());
                 return false;
             }).value();
    pass(1h);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(within->state(), RetryState::cancelled);
}

TEST_F(RetryTest, one_that_is_cancelled_during_its_attempt_stays_so_whatever_that_comes_to) {
    for (const bool succeeds : {false, true}) {
        std::optional<Retry> retry;
        const auto attempt = [&](unsigned) {
            EXPECT_TRUE(retry->cancel());
            return succeeds;
        };
        retry = Retry::start(service, {.attempts_max = 1}, attempt, [](unsigned) { ADD_FAILURE(); }).value();
        pass(1h);
        EXPECT_EQ(retry->state(), RetryState::cancelled);
        EXPECT_EQ(retry->attempts(), 1U);
    }
}

TEST_F(RetryTest, an_attempt_that_throws_has_failed_and_is_reported) {
    int errors = 0;
    TimerService own({.on_error = [&](std::exception_ptr, const char*) { ++errors; }}, clock);
    unsigned tried = 0;
    const auto attempt = [](unsigned) -> bool { throw std::runtime_error("no connection"); };
    ASSERT_TRUE(Retry::start(own, {.attempts_max = 3, .delay = 1s}, attempt, [&](unsigned n) { tried = n; }).ok());
    for (int second = 0; second < 5; ++second) {
        own.advance();
        clock.advance(1s);
    }
    EXPECT_EQ(errors, 3);
    EXPECT_EQ(tried, 3U);
}

TEST_F(RetryTest, gives_up_when_the_service_is_stopped_between_attempts) {
    std::optional<Retry> retry = start({.attempts_max = 5, .delay = 3s}, 99);
    const Result<Retry> stopping = Retry::start(
        service, {.attempts_max = 5},
        [&](unsigned) {
            service.stop();
            return false;
        },
        [&](unsigned tried) { given_up.push_back(tried); });
    ASSERT_TRUE(stopping.ok());
    pass(1h);
    EXPECT_EQ(stopping->state(), RetryState::given_up);
    const auto refused = Retry::start(
        service, {}, [](unsigned) { return true; }, [](unsigned) { ADD_FAILURE(); });
    EXPECT_EQ(refused.error().code, ErrorCode::timers_stopped);
}

// A service that was stopped while a retry waited left it waiting for ever: its state said so, and the handler was
// never called.
TEST_F(RetryTest, gives_up_when_the_service_is_stopped_while_it_waits) {
    const Retry fresh = start({.first_delay = 1h}, 99);
    const Retry between = start({.attempts_max = 5, .delay = 3s}, 99);
    Retry cancelled = start({.first_delay = 1h}, 99);
    pass(4s);
    EXPECT_TRUE(cancelled.cancel());
    service.stop();
    EXPECT_EQ(fresh.state(), RetryState::given_up);
    EXPECT_EQ(between.state(), RetryState::given_up);
    EXPECT_EQ(cancelled.state(), RetryState::cancelled);
    std::sort(given_up.begin(), given_up.end());
    EXPECT_EQ(given_up, (std::vector<unsigned>{0, 2})) << "each with the attempts there were";
    pass(1h);
    EXPECT_EQ(attempts.size(), 2U);
    EXPECT_EQ(given_up.size(), 2U);
}

// The same, and then the handler has the service's executor and its on_error as any task has, and may ask the retry.
TEST_F(RetryTest, callbacks_of_a_stop_are_called_like_tasks) {
    std::vector<TimerTask> held;
    int errors = 0;
    std::optional<Retry> retry;
    const auto give_up = [&](unsigned) {
        EXPECT_EQ(retry->state(), RetryState::given_up);
        EXPECT_FALSE(retry->cancel());
        throw std::runtime_error("no connection");
    };
    {
        TimerService own({.executor = [&](TimerTask task) { held.push_back(std::move(task)); },
                          .on_error = [&](std::exception_ptr, const char*) { ++errors; }},
                         clock);
        retry = Retry::start(
                    own, {.first_delay = 1h}, [](unsigned) { return true; }, give_up)
                    .value();
        own.stop();
        ASSERT_EQ(held.size(), 1U);
        held[0]();
    }
    EXPECT_EQ(errors, 1);
    {
        TimerService own({.on_error = [&](std::exception_ptr, const char*) { ++errors; }}, clock);
        retry = Retry::start(
                    own, {.first_delay = 1h}, [](unsigned) { return true; }, give_up)
                    .value();
    }
    EXPECT_EQ(errors, 2) << "and by who destroys the service, if it has no executor";
    EXPECT_EQ(retry->state(), RetryState::given_up) << "which may be asked when the service has gone";
}

TEST_F(RetryTest, an_executor_that_drops_an_attempt_ends_it) {
    // It stayed waiting for what the executor had dropped.
    std::vector<TimerTask> held;
    TimerService own({.executor = [&](TimerTask task) { held.push_back(std::move(task)); }}, clock);
    const auto give_up = [&](unsigned tried) { given_up.push_back(tried); };
    const Retry retry = Retry::start(
                            own, {}, [](unsigned) { return true; }, give_up)
                            .value();
    own.advance();
    ASSERT_EQ(held.size(), 1U);
    std::exchange(held, {}).clear();
    EXPECT_EQ(retry.state(), RetryState::given_up);
    ASSERT_EQ(held.size(), 1U);
    held[0]();
    EXPECT_EQ(given_up, std::vector<unsigned>{0});
}

// Another thread may stop the service just as the timer of a retry is added, before the call that starts the retry
// returns. Then the other thread calls the handler, afterwards: the starting thread may hold a lock that the handler
// takes.
TEST_F(RetryTest, is_abandoned_by_a_stop_of_the_service_as_it_starts) {
    class StoppingAlarm final : public TimerAlarm {
      public:
        explicit StoppingAlarm(TimerService& service) : service_(service) {}
        void set(TimerInstant instant) override {
            if (instant == kNeverInstant) return;
            stopping_.emplace([this] { service_.stop(); });
            EXPECT_TRUE(stopping_->comes_to_wait()) << "for who starts it";
        }
        void wait() override { stopping_.reset(); }

      private:
        TimerService& service_;
        std::optional<WatchedThread> stopping_;
    } alarm(service);
    service.set_alarm(&alarm);
    service.rest();
    std::thread::id given_up_by;
    const auto give_up = [&](unsigned) { given_up_by = std::this_thread::get_id(); };
    const Retry retry = Retry::start(
                            service, {.first_delay = 1s}, [](unsigned) { return true; }, give_up)
                            .value();
    alarm.wait();
    EXPECT_EQ(retry.state(), RetryState::given_up);
    EXPECT_NE(given_up_by, std::thread::id());
    EXPECT_NE(given_up_by, std::this_thread::get_id());
    service.set_alarm(nullptr);
}

}  // namespace
}  // namespace duewheel
