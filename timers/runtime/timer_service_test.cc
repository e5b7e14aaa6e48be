// TimerService with one thread that passes the time: when tasks run, what handles report, what is refused, and the
// effect of a stop, an error or a slow task. Threads are tested in timer_threads_test.cc, periods and the wall clock in
// timer_repeat_test.cc.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/timer_service_probe.h"
#include "shared/random.h"
#include <duewheel/embedded_timer.h>
#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

class TimerServiceTest : public testing::Test {
  protected:
    void pass(std::chrono::nanoseconds time) {
        clock.advance(time);
        service.advance();
    }
    Timeout note_after(std::chrono::nanoseconds delay, int number) {
        return service.schedule_after(delay, [this, number] { fired.push_back(number); }).value();
    }

    ManualClock clock;
    TimerService service{{}, clock};
    std::vector<int> fired;
};

using Numbers = std::vector<int>;

TEST_F(TimerServiceTest, shows_its_use) {
    const Timeout first = note_after(5ms, 1);
    note_after(7ms, 2);
    pass(4ms);
    EXPECT_EQ(fired, Numbers{});
    EXPECT_TRUE(first.is_pending());
    pass(1ms);
    EXPECT_EQ(fired, Numbers{1});
    EXPECT_TRUE(first.is_expired());
    pass(1h);
    EXPECT_EQ(fired, (Numbers{1, 2}));
    EXPECT_EQ(service.pending(), 0U);
}

// ---- time ----

TEST_F(TimerServiceTest, a_deadline_is_rounded_up_and_now_is_rounded_down) {
    // libuv #4773: a timer fired 0.99 ms early, because both were rounded down.
    clock.advance(900us);
    note_after(5ms, 1);  // due at 5.9 ms, so on tick 6
    pass(5ms);           // 5.9 ms is still tick 5
    EXPECT_EQ(fired, Numbers{});
    pass(99us);
    EXPECT_EQ(fired, Numbers{});
    pass(1us);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, an_exact_multiple_is_not_rounded_further) {
    // tokio #6866: a deadline on a tick was moved to the next one.
    note_after(5ms, 1);
    pass(5ms);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, zero_means_due_now) {
    clock.advance(300us);
    note_after(0ms, 1);
    note_after(-5ms, 2);
    EXPECT_LE(service.next_expiry(), clock.now());
    service.advance();
    EXPECT_EQ(fired, (Numbers{1, 2}));
}

TEST_F(TimerServiceTest, an_instant_that_has_passed_is_due_now) {
    // Unsigned delays underflowed in several libraries when the deadline was past.
    pass(1h);
    static_cast<void>(service.schedule_at(TimerInstant(1ms), [&] { fired.push_back(1); }));
    static_cast<void>(service.schedule_at(TimerInstant::min(), [&] { fired.push_back(2); }));
    service.advance();
    EXPECT_EQ(fired, (Numbers{1, 2}));
}

TEST_F(TimerServiceTest, a_delay_beyond_the_end_of_time_waits_for_ever) {
    pass(1h);
    const Timeout never = note_after(std::chrono::nanoseconds::max(), 1);
    EXPECT_EQ(service.next_expiry(), kNeverInstant);
    pass(std::chrono::hours(24 * 365 * 100));
    EXPECT_TRUE(never.is_pending());
    EXPECT_EQ(fired, Numbers{});
    EXPECT_EQ(never.remaining(), std::chrono::nanoseconds::max());
    EXPECT_EQ(service.stop().size(), 1U);
}

TEST_F(TimerServiceTest, time_that_goes_back_is_taken_for_no_time) {
    note_after(5ms, 1);
    service.advance(TimerInstant(10ms));
    EXPECT_EQ(fired, Numbers{1});
    static_cast<void>(service.schedule_at(TimerInstant(12ms), [&] { fired.push_back(2); }));
    service.advance(TimerInstant(3ms));
    EXPECT_EQ(fired, Numbers{1});
    service.advance(TimerInstant(12ms));
    EXPECT_EQ(fired, (Numbers{1, 2}));
}

