// Coroutines on timers: sleeps, intervals, time limits, stop tokens, and that none of them allocates beyond the frame.
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/counted_allocations.h"
#include <duewheel/coroutine.h>
#include <duewheel/manual_clock.h>
#include <duewheel/task.h>
#include <duewheel/task_pool.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

class CoroutineTest : public testing::Test {
  protected:
    void pass(std::chrono::nanoseconds time) {
        clock.advance(time);
        while (service.advance() > 0) {
        }
    }

    ManualClock clock;
    TimerService service{{}, clock};
    std::vector<SleepEnd> ends;
};

using Ends = std::vector<SleepEnd>;

Task<void> note_sleep(TimerService& service, std::chrono::nanoseconds delay, Ends& ends, std::stop_token token = {}) {
    ends.push_back(co_await sleep_for(service, delay, token));
}

TEST_F(CoroutineTest, sleeps_for_a_time) {
    start(note_sleep(service, 5ms, ends));
    pass(4ms);
    EXPECT_EQ(ends, Ends{});
    pass(1ms);
    EXPECT_EQ(ends, Ends{SleepEnd::elapsed});
}

TEST_F(CoroutineTest, a_sleep_of_nothing_lets_others_have_their_turn) {
    start(note_sleep(service, 0ms, ends));
    EXPECT_EQ(ends, Ends{});
    pass(0ms);
    EXPECT_EQ(ends, Ends{SleepEnd::elapsed});
}

TEST_F(CoroutineTest, a_task_gives_its_value_or_what_it_threw) {
    std::vector<std::string> seen;
    const auto add = [](TimerService& timers, int a, int b) -> Task<int> {
        co_await sleep_for(timers, 1ms);
        if (b == 0) throw std::runtime_error("nothing to add");
        co_return a + b;
    };
    const auto ask = [&](TimerService& timers) -> Task<void> {
        seen.push_back(std::to_string(co_await add(timers, 1, 2)));
        try {
            co_await add(timers, 1, 0);
        } catch (const std::exception& thrown) {
            seen.push_back(thrown.what());
        }
    };
    start(ask(service));
    pass(1ms);
    pass(1ms);
    EXPECT_EQ(seen, (std::vector<std::string>{"3", "nothing to add"}));
}

TEST_F(CoroutineTest, an_interval_keeps_to_its_grid) {
    std::vector<TimerInstant> beats;
    const auto beat = [&](TimerService& timers) -> Task<void> {
        Interval every(timers, 10ms);
        while (co_await every.next() == SleepEnd::elapsed) beats.push_back(timers.clock().now());
    };
    start(beat(service));
    for (int i = 0; i < 3; ++i) pass(10ms);
    clock.advance(25ms);
    pass(0ms);
    const auto at = [](int ms) { return TimerInstant(ms * 1ms); };
    EXPECT_EQ(beats, (std::vector<TimerInstant>{at(10), at(20), at(30), at(55), at(55)}));
    service.stop();
}

TEST_F(CoroutineTest, an_interval_beyond_the_end_of_time_waits_for_ever) {
    // The sum of now and the period overflowed, and every beat was due at once.
    clock.advance(1s);
    int beats = 0;
    const auto beat = [&](TimerService& timers) -> Task<void> {
        Interval every(timers, std::chrono::nanoseconds::max());
        while (beats < 5 && co_await every.next() == SleepEnd::elapsed) ++beats;
    };
    start(beat(service));
    for (int i = 0; i < 10; ++i) pass(1s);
    EXPECT_EQ(beats, 0);
    service.stop();
}

