// TimerService and its executor: tasks on other threads, dropped tasks, and which calls wait for which. No test sleeps:
// time is a manual clock's, or the test waits for the event itself.
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/watched_thread_fixture.h"
#include <duewheel/coroutine.h>
#include <duewheel/manual_clock.h>
#include <duewheel/task.h>
#include <duewheel/task_pool.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

TEST(TimerExecutors, a_task_that_blocks_delays_no_others) {
    TaskPool pool(2);
    TimerService service({.executor = pool.executor()});
    TimerThread thread(service);
    std::promise<void> release;
    std::shared_future<void> released = release.get_future().share();
    std::promise<void> blocks;
    static_cast<void>(service.schedule_after(0ms, [&, released] {
        blocks.set_value();
        released.wait();
    }));
    blocks.get_future().wait();
    service.submit_after(1ms, [] {}).value().get();
    release.set_value();
    thread.stop();
}

// Keeps its tasks until the test runs them.
class HeldExecutor {
  public:
    TimerExecutor executor() {
        return [this](TimerTask task) { held_.push_back(std::move(task)); };
    }
    void run_all() {
        for (TimerTask& task : std::exchange(held_, {})) task();
    }
    void drop_all() { held_.clear(); }
    std::size_t size() const { return held_.size(); }

  private:
    std::vector<TimerTask> held_;
};

TEST(TimerExecutors, a_dispatched_task_can_still_be_cancelled) {
    ManualClock clock;
    HeldExecutor held;
    TimerService service({.executor = held.executor()}, clock);
    int fired = 0;
    Timeout timeout = service.schedule_after(0ms, [&] { ++fired; }).value();
    static_cast<void>(service.schedule_after(0ms, [&] { ++fired; }));
    service.advance();
    EXPECT_EQ(held.size(), 2U);
    EXPECT_TRUE(timeout.is_pending());
    EXPECT_EQ(timeout.cancel(), CancelOutcome::removed);
    held.run_all();
    EXPECT_EQ(fired, 1);
    EXPECT_TRUE(timeout.is_cancelled());
}

TEST(TimerExecutors, a_task_dropped_by_its_executor_is_cancelled) {
    ManualClock clock;
    HeldExecutor held;
    TimerService service({.max_pending = 2, .executor = held.executor()}, clock);
    const auto token = std::make_shared<int>();
    const Timeout once = service.schedule_after(0ms, [token] {}).value();
    const Timeout periodic = service.schedule_at_fixed_rate(0ms, 1ms, [token] {}).value();
    service.advance();
    held.drop_all();
    EXPECT_TRUE(once.is_cancelled());
    EXPECT_TRUE(periodic.is_cancelled());
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_TRUE(service.schedule_after(0ms, [] {}));
    EXPECT_TRUE(service.schedule_after(0ms, [] {})) << "both have left their places";
}

TEST(TimerExecutors, no_two_runs_of_a_periodic_timer_overlap) {
    ManualClock clock;
    HeldExecutor held;
    TimerService service({.executor = held.executor()}, clock);
    int runs = 0;
    static_cast<void>(service.schedule_at_fixed_rate(1ms, 1ms, [&] { ++runs; }));
    clock.advance(10ms);
    service.advance();
    service.advance();
    EXPECT_EQ(held.size(), 1U) << "the next run waits for the end of this one";
    for (int i = 0; i < 20; ++i) {
        held.run_all();
        service.advance();
    }
    EXPECT_EQ(runs, 10) << "and then all missed ones come in a burst";
}

TEST(TimerExecutors, an_executor_that_throws_reaches_the_error_handler) {
    ManualClock clock;
    int errors = 0;
    TimerOptions options;
    options.executor = [](const TimerTask&) { throw std::runtime_error("full"); };
    options.on_error = [&](std::exception_ptr, const char*) { ++errors; };
    TimerService service(options, clock);
    const Timeout timeout = service.schedule_after(0ms, [] {}).value();
    service.advance();
    EXPECT_EQ(errors, 1);
    EXPECT_TRUE(timeout.is_cancelled());
}

TEST(TimerExecutors, what_a_dispatched_task_throws_reaches_the_error_handler) {
    // It was handed over as it came, and ended the process on the pool's thread.
    HeldExecutor held;
    std::vector<std::string> errors;
    TimerOptions options;
    options.executor = held.executor();
    options.on_error = [&](std::exception_ptr problem, const char* name) {
        try {
            std::rethrow_exception(problem);
        } catch (const std::exception& thrown) {
            errors.push_back(std::string(name) + ": " + thrown.what());
        }
    };
    TimerService service(options);
    service.dispatch(named("throws", [] { throw std::runtime_error("no"); }));
    EXPECT_TRUE(errors.empty());
    held.run_all();
    EXPECT_EQ(errors, std::vector<std::string>{"throws: no"});
    EXPECT_EQ(service.statistics().failed, 1U);
}