TEST_F(TimerServiceTest, a_delay_counts_from_now_and_not_from_when_the_pass_began) {
    // Loops that cache the time of their turn fired early what was scheduled after a stall.
    static_cast<void>(service.schedule_after(1ms, [this] {
        clock.advance(1h);  // the task stalls
        note_after(10ms, 1);
    }));
    pass(1ms);
    service.advance();
    EXPECT_EQ(fired, Numbers{});
    EXPECT_EQ(service.next_expiry(), TimerInstant(1h + 11ms));
    pass(10ms);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, next_expiry_is_exact_and_forgets_what_is_cancelled) {
    EXPECT_EQ(service.next_expiry(), kNeverInstant);
    note_after(1h, 1);
    Timeout nearer = note_after(70ms, 2);
    EXPECT_EQ(service.next_expiry(), TimerInstant(70ms));
    nearer.cancel();
    EXPECT_EQ(service.next_expiry(), TimerInstant(1h));
}

TEST_F(TimerServiceTest, an_hour_in_one_step_fires_everything_in_order_of_ticks) {
    for (int number = 1000; number > 0; --number) note_after(number * 3ms, number);
    pass(1h);
    ASSERT_EQ(fired.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST_F(TimerServiceTest, ticks_may_be_of_any_length) {
    for (const std::chrono::nanoseconds tick : std::vector<std::chrono::nanoseconds>{1ns, 250us, 7ms, 1s}) {
        ManualClock other_clock;
        TimerService other({.tick = tick}, other_clock);
        other_clock.advance(3 * tick);
        bool has_fired = false;
        static_cast<void>(other.schedule_after(5 * tick, [&] { has_fired = true; }));
        other_clock.advance(5 * tick - 1ns);
        other.advance();
        EXPECT_FALSE(has_fired);
        other_clock.advance(1ns);
        other.advance();
        EXPECT_TRUE(has_fired);
    }
}

// ---- handles ----

TEST_F(TimerServiceTest, a_cancel_says_what_happened) {
    Timeout pending = note_after(5ms, 1);
    Timeout done = note_after(1ms, 2);
    pass(1ms);
    EXPECT_EQ(pending.cancel(), CancelOutcome::removed);
    EXPECT_EQ(pending.cancel(), CancelOutcome::already_done);
    EXPECT_EQ(done.cancel(), CancelOutcome::already_done);
    EXPECT_TRUE(pending.is_cancelled());
    EXPECT_FALSE(pending.is_expired());
    EXPECT_FALSE(done.is_cancelled());
    EXPECT_TRUE(done.is_expired());
    pass(1h);
    EXPECT_EQ(fired, Numbers{2});
    EXPECT_EQ(Timeout().cancel(), CancelOutcome::already_done);
}

TEST_F(TimerServiceTest, cancel_inside_its_own_task) {
    std::optional<CancelOutcome> outcome;
    std::optional<CancelOutcome> waited;
    Timeout timeout;
    timeout = service
                  .schedule_after(1ms,
                                  [&] {
                                      outcome = timeout.cancel();
                                      waited = timeout.cancel_and_wait();
                                      EXPECT_EQ(TimerService::current(), timeout);
                                  })
                  .value();
    pass(1ms);
    EXPECT_EQ(outcome, CancelOutcome::running_here);
    EXPECT_EQ(waited, CancelOutcome::running_here);
    EXPECT_TRUE(timeout.is_expired());
    EXPECT_FALSE(TimerService::current());
}

TEST_F(TimerServiceTest, cancel_of_a_peer_due_in_the_same_pass) {
    std::array<Timeout, 3> peers;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        peers[i] = service
                       .schedule_after(1ms,
                                       [&, i] {
                                           fired.push_back(static_cast<int>(i));
                                           for (std::size_t j = 0; j < peers.size(); ++j) {
                                               if (j == i) continue;
                                               EXPECT_EQ(peers[j].cancel(), CancelOutcome::removed);
                                           }
                                       })
                       .value();
    }
    pass(1ms);
    EXPECT_EQ(fired.size(), 1U);
    EXPECT_EQ(service.statistics().cancelled, 2U);
}

TEST_F(TimerServiceTest, a_timer_is_moved_earlier_and_later) {
    Timeout timeout = note_after(10ms, 1);
    EXPECT_EQ(timeout.remaining(), 10ms);
    EXPECT_TRUE(timeout.reschedule_after(20ms));
    pass(19ms);
    EXPECT_EQ(fired, Numbers{});
    EXPECT_EQ(timeout.remaining(), 1ms);
    EXPECT_TRUE(timeout.reschedule_at(TimerInstant(1h)));
    EXPECT_TRUE(timeout.reschedule_after(2ms));
    pass(2ms);
    EXPECT_EQ(fired, Numbers{1});
    EXPECT_FALSE(timeout.reschedule_after(1ms));
    EXPECT_EQ(timeout.remaining(), 0ms);
}

TEST_F(TimerServiceTest, nothing_remains_of_the_time_of_one_that_is_overdue) {
    const Timeout timeout = note_after(10ms, 1);
    clock.advance(1h);
    EXPECT_TRUE(timeout.is_pending()) << "nobody drives";
    EXPECT_EQ(timeout.remaining(), 0ns);
}

TEST_F(TimerServiceTest, dropping_the_handle_changes_nothing) {
    note_after(1ms, 1);
    pass(1ms);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, a_task_may_drop_its_own_last_handle) {
    Timeout timeout;
    timeout = service
                  .schedule_after(1ms,
                                  [&] {
                                      timeout = Timeout();
                                      fired.push_back(1);
                                  })
                  .value();
    pass(1ms);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, a_stale_handle_never_touches_the_next_timer) {
    // A node is used again at once; handles of other libraries then named the new timer (ABA).
    std::vector<Timeout> old;
    for (int i = 0; i < 200; ++i) old.push_back(note_after(1ms, -1));
    pass(1ms);
    const std::vector<Timeout> copies = old;
    old.clear();
    for (int i = 0; i < 200; ++i) old.push_back(note_after(1ms, i));
    for (Timeout copy : copies) EXPECT_EQ(copy.cancel(), CancelOutcome::already_done);
    fired.clear();
    pass(1ms);
    EXPECT_EQ(fired.size(), 200U);
}

TEST(TimerServiceLife, handles_outlive_their_service) {
    ManualClock clock;
    Timeout pending;
    Timeout expired;
    {
        TimerService service({}, clock);
        pending = service.schedule_after(5ms, [] {}).value();
        expired = service.schedule_after(0ms, [] {}).value();
        service.advance();
    }
    EXPECT_TRUE(pending.is_cancelled());
    EXPECT_TRUE(expired.is_expired());
    EXPECT_EQ(pending.cancel(), CancelOutcome::already_done);
    EXPECT_FALSE(pending.reschedule_after(1ms));
    EXPECT_EQ(pending.remaining(), 0ns);
}

// Trap: what lies in the mailbox when its service goes is leaked, or reached for afterwards.
TEST(TimerServiceLife, a_service_goes_with_what_lies_in_its_mailbox) {
    ManualClock clock;
    const auto held = std::make_shared<int>(7);
    Timeout armed;
    Timeout cancelled;
    Timeout moved;
    Timeout at_wall;
    EmbeddedTimer withdrawn;
    int ended = 0;
    {
        TimerService service({}, clock);
        EmbeddedTimer embedded;
        moved = service.schedule_after(5ms, [held] {}).value();
        cancelled = service.schedule_after(5ms, [held] {}).value();
        service.advance();
        std::thread([&] {
            armed = service.schedule_after(5ms, [held] {}).value();
            at_wall = service.schedule_at(clock.wall_now() + 1h, [held] {}).value();
            EXPECT_EQ(cancelled.cancel(), CancelOutcome::removed);
            EXPECT_TRUE(moved.reschedule_after(1h));
            EXPECT_EQ(embedded.arm_after(service, 5ms, [&ended, held] { ++ended; }), EmbeddedTimer::Arming::armed);
            EXPECT_EQ(withdrawn.arm_after(service, 5ms, [&ended, held] { ++ended; }), EmbeddedTimer::Arming::armed);
            EXPECT_TRUE(withdrawn.withdraw());
            EXPECT_EQ(withdrawn.arm_after(service, 5ms, [&ended, held] { ++ended; }), EmbeddedTimer::Arming::armed);
        }).join();
    }
    EXPECT_EQ(ended, 1) << "the one that was there when the service stopped; the other had gone before it";
    EXPECT_TRUE(withdrawn.stopped());
    for (const Timeout& timeout : {armed, cancelled, moved, at_wall}) EXPECT_TRUE(timeout.is_cancelled());
    EXPECT_EQ(held.use_count(), 1);
}

// Traps: re-insertion into the slot being drained; a budget that stops in the middle of it. The driver puts the baton
// down every thousand timers or so: many timers in a tick fire once each, though tasks cancel and arm their peers.
TEST_F(TimerServiceTest, many_timers_in_one_tick_fire_once_each) {
    constexpr int kCrowd = 5000;
    std::vector<Timeout> crowd(kCrowd);
    std::vector<int> runs(kCrowd);
    int removed = 0;
    int armed = 0;
    for (int i = 0; i < kCrowd; ++i) {
        const auto task = [&, i] {
            ++runs[static_cast<std::size_t>(i)];
            Timeout& peer = crowd[static_cast<std::size_t>(i * 7 % kCrowd)];
            if (i % 3 == 0) removed += peer.cancel() == CancelOutcome::removed;
            if (i % 5 == 0) static_cast<void>(service.schedule_at(TimerInstant(10ms), [&] { ++armed; }));
            if (i % 11 == 0) static_cast<void>(peer.reschedule_at(TimerInstant(10ms)));
        };
        crowd[static_cast<std::size_t>(i)] = service.schedule_after(10ms, task).value();
    }
    clock.advance(10ms);
    std::size_t fired_in_all = 0;
    for (int passes = 0; passes < 10; ++passes) {
        fired_in_all += service.advance();
        TimerServiceProbe::check_wheel(service);
    }
    EXPECT_EQ(static_cast<int>(std::count(runs.begin(), runs.end(), 1)), kCrowd - removed);
    EXPECT_EQ(static_cast<int>(std::count(runs.begin(), runs.end(), 0)), removed);
    EXPECT_GT(removed, 100);
    EXPECT_GT(armed, 100);
    EXPECT_EQ(fired_in_all, static_cast<std::size_t>(kCrowd - removed + armed));
    EXPECT_EQ(service.pending(), 0U);
}

// ---- tasks ----

TEST_F(TimerServiceTest, tasks_may_be_large_or_movable_only_and_are_destroyed_after_their_run) {
    const auto held = std::make_shared<int>(7);
    std::array<char, 500> large{};
    large[499] = 'x';
    int sum = 0;
    Timeout one = service.schedule_after(1ms, [held, large, &sum] { sum += large[499] == 'x' ? *held : 0; }).value();
    Timeout two = service.schedule_after(1ms, [own = std::make_unique<int>(5), held, &sum] { sum += *own; }).value();
    Timeout three = service.schedule_after(1h, [held] {}).value();
    EXPECT_EQ(held.use_count(), 4);
    pass(1ms);
    EXPECT_EQ(sum, 12);
    EXPECT_EQ(held.use_count(), 2) << "although the handles are still there";
    three.cancel();
    EXPECT_EQ(held.use_count(), 1);
}

TEST_F(TimerServiceTest, a_task_that_arms_itself_without_delay_lets_the_pass_end) {
    // libuv PR 4250: a repeat of zero made the loop turn for ever.
    int runs = 0;
    std::function<void()> again = [&] {
        ++runs;
        static_cast<void>(service.schedule_after(0ms, again));
    };
    for (int i = 0; i < 3000; ++i) again();
    service.advance();
    runs = 0;
    EXPECT_EQ(service.advance(), 3000U);
    EXPECT_EQ(runs, 3000);
    EXPECT_EQ(service.pending(), 3000U);
}

TEST_F(TimerServiceTest, advance_inside_a_task_does_nothing) {
    std::optional<std::size_t> inner;
    static_cast<void>(service.schedule_after(0ms, [&] {
        static_cast<void>(service.schedule_after(0ms, [&] { fired.push_back(1); }));
        inner = service.advance();
    }));
    EXPECT_EQ(service.advance(), 1U);
    EXPECT_EQ(inner, 0U);
    EXPECT_EQ(fired, Numbers{});
    EXPECT_EQ(service.advance(), 1U);
}

TEST(TimerServiceErrors, a_task_that_throws_disturbs_no_others) {
    // java.util.Timer ends with the first exception, and all later timers with it.
    ManualClock clock;
    std::vector<std::string> errors;
    TimerOptions options;
    options.on_error = [&](std::exception_ptr problem, const char* name) {
        try {
            std::rethrow_exception(problem);
        } catch (const std::exception& thrown) {
            errors.push_back(std::string(name == nullptr ? "?" : name) + ": " + thrown.what());
        }
    };
    TimerService service(options, clock);
    int fired = 0;
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(service.schedule_after(1ms, [&] { ++fired; }));
        static_cast<void>(service.schedule_after(1ms, named("sour", [] { throw std::runtime_error("grapes"); })));
    }
    clock.advance(1ms);
    EXPECT_EQ(service.advance(), 6U);
    EXPECT_EQ(fired, 3);
    EXPECT_EQ(errors, (std::vector<std::string>(3, "sour: grapes")));
    EXPECT_EQ(service.statistics().failed, 3U);
}