TEST_F(CoroutineTest, an_interval_skips_or_delays_what_it_missed) {
    for (const MissedPeriods missed : {MissedPeriods::skip, MissedPeriods::delay}) {
        std::vector<std::chrono::nanoseconds> beats;
        const TimerInstant begin = clock.now();
        TimerService timers({}, clock);
        const auto beat = [&]() -> Task<void> {
            Interval every(timers, 10ms, missed);
            while (co_await every.next() == SleepEnd::elapsed) {
                beats.push_back(clock.now() - begin);
                if (beats.size() == 1) clock.advance(25ms);
            }
        };
        start(beat());
        for (int i = 0; i < 100; ++i) {
            clock.advance(1ms);
            timers.advance();
        }
        ASSERT_GE(beats.size(), 4U);
        EXPECT_EQ(beats[0], 10ms);
        EXPECT_EQ(beats[1], 36ms) << "at once, one pass later";
        EXPECT_EQ(beats[2], missed == MissedPeriods::skip ? 40ms : 45ms);
        EXPECT_EQ(beats[3], missed == MissedPeriods::skip ? 50ms : 55ms);
        timers.stop();
    }
}

constexpr TimerInstant at(std::chrono::milliseconds since) {
    return TimerInstant(since);
}

TEST_F(CoroutineTest, an_interval_starts_as_set) {
    std::vector<TimerInstant> nominal;
    Interval every(service, at(3ms), 10ms);
    const auto beat = [&]() -> Task<void> {
        while (co_await every.next() == SleepEnd::elapsed) nominal.push_back(every.nominal());
    };
    start(beat());
    pass(3ms);
    clock.advance(25ms);
    pass(0ms);
    EXPECT_EQ(nominal, (std::vector<TimerInstant>{at(3ms), at(13ms), at(23ms)}))
        << "as they were due, not as they came";
    std::vector<TimerInstant> late;
    Interval from_the_past(service, at(8ms), 10ms, MissedPeriods::skip);
    const auto late_beat = [&]() -> Task<void> {
        while (co_await from_the_past.next() == SleepEnd::elapsed) late.push_back(from_the_past.nominal());
    };
    start(late_beat());
    pass(0ms);
    pass(10ms);
    EXPECT_EQ(late, (std::vector<TimerInstant>{at(8ms), at(38ms)})) << "at once at 28, and on its grid";
    service.stop();
}

TEST_F(CoroutineTest, an_interval_is_reset_to_a_new_grid) {
    std::vector<TimerInstant> beats;
    Interval every(service, 10ms);
    const auto beat = [&]() -> Task<void> {
        while (co_await every.next() == SleepEnd::elapsed) {
            beats.push_back(service.clock().now());
            if (beats.size() == 1) {
                clock.advance(4ms);
                every.reset();
            }
            if (beats.size() == 2) every.reset_after(3ms);
            if (beats.size() == 3) every.reset_at(at(30ms));
        }
    };
    start(beat());
    for (int i = 0; i < 45; ++i) pass(1ms);
    EXPECT_EQ(beats, (std::vector<TimerInstant>{at(10ms), at(24ms), at(27ms), at(30ms), at(40ms)}));
    service.stop();
}

TEST_F(CoroutineTest, an_abandoned_beat_is_still_the_next_one) {
    std::stop_source source;
    const std::stop_token token = source.get_token();
    Interval every(service, 10ms);
    const auto give_up = [&]() -> Task<void> { ends.push_back(co_await every.next(token)); };
    const auto go_on = [&]() -> Task<void> { ends.push_back(co_await every.next()); };
    start(give_up());
    pass(5ms);
    source.request_stop();
    pass(0ms);
    EXPECT_EQ(ends, Ends{SleepEnd::cancelled});
    start(go_on());
    pass(5ms);
    EXPECT_EQ(ends, (Ends{SleepEnd::cancelled, SleepEnd::elapsed}));
    EXPECT_EQ(every.nominal(), at(10ms));
    service.stop();
}