TEST(TimerExecutors, a_task_that_never_ran_did_not_fire) {
    // Timers counted as fired once the executor had them, also when it dropped them or they were cancelled there.
    ManualClock clock;
    HeldExecutor held;
    TimerService service({.executor = held.executor()}, clock);
    Timeout timeout = service.schedule_after(0ms, [] {}).value();
    static_cast<void>(service.schedule_after(0ms, [] {}));
    EXPECT_EQ(service.advance(), 2U) << "that many were handed over";
    EXPECT_EQ(service.statistics().fired, 2U) << "the executor has them";
    timeout.cancel();
    held.run_all();
    EXPECT_EQ(service.statistics().fired, 1U);
    EXPECT_EQ(service.statistics().cancelled, 1U);
    static_cast<void>(service.schedule_after(0ms, [] {}));
    service.advance();
    held.drop_all();
    EXPECT_EQ(service.statistics().fired, 1U);
    EXPECT_EQ(service.statistics().cancelled, 2U);
}

TEST(TimerExecutors, may_keep_what_they_have_run) {
    // What was handed over counts until it has run; kept by the executor it would have counted for ever.
    ManualClock clock;
    std::vector<TimerTask> kept;
    const auto held = std::make_shared<int>();
    {
        TimerService service({.executor = [&](TimerTask task) { kept.emplace_back(std::move(task))(); }}, clock);
        static_cast<void>(service.schedule_after(0ms, [held] {}));
        service.advance();
        service.dispatch([held] {});
        EXPECT_EQ(kept.size(), 2U);
        EXPECT_EQ(held.use_count(), 1);
    }
    kept.clear();
}

// What came to a pool after its end would have been kept, and what it held with it, until the pool's memory went.
TEST(TaskPools, tasks_after_the_end_are_dropped_at_once) {
    auto pool = std::make_unique<TaskPool>(1);
    const auto held = std::make_shared<int>();
    std::optional<WatchedThread> ending;
    std::promise<void> posted;
    std::promise<long> uses;
    pool->post([&, same = pool.get()] {
        posted.get_future().wait();
        ending.emplace([&] { pool.reset(); });
        EXPECT_TRUE(ending->comes_to_wait()) << "for this task";
        same->post([held] {});
        uses.set_value(held.use_count());
    });
    posted.set_value();
    EXPECT_EQ(uses.get_future().get(), 1);
    ending.reset();
}

// ---- coroutines ----

// A coroutine went on on the executor. Where its work and its limit were due at once, both waited there, and what came
// second went on with what the first had destroyed; in a pool of threads a limit destroyed work that ran.
TEST(CoroutineExecutors, work_and_its_limit_that_are_due_at_once_end_once) {
    for (const bool stops : {false, true}) {
        ManualClock clock;
        HeldExecutor held;
        TimerService service({.executor = held.executor()}, clock);
        int ended = 0;
        const auto ask = [&]() -> Task<void> {
            static_cast<void>(co_await with_timeout(service, 5ms, sleep_for(service, 5ms)));
            ++ended;
        };
        start(ask());
        clock.advance(5ms);
        if (stops) static_cast<void>(service.stop());
        service.advance();
        EXPECT_EQ(ended, 1);
        held.run_all();
        EXPECT_EQ(ended, 1);
    }
}

TEST(CoroutineExecutors, work_that_runs_is_not_destroyed_by_its_limit) {
    TaskPool pool(4);
    TimerService service({.executor = pool.executor()});
    TimerThread thread(service);
    std::atomic<int> ended = 0;
    const auto work = [&]() -> Task<int> {
        int sum = 0;
        for (int i = 0; i < 3; ++i) {
            co_await sleep_for(service, 1ms);
            const TimerInstant until = service.clock().now() + 20us;
            while (service.clock().now() < until) ++sum;
        }
        co_return sum;
    };
    const auto ask = [&]() -> Task<void> {
        for (int i = 0; i < 20; ++i) static_cast<void>(co_await with_timeout(service, 3ms, work()));
        ++ended;
    };
    for (int i = 0; i < 50; ++i) start(ask());
    while (ended < 25) std::this_thread::yield();
    static_cast<void>(thread.stop());  // beside all of them
    EXPECT_EQ(ended, 50);
}

TEST(CoroutineExecutors, a_stop_leaves_sleeping_coroutines_to_the_driving_thread) {
    // The thread that stopped went on with a coroutine beside the driver's.
    ManualClock clock;
    TimerService service({}, clock);
    std::promise<void> begun;
    std::promise<void> stopped;
    std::thread::id went_on_at;
    const auto doze = [&]() -> Task<void> {
        const SleepEnd end = co_await sleep_for(service, 1h);
        EXPECT_EQ(end, SleepEnd::stopped);
        went_on_at = std::this_thread::get_id();
    };
    start(doze());
    static_cast<void>(service.schedule_after(0ms, [&] {
        begun.set_value();
        stopped.get_future().wait();
        EXPECT_EQ(went_on_at, std::thread::id()) << "not beside this task";
    }));
    std::thread driver([&] { service.advance(); });
    const std::thread::id driver_id = driver.get_id();
    begun.get_future().wait();
    static_cast<void>(service.stop());
    stopped.set_value();
    driver.join();
    EXPECT_EQ(went_on_at, driver_id);
}

}  // namespace
}  // namespace duewheel