TEST_F(TimerServiceTest, slow_tasks_are_counted_and_named) {
    TimerService watched({.slow_task = 50ms}, clock);
    // One that takes as long is not slow, and one that takes longer is.
    for (const std::chrono::nanoseconds takes : {std::chrono::nanoseconds(50ms), 50ms + 1ns, 80ms + 0ns}) {
        static_cast<void>(watched.schedule_after(0ms, named("compact", [this, takes] { clock.advance(takes); })));
    }
    static_cast<void>(watched.schedule_after(0ms, [this] { clock.advance(70ms); }));
    watched.advance();
    const TimerStatistics found = watched.statistics();
    EXPECT_EQ(found.slow, 3U);
    ASSERT_EQ(found.slow_tasks.size(), 2U);
    EXPECT_STREQ(found.slow_tasks[0].name, "compact");
    EXPECT_EQ(found.slow_tasks[0].count, 2U);
    EXPECT_EQ(found.slow_tasks[0].longest, 80ms);
    EXPECT_STREQ(found.slow_tasks[1].name, "(unnamed)");
}

TEST_F(TimerServiceTest, submit_gives_a_future) {
    std::future<int> value = service.submit_after(1ms, [] { return 42; }).value();
    std::future<void> nothing = service.submit_after(1ms, [] {}).value();
    std::future<int> thrown = service.submit_after(1ms, []() -> int { throw std::runtime_error("no"); }).value();
    std::future<int> stopped = service.submit_after(1h, [] { return 1; }).value();
    pass(1ms);
    EXPECT_EQ(value.get(), 42);
    nothing.get();
    EXPECT_THROW(thrown.get(), std::runtime_error);
    EXPECT_EQ(service.statistics().failed, 0U) << "the exception is the future's";
    service.stop();
    EXPECT_THROW(stopped.get(), std::future_error);
}