TEST_F(CoroutineTest, a_sleep_is_moved_while_it_is_awaited) {
    Sleep idle = sleep_for(service, 10ms);
    std::vector<TimerInstant> ended;
    const auto wait = [&]() -> Task<void> {
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(co_await idle, SleepEnd::elapsed);
            ended.push_back(service.clock().now());
        }
    };
    EXPECT_FALSE(idle.reset_after(20ms)) << "nobody waits yet";
    start(wait());
    pass(15ms);
    EXPECT_TRUE(idle.reset_after(20ms));
    pass(15ms);
    EXPECT_TRUE(idle.reset_at(at(32ms))) << "and earlier";
    pass(2ms);  // the second wait begins with a deadline that has passed
    EXPECT_EQ(ended, (std::vector<TimerInstant>{at(32ms), at(32ms)}));
    EXPECT_FALSE(idle.reset_after(5ms));
    start(wait());
    pass(5ms);
    EXPECT_EQ(ended.size(), 4U) << "awaited again after it had ended";
    EXPECT_EQ(ended.back(), at(37ms));
}

TEST_F(CoroutineTest, a_sleep_that_is_cancelled_is_not_put_off) {
    std::stop_source source;
    Sleep idle = sleep_for(service, 10ms, source.get_token());
    const auto wait = [&]() -> Task<void> { ends.push_back(co_await idle); };
    start(wait());
    source.request_stop();
    EXPECT_TRUE(idle.reset_after(1h));
    pass(0ms);
    EXPECT_EQ(ends, Ends{SleepEnd::cancelled});
}

TEST_F(CoroutineTest, a_stop_token_ends_a_sleep) {
    std::stop_source source;
    start(note_sleep(service, 1h, ends, source.get_token()));
    source.request_stop();
    EXPECT_EQ(ends, Ends{}) << "it goes on where timers run";
    pass(0ms);
    EXPECT_EQ(ends, Ends{SleepEnd::cancelled});
    start(note_sleep(service, 1h, ends, source.get_token()));
    EXPECT_EQ(ends, (Ends{SleepEnd::cancelled, SleepEnd::cancelled})) << "it did not even begin";
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(CoroutineTest, a_stop_token_that_comes_too_late_changes_nothing) {
    std::stop_source source;
    start(note_sleep(service, 1ms, ends, source.get_token()));
    pass(1ms);
    source.request_stop();
    pass(0ms);
    EXPECT_EQ(ends, Ends{SleepEnd::elapsed});
}

TEST_F(CoroutineTest, stop_resumes_all_that_sleep) {
    start(note_sleep(service, 1h, ends));
    start(note_sleep(service, 2h, ends));
    EXPECT_EQ(service.stop().size(), 0U) << "coroutines are no callbacks that were not run";
    EXPECT_EQ(ends, (Ends{SleepEnd::stopped, SleepEnd::stopped}));
    start(note_sleep(service, 1h, ends));
    EXPECT_EQ(ends.size(), 3U);
    EXPECT_EQ(ends.back(), SleepEnd::stopped);
}

TEST_F(CoroutineTest, a_full_service_is_reported) {
    TimerService small({.max_pending = 1}, clock);
    start(note_sleep(small, 1h, ends));
    start(note_sleep(small, 1h, ends));
    EXPECT_EQ(ends, Ends{SleepEnd::full});
    small.stop();
}

TEST_F(CoroutineTest, a_coroutine_that_sleeps_may_be_destroyed) {
    for (const bool driven : {false, true}) {  // from the mailbox, and from the wheel
        {
            std::optional<Task<void>> sleeper(note_sleep(service, 1h, ends));
            sleeper->await_suspend(std::noop_coroutine()).resume();
            if (driven) service.advance();
            EXPECT_EQ(service.pending(), 1U);
            sleeper.reset();
        }
        EXPECT_EQ(service.pending(), 0U);
    }
    pass(2h);
    EXPECT_EQ(ends, Ends{});
}

// ---- time limits ----

struct Ready {
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) const {}
    int await_resume() const { return 7; }
};