// ---- refusals and the end ----

TEST_F(TimerServiceTest, more_than_max_pending_are_refused) {
    TimerService small({.max_pending = 2}, clock);
    Timeout first = small.schedule_after(1ms, [] {}).value();
    static_cast<void>(small.schedule_after(2ms, [] {}));
    const Result<Timeout> third = small.schedule_after(3ms, [] {});
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, ErrorCode::timers_full);
    EXPECT_NE(third.error().message.find("2 timers"), std::string::npos);
    first.cancel();
    EXPECT_TRUE(small.schedule_after(3ms, [] {})) << "a cancelled one has left";
    EXPECT_FALSE(small.schedule_after(3ms, [] {}));
    clock.advance(2ms);
    small.advance();
    EXPECT_TRUE(small.schedule_after(3ms, [] {})) << "so has one that fired";
    EXPECT_EQ(small.schedule_at_fixed_rate(1ms, 1ms, [] {}).error().code, ErrorCode::timers_full);
}

TEST_F(TimerServiceTest, stop_returns_what_was_pending) {
    const auto held = std::make_shared<int>();
    const Timeout done = note_after(1ms, 1);
    pass(1ms);
    const Timeout pending = service.schedule_after(1ms, [held] {}).value();
    const Timeout periodic = service.schedule_at_fixed_rate(1ms, 1ms, [held] {}).value();
    const std::vector<Timeout> unprocessed = service.stop();
    ASSERT_EQ(unprocessed.size(), 2U);
    EXPECT_TRUE(unprocessed[0] == pending || unprocessed[1] == pending);
    EXPECT_TRUE(pending.is_cancelled());
    EXPECT_TRUE(periodic.is_cancelled());
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_TRUE(service.stopped());
    EXPECT_EQ(service.stop().size(), 0U);
    EXPECT_EQ(service.schedule_after(1ms, [] {}).error().code, ErrorCode::timers_stopped);
    EXPECT_EQ(service.submit_after(1ms, [] {}).error().code, ErrorCode::timers_stopped);
    pass(1h);
    EXPECT_EQ(fired, Numbers{1});
}

TEST_F(TimerServiceTest, stop_inside_a_task) {
    std::size_t unprocessed = 0;
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(service.schedule_after(1ms, [&] {
            fired.push_back(1);
            unprocessed = service.stop().size();
            EXPECT_EQ(service.schedule_after(1ms, [] {}).error().code, ErrorCode::timers_stopped);
        }));
    }
    note_after(1h, 2);
    pass(1ms);
    EXPECT_EQ(fired, Numbers{1});
    EXPECT_EQ(unprocessed, 3U);
    EXPECT_EQ(service.pending(), 0U);
}

// ---- figures ----

TEST_F(TimerServiceTest, figures_tell_what_happened) {
    for (int delay = 1; delay <= 8; ++delay) note_after(delay * 1ms, delay);
    note_after(1h, 9).cancel();
    clock.advance(5ms);
    EXPECT_EQ(service.statistics().overdue, 4ms) << "the oldest was due at 1 ms";
    service.advance();
    const TimerStatistics found = service.statistics();
    EXPECT_EQ(found.pending, 3U);
    EXPECT_EQ(found.fired, 5U);
    EXPECT_EQ(found.cancelled, 1U);
    EXPECT_EQ(found.overdue, 0ms);
    EXPECT_EQ(found.lateness_ticks[0], 1U);  // on its tick
    EXPECT_EQ(found.lateness_ticks[1], 1U);  // 1 tick late
    EXPECT_EQ(found.lateness_ticks[2], 2U);  // 2 and 3
    EXPECT_EQ(found.lateness_ticks[3], 1U);  // 4
}