Task<int> work_for(TimerService& service, std::chrono::nanoseconds takes) {
    co_await sleep_for(service, takes);
    co_return 42;
}

Task<void> limit(TimerService& service, std::chrono::nanoseconds takes, std::vector<std::optional<int>>& found) {
    found.push_back(co_await with_timeout(service, 10ms, work_for(service, takes)));
}

TEST_F(CoroutineTest, work_in_time_gives_its_value) {
    std::vector<std::optional<int>> found;
    start(limit(service, 9ms, found));
    pass(9ms);
    EXPECT_EQ(found, (std::vector<std::optional<int>>{42}));
    EXPECT_EQ(service.pending(), 0U) << "its time limit has gone";
}

TEST_F(CoroutineTest, work_that_takes_too_long_is_given_up) {
    std::vector<std::optional<int>> found;
    start(limit(service, 11ms, found));
    pass(10ms);
    EXPECT_EQ(found, (std::vector<std::optional<int>>{std::nullopt}));
    EXPECT_EQ(service.pending(), 0U) << "and what it waited for has gone, too";
    pass(1h);
    EXPECT_EQ(found.size(), 1U);
}

TEST_F(CoroutineTest, one_deadline_for_several_pieces_of_work) {
    std::vector<std::optional<int>> found;
    const auto ask = [&]() -> Task<void> {
        for (int i = 0; i < 3; ++i) found.push_back(co_await timeout_at(service, at(10ms), work_for(service, 4ms)));
    };
    start(ask());
    for (int i = 0; i < 10; ++i) pass(1ms);
    EXPECT_EQ(found, (std::vector<std::optional<int>>{42, 42, std::nullopt}));
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(CoroutineTest, ready_work_costs_no_timer) {
    std::optional<int> found;
    const auto ask = [&]() -> Task<void> { found = co_await with_timeout(service, 10ms, Ready{}); };
    start(ask());
    EXPECT_EQ(found, 7);
    EXPECT_EQ(service.statistics().cancelled, 0U);
}

TEST_F(CoroutineTest, a_sleep_has_a_time_limit_like_any_work) {
    std::vector<Limited<SleepEnd>> found;
    const auto ask = [&](std::chrono::nanoseconds takes) -> Task<void> {
        found.push_back(co_await with_timeout(service, 10ms, sleep_for(service, takes)));
    };
    start(ask(1h));
    start(ask(1ms));
    pass(1ms);
    pass(9ms);
    EXPECT_EQ(found, (std::vector<Limited<SleepEnd>>{SleepEnd::elapsed, std::nullopt}));
}

TEST_F(CoroutineTest, work_without_a_value_says_whether_it_was_done) {
    std::vector<bool> found;
    const auto wait = [&](std::chrono::nanoseconds takes) -> Task<void> { co_await sleep_for(service, takes); };
    const auto ask = [&](std::chrono::nanoseconds takes) -> Task<void> {
        found.push_back(co_await with_timeout(service, 10ms, wait(takes)));
    };
    start(ask(1ms));
    start(ask(1h));
    pass(1ms);
    pass(9ms);
    EXPECT_EQ(found, (std::vector<bool>{true, false}));
}

TEST_F(CoroutineTest, a_time_limit_without_capacity_has_expired) {
    TimerService small({.max_pending = 1}, clock);
    const Timeout place = small.schedule_after(1h, [] {}).value();
    std::vector<std::optional<int>> found;
    start([](TimerService& full, TimerService& works, std::vector<std::optional<int>>& seen) -> Task<void> {
        seen.push_back(co_await with_timeout(full, 10ms, work_for(works, 1h)));
    }(small, service, found));
    EXPECT_EQ(found, (std::vector<std::optional<int>>{std::nullopt})) << "at once, and not never";
}

// Is done as it is begun, and its time limit comes before it says that it waits.
struct DoneAsTimePasses {
    ManualClock& clock;
    TimerService& service;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        waiter.resume();
        clock.advance(1h);
        service.advance();
    }
    int await_resume() const { return 7; }
};