TEST_F(TimerServiceTest, what_is_due_at_once_is_not_late) {
    // It was filed on the first tick of all, and its lateness was the age of the clock.
    clock.advance(1h);
    note_after(0ms, 1);
    note_after(-1h, 2);
    static_cast<void>(service.schedule_at(TimerInstant::min(), [this] { fired.push_back(3); }));
    EmbeddedTimer moved;
    moved.arm_after(service, 1h, [this] { fired.push_back(4); });
    moved.fire_now();
    clock.advance(1ms);
    EXPECT_EQ(service.statistics().overdue, 1ms);
    service.advance();
    EXPECT_EQ(fired.size(), 4U);
    EXPECT_EQ(service.statistics().lateness_ticks[1], 4U) << "1 tick late";
}

// ---- random histories against a plain map ----

TEST(TimerServiceModel, random_histories_are_those_of_a_map) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(seed);
        ManualClock clock;
        TimerService service({}, clock);
        std::map<int, std::pair<TimerInstant, Timeout>> model;
        std::vector<Timeout> copies(100);  // a cancel goes another way when its handle is not the only one
        std::vector<int> fired;
        int next = 0;
        for (int step = 0; step < 3000; ++step) {
            const std::uint64_t choice = random.below(10);
            const auto delay = std::chrono::milliseconds(random.below(random.below(2) == 0 ? 20 : 100'000));
            if (choice < 4 || model.empty()) {
                const int id = next++;
                const Timeout timeout = service.schedule_after(delay, [&fired, id] { fired.push_back(id); }).value();
                model[id] = {clock.now() + delay, timeout};
                if (random.below(2) == 0) copies[random.below(copies.size())] = timeout;
            } else if (choice < 7) {
                auto chosen = std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
                if (choice < 6) {
                    EXPECT_EQ(chosen->second.second.cancel(), CancelOutcome::removed);
                    model.erase(chosen);
                } else {
                    EXPECT_TRUE(chosen->second.second.reschedule_after(delay));
                    chosen->second.first = clock.now() + delay;
                }
            } else {
                clock.advance(delay / 10);
                fired.clear();
                service.advance();
                std::vector<int> expected;
                for (const auto& [id, timer] : model) {
                    if (timer.first <= clock.now()) expected.push_back(id);
                }
                std::sort(fired.begin(), fired.end());
                EXPECT_EQ(fired, expected);
                for (const int id : expected) model.erase(id);
            }
            EXPECT_EQ(service.pending(), model.size());
            if (random.below(64) == 0) TimerServiceProbe::check_wheel(service);
        }
    }
}

}  // namespace
}  // namespace duewheel