TEST_F(CoroutineTest, work_done_before_its_time_limit_counts_even_if_both_are_noticed_together) {
    std::optional<int> found;
    const auto ask = [&]() -> Task<void> {
        found = co_await with_timeout(service, 10ms, DoneAsTimePasses{clock, service});
    };
    start(ask());
    EXPECT_EQ(found, 7);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(CoroutineTest, a_time_limit_of_a_stopped_service_is_over) {
    std::vector<std::optional<int>> found;
    start(limit(service, 5ms, found));
    service.stop();
    EXPECT_EQ(found.size(), 1U);
}

// ---- no allocation ----

TEST_F(CoroutineTest, nothing_is_allocated_but_frames) {
    std::size_t in_sleep = 0;
    std::size_t in_limit = 0;
    std::stop_source source;
    const auto ask = [&](std::stop_token token) -> Task<void> {
        std::size_t before = allocations_so_far();
        co_await sleep_for(service, 1ms, token);
        in_sleep = allocations_so_far() - before;
        before = allocations_so_far();
        co_await with_timeout(service, 10ms, sleep_for(service, 1ms));
        in_limit = allocations_so_far() - before;
    };
    start(ask(source.get_token()));
    // Time goes on without the clock's own bookkeeping.
    service.advance(TimerInstant(1ms));
    clock.advance(1ms);
    service.advance(TimerInstant(20ms));
    EXPECT_EQ(in_sleep, 0U);
    EXPECT_EQ(in_limit, 0U);
}

TEST_F(CoroutineTest, callbacks_allocate_nothing_once_there_are_nodes) {
    for (int i = 0; i < 200; ++i) static_cast<void>(service.schedule_after(1ms, [] {}));
    pass(1ms);
    const std::size_t before = allocations_so_far();
    int fired = 0;
    for (int i = 0; i < 200; ++i) {
        Timeout timeout =
            service.schedule_after(1ms, [&fired, a = 1L, b = 2L, c = 3L] { fired += a + b + c > 0; }).value();
        if (i % 2 == 0) timeout.cancel();
    }
    service.advance(clock.now() + 1ms);
    EXPECT_EQ(allocations_so_far() - before, 0U);
    EXPECT_EQ(fired, 100);
}

// ---- threads ----

TEST(CoroutineThreads, sleeps_run_on_the_drivers_thread_beside_an_executor) {
    TaskPool pool(2);
    TimerService service({.executor = pool.executor()});
    TimerThread thread(service);
    std::promise<int> sum;
    const auto ask = [&]() -> Task<void> {
        int all = 0;
        for (int i = 0; i < 20; ++i) {
            co_await sleep_for(service, 100us);
            all += co_await with_timeout(service, 10s, work_for(service, 100us)) == 42;
        }
        sum.set_value(all);
    };
    start(ask());
    EXPECT_EQ(sum.get_future().get(), 20);
}

TEST(CoroutineThreads, stop_tokens_race_the_timer) {
    TimerService service;
    TimerThread thread(service);
    int elapsed = 0;
    int cancelled = 0;
    for (int round = 0; round < 2000; ++round) {
        std::stop_source source;
        std::promise<SleepEnd> end;
        const auto doze = [](TimerService& timers, std::stop_token token, std::promise<SleepEnd>& told) -> Task<void> {
            const SleepEnd found = co_await sleep_for(timers, 0us, token);
            told.set_value(found);
        };
        start(doze(service, source.get_token(), end));
        source.request_stop();
        const SleepEnd found = end.get_future().get();
        elapsed += found == SleepEnd::elapsed;
        cancelled += found == SleepEnd::cancelled;
    }
    EXPECT_EQ(elapsed + cancelled, 2000);
}

}  // namespace
}  // namespace duewheel
