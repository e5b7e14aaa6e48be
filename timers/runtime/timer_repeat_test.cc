// Periodic timers: when each run takes place, and the effect of late runs.
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using Moments = std::vector<std::chrono::milliseconds>;

class TimerRepeatTest : public testing::Test {
  protected:
    std::chrono::milliseconds now() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now().time_since_epoch());
    }
    // Goes from expiry to expiry, as a driver that sleeps does.
    void run_until(std::chrono::nanoseconds end) {
        while (service.next_expiry() <= TimerInstant(end)) {
            if (service.next_expiry() > clock.now()) clock.advance_to(service.next_expiry());
            service.advance();
        }
        clock.advance_to(TimerInstant(end));
        service.advance();
    }
    TimerTask note() {
        return [this] { runs.push_back(now()); };
    }
    // The driver comes to it only at `moment`.
    void come_late(std::chrono::nanoseconds moment) {
        clock.advance_to(TimerInstant(moment));
        service.advance();
    }

    ManualClock clock;
    TimerService service{{}, clock};
    Moments runs;
};

TEST_F(TimerRepeatTest, delay_of_a_second_and_a_period_of_two) {
    const Timeout timeout = service.schedule_at_fixed_rate(1s, 2s, note()).value();
    run_until(8s);
    EXPECT_EQ(runs, (Moments{1000ms, 3000ms, 5000ms, 7000ms}));
    EXPECT_TRUE(timeout.is_pending());
    EXPECT_EQ(service.pending(), 1U);
}

TEST_F(TimerRepeatTest, a_fixed_rate_counts_from_the_nominal_start_and_a_fixed_delay_from_the_end) {
    // A task of 3 s with a period of 2 s: the rate never drifts from its grid and runs without a break.
    Moments rate;
    Moments delay;
    static_cast<void>(service.schedule_at_fixed_rate(0s, 2s, [&] {
        rate.push_back(now());
        clock.advance(3s);
    }));
    while (rate.size() < 3) service.advance();
    service.stop();
    EXPECT_EQ(rate, (Moments{0ms, 3000ms, 6000ms}));

    ManualClock other_clock;
    TimerService other({}, other_clock);
    const auto other_now = [&] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(other_clock.now().time_since_epoch());
    };
    static_cast<void>(other.schedule_with_fixed_delay(0s, 2s, [&] {
        delay.push_back(other_now());
        other_clock.advance(3s);
    }));
    while (delay.size() < 3) {
        if (other.next_expiry() > other_clock.now()) other_clock.advance_to(other.next_expiry());
        other.advance();
    }
    EXPECT_EQ(delay, (Moments{0ms, 5000ms, 10000ms}));
}

TEST_F(TimerRepeatTest, missed_periods_come_in_a_burst) {
    static_cast<void>(service.schedule_at_fixed_rate(1s, 1s, note(), MissedPeriods::burst));
    come_late(3500ms);
    run_until(4s);
    EXPECT_EQ(runs, (Moments{3500ms, 3500ms, 3500ms, 4000ms}));
}

TEST_F(TimerRepeatTest, missed_periods_are_skipped) {
    static_cast<void>(service.schedule_at_fixed_rate(1s, 1s, note(), MissedPeriods::skip));
    come_late(3500ms);
    run_until(5s);
    EXPECT_EQ(runs, (Moments{3500ms, 4000ms, 5000ms}));
}

TEST_F(TimerRepeatTest, missed_periods_delay_the_grid) {
    static_cast<void>(service.schedule_at_fixed_rate(1s, 1s, note(), MissedPeriods::delay));
    come_late(3500ms);
    run_until(5500ms);
    EXPECT_EQ(runs, (Moments{3500ms, 4500ms, 5500ms}));
}

// A new grid begins where the late run began, not where it ended: this was not tested with a slow task.
TEST_F(TimerRepeatTest, the_new_grid_begins_with_the_start_of_the_late_run) {
    static_cast<void>(service.schedule_at_fixed_rate(
        1s, 1s,
        [this] {
            runs.push_back(now());
            if (runs.size() == 1) clock.advance(300ms);
        },
        MissedPeriods::delay));
    come_late(3500ms);
    run_until(5500ms);
    EXPECT_EQ(runs, (Moments{3500ms, 4500ms, 5500ms}));
}

// A run that comes as late as a whole period ends on an instant of the grid. That instant is among the missed ones, as
// after two periods or three; the edge was not tested.
TEST_F(TimerRepeatTest, a_run_that_is_late_by_whole_periods_is_also_that_of_the_present_instant) {
    for (const MissedPeriods missed : {MissedPeriods::skip, MissedPeriods::delay}) {
        for (const auto late : {1s, 2s, 3s}) {
            ManualClock own;
            TimerService other({}, own);
            int ran = 0;
            static_cast<void>(other.schedule_at_fixed_rate(
                1s, 1s, [&] { ++ran; }, missed));
            own.advance(1s + late);
            other.advance();
            other.advance();
            EXPECT_EQ(ran, 1) << late.count();
            EXPECT_EQ(other.next_expiry(), own.now() + 1s) << late.count();
        }
    }
}

TEST_F(TimerRepeatTest, one_of_two_throws_and_both_go_on) {
    TimerService other({.on_error = [](std::exception_ptr, const char*) {}}, clock);
    int good = 0;
    int bad = 0;
    static_cast<void>(other.schedule_at_fixed_rate(1s, 2s, [&] { ++good; }));
    static_cast<void>(other.schedule_at_fixed_rate(1s, 2s, [&] {
        ++bad;
        throw 1;
    }));
    for (int second = 1; second <= 6; ++second) {
        clock.advance(1s);
        other.advance();
    }
    EXPECT_EQ(good, 3);
    EXPECT_EQ(bad, 3);
    EXPECT_EQ(other.statistics().failed, 3U);
}

TEST_F(TimerRepeatTest, a_periodic_timer_ends_with_its_cancel) {
    Timeout outside = service.schedule_at_fixed_rate(1s, 1s, note()).value();
    run_until(2s);
    EXPECT_EQ(outside.cancel(), CancelOutcome::removed);
    EXPECT_TRUE(outside.is_cancelled());
    // In the gap between the run and the next arming, others lost the cancel.
    Timeout inside;
    inside = service
                 .schedule_at_fixed_rate(1s, 1s,
                                         [&] {
                                             runs.push_back(now());
                                             if (runs.size() < 4) return;
                                             EXPECT_EQ(inside.cancel(), CancelOutcome::running_here);
                                         })
                 .value();
    run_until(10s);
    EXPECT_EQ(runs, (Moments{1000ms, 2000ms, 3000ms, 4000ms}));
    EXPECT_TRUE(inside.is_cancelled());
    EXPECT_FALSE(inside.is_expired());
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(TimerRepeatTest, a_periodic_timer_keeps_its_place_among_max_pending) {
    TimerService small({.max_pending = 1}, clock);
    Timeout periodic =
        small
            .schedule_at_fixed_rate(
                1s, 1s, [&] { EXPECT_EQ(small.schedule_after(1s, [] {}).error().code, ErrorCode::timers_full); })
            .value();
    for (int i = 0; i < 3; ++i) {
        clock.advance(1s);
        EXPECT_EQ(small.advance(), 1U);
    }
    periodic.cancel();
    EXPECT_TRUE(small.schedule_after(1s, [] {}));
}

// A timer that keeps its place of max_pending as it ends is noticed much later, by a service that is full of nothing.
// Each way to end, on the driver and elsewhere, gives it back at a place of its own.
TEST(TimerRepeatPlaces, one_that_ends_gives_its_place_back_however_and_wherever_it_does) {
    const auto end_itself = [] { EXPECT_EQ(TimerService::current().cancel(), CancelOutcome::running_here); };
    const Instant begin{std::chrono::sys_days{std::chrono::May / 4 / 2026}};
    const std::vector<std::function<Result<Timeout>(TimerService&)>> ways = {
        [&](TimerService& service) { return service.schedule_at_fixed_rate(1h, 1h, end_itself); },
        [&](TimerService& service) { return service.schedule_with_fixed_delay(1h, 1h, end_itself); },
        [&](TimerService& service) { return service.schedule_at(begin + 1h, [] {}); },
        [&](TimerService& service) {
            return service.schedule_cron(CronSchedule(*CronRule::parse("0 0 1 4 5 ? 2026"), Zone::utc()), [] {});
        },
        [&](TimerService& service) {
            return service.schedule_cron(CronSchedule(*CronRule::parse("@hourly"), Zone::utc()), end_itself);
        },
    };
    for (const bool on_driver : {true, false}) {
        for (std::size_t way = 0; way < ways.size(); ++way) {
            ManualClock clock(begin);
            std::vector<TimerTask> held;
            TimerOptions options{.max_pending = 1};
            if (!on_driver) options.executor = [&](TimerTask task) { held.push_back(std::move(task)); };
            TimerService service(options, clock);
            ASSERT_TRUE(ways[way](service).ok());
            clock.advance(1h);
            EXPECT_EQ(service.advance(), 1U);
            for (TimerTask& task : held) std::thread([&] { task(); }).join();
            EXPECT_EQ(service.pending(), 0U);
            EXPECT_TRUE(service.schedule_after(1h, [] {}).ok()) << "way " << way << " on the driver: " << on_driver;
            EXPECT_FALSE(service.schedule_after(1h, [] {}).ok()) << "one place, and not two";
        }
    }
}

TEST_F(TimerRepeatTest, a_periodic_timer_is_rescheduled_and_goes_on_from_there) {
    Timeout rate = service.schedule_at_fixed_rate(1s, 1s, note()).value();
    EXPECT_TRUE(rate.reschedule_after(2500ms));
    EXPECT_EQ(rate.remaining(), 2500ms);
    run_until(4s);
    EXPECT_TRUE(rate.reschedule_at(TimerInstant(4200ms))) << "earlier, too";
    run_until(6s);
    EXPECT_EQ(runs, (Moments{2500ms, 3500ms, 4200ms, 5200ms}));
    rate.cancel();
    EXPECT_FALSE(rate.reschedule_after(1s));
    runs.clear();
    Timeout delay = service.schedule_with_fixed_delay(1s, 1s, note()).value();
    EXPECT_TRUE(delay.reschedule_after(-1s));
    run_until(8s);
    EXPECT_EQ(runs, (Moments{6000ms, 7000ms, 8000ms}));
    Timeout cron =
        service.schedule_cron(CronSchedule(*CronRule::parse("@hourly"), Zone::utc()), [] { ADD_FAILURE(); }).value();
    EXPECT_FALSE(cron.reschedule_after(1s) || cron.set_period(1s)) << "the calendar says when";
}

TEST_F(TimerRepeatTest, a_grid_keeps_parts_of_a_tick_when_it_is_moved) {
    Timeout rate = service.schedule_at_fixed_rate(1s, 1500us, note()).value();
    EXPECT_TRUE(rate.reschedule_at(TimerInstant(1500us)));
    run_until(8ms);
    EXPECT_EQ(runs, (Moments{2ms, 3ms, 5ms, 6ms, 8ms})) << "due at 1.5, 3, 4.5, 6 and 7.5 ms";
}

TEST_F(TimerRepeatTest, a_period_is_changed_from_outside_and_from_the_task) {
    Timeout rate = service
                       .schedule_at_fixed_rate(1s, 1s,
                                               [&] {
                                                   runs.push_back(now());
                                                   if (runs.size() == 3) {
                                                       EXPECT_TRUE(TimerService::current().set_period(500ms));
                                                   }
                                               })
                       .value();
    EXPECT_TRUE(rate.set_period(2s));
    run_until(6s);
    EXPECT_EQ(runs, (Moments{1000ms, 3000ms, 5000ms, 5500ms, 6000ms}));
    EXPECT_THROW(static_cast<void>(rate.set_period(1us)), std::invalid_argument);
    Timeout once = service.schedule_after(1s, [] {}).value();
    EXPECT_FALSE(once.set_period(1s)) << "it has none";
    EXPECT_FALSE(Timeout().set_period(1s));
}

TEST_F(TimerRepeatTest, a_task_says_when_it_runs_next) {
    const Timeout rate = service
                             .schedule_at_fixed_rate(1s, 1s,
                                                     [&] {
                                                         runs.push_back(now());
                                                         if (runs.size() != 2) return;
                                                         EXPECT_TRUE(TimerService::current().reschedule_after(300ms));
                                                     })
                             .value();
    run_until(4s);
    EXPECT_EQ(runs, (Moments{1000ms, 2000ms, 2300ms, 3300ms}));
}

TEST_F(TimerRepeatTest, a_timer_that_runs_once_is_armed_again_by_its_task) {
    TimerService small({.max_pending = 1}, clock);
    Timeout once = small
                       .schedule_after(1s,
                                       [&] {
                                           runs.push_back(now());
                                           if (runs.size() == 3) return;
                                           EXPECT_TRUE(TimerService::current().reschedule_after(2s));
                                           EXPECT_TRUE(TimerService::current().reschedule_after(1s))
                                               << "the last counts";
                                           EXPECT_FALSE(small.schedule_after(1s, [] {}).ok()) << "it has its place";
                                       })
                       .value();
    for (int second = 1; second <= 5; ++second) {
        clock.advance(1s);
        small.advance();
        EXPECT_EQ(once.is_pending(), second < 3);
    }
    EXPECT_EQ(runs, (Moments{1000ms, 2000ms, 3000ms}));
    EXPECT_TRUE(once.is_expired());
    EXPECT_FALSE(once.reschedule_after(1s)) << "what its task held is gone";
    EXPECT_TRUE(small.schedule_after(1s, [] {}).ok()) << "and so is its place";
}

TEST_F(TimerRepeatTest, a_timer_that_was_cancelled_in_its_task_is_not_armed_again) {
    Timeout after;
    Timeout before;
    const auto own = [] { return TimerService::current(); };
    after = service
                .schedule_after(1s,
                                [&] {
                                    EXPECT_TRUE(own().reschedule_after(1s));
                                    EXPECT_EQ(own().cancel(), CancelOutcome::running_here);
                                })
                .value();
    before = service
                 .schedule_after(1s,
                                 [&] {
                                     EXPECT_EQ(own().cancel(), CancelOutcome::running_here);
                                     EXPECT_FALSE(own().reschedule_after(1s));
                                 })
                 .value();
    run_until(5s);
    EXPECT_TRUE(after.is_cancelled());
    EXPECT_TRUE(before.is_expired());
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(TimerRepeatTest, an_endless_period_is_a_timer_to_be_armed_again_after_it_has_fired) {
    Timeout idle = service.schedule_with_fixed_delay(1s, kForever, note()).value();
    run_until(10s);
    EXPECT_EQ(service.next_expiry(), kNeverInstant);
    EXPECT_TRUE(idle.reschedule_after(2s));
    run_until(20s);
    EXPECT_TRUE(idle.reschedule_after(2s));
    EXPECT_TRUE(idle.reschedule_after(5s)) << "put off";
    run_until(30s);
    EXPECT_EQ(runs, (Moments{1000ms, 12000ms, 25000ms}));
}

// Where tasks run on an executor: from there, the mailbox carries them back.
TEST_F(TimerRepeatTest, a_task_on_another_thread_says_when_it_runs_next) {
    std::vector<TimerTask> held;
    TimerService other({.executor = [&](TimerTask task) { held.push_back(std::move(task)); }}, clock);
    const auto again = [&] {
        runs.push_back(now());
        EXPECT_TRUE(TimerService::current().reschedule_after(2s));
    };
    Timeout once = other.schedule_after(1s, again).value();
    Timeout rate = other.schedule_at_fixed_rate(1s, 1s, again).value();
    for (int second = 1; second <= 5; ++second) {
        clock.advance(1s);
        other.advance();
        if (!held.empty()) {
            EXPECT_FALSE(rate.reschedule_after(1s) || rate.set_period(1s)) << "the executor has it";
        }
        for (TimerTask& task : std::exchange(held, {})) std::thread([&] { task(); }).join();
    }
    EXPECT_EQ(runs, (Moments{1000ms, 1000ms, 3000ms, 3000ms, 5000ms, 5000ms}));
    EXPECT_EQ(other.stop().size(), 2U);
}

// Changes of a periodic timer from one thread meet its runs on another and its end from a third.
TEST(TimerRepeatRace, changes_meet_runs_and_the_end) {
    TimerService service({.tick = 1us});
    TimerThread driver(service);
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> ran = 0;
        Timeout rate = service
                           .schedule_at_fixed_rate(
                               0us, 5us, [&] { ++ran; }, MissedPeriods::skip)
                           .value();
        std::thread changes([own = rate]() mutable {
            while (own.is_pending()) {
                static_cast<void>(own.reschedule_after(3us));
                static_cast<void>(own.set_period(4us));
            }
        });
        while (ran < 3) std::this_thread::yield();
        rate.cancel_and_wait();
        const int ran_then = ran;
        changes.join();
        EXPECT_EQ(ran, ran_then);
    }
    EXPECT_EQ(service.pending(), 0U);
}

// ---- shutdown ----

TEST_F(TimerRepeatTest, shutdown_lets_what_waits_run_once_and_ends_what_repeats) {
    const CronSchedule hourly(*CronRule::parse("@hourly"), Zone::utc());
    const auto held = std::make_shared<int>(0);
    Timeout rate = service.schedule_at_fixed_rate(1s, 1s, [held] { ADD_FAILURE(); }).value();
    Timeout cron = service.schedule_cron(hourly, [held] { ADD_FAILURE(); }).value();
    Timeout soon = service.schedule_after(1s, note()).value();
    Timeout at_wall = service.schedule_at(clock.wall_now() + 2s, note()).value();
    Timeout moved = service.schedule_after(1h, note()).value();
    Timeout cancelled = service.schedule_after(4s, note()).value();
    EXPECT_EQ(service.shutdown(), 4U);
    EXPECT_TRUE(rate.is_cancelled() && cron.is_cancelled());
    EXPECT_EQ(held.use_count(), 1) << "what they held is gone";
    EXPECT_EQ(service.shutdown(), 4U) << "as often as wanted";
    EXPECT_FALSE(service.stopped());
    EXPECT_EQ(service.schedule_after(1s, [] {}).error().code, ErrorCode::timers_stopped);
    EXPECT_EQ(service.schedule_at_fixed_rate(1s, 1s, [] {}).error().code, ErrorCode::timers_stopped);
    EXPECT_TRUE(moved.reschedule_after(3s));
    EXPECT_EQ(cancelled.cancel(), CancelOutcome::removed);
    run_until(10s);
    EXPECT_EQ(runs, (Moments{1000ms, 2000ms, 3000ms}));
    EXPECT_TRUE(soon.is_expired() && at_wall.is_expired());
    EXPECT_EQ(service.pending(), 0U);
    EXPECT_TRUE(service.stop().empty());
}

TEST_F(TimerRepeatTest, shutdown_from_a_task_ends_that_timer_too_and_keeps_the_rest) {
    const Timeout rate = service
                             .schedule_at_fixed_rate(1s, 1s,
                                                     [&] {
                                                         runs.push_back(now());
                                                         EXPECT_GE(service.shutdown(), 2U);
                                                     })
                             .value();
    static_cast<void>(service.schedule_after(1s, note()));  // in the same pass
    static_cast<void>(service.schedule_after(1001ms, note()));
    static_cast<void>(service.schedule_after(2h, [&] {
        runs.push_back(now());
        EXPECT_FALSE(TimerService::current().reschedule_after(1s));
    }));
    run_until(3h);
    EXPECT_TRUE(rate.is_cancelled());
    EXPECT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs.back(), 2h);
    EXPECT_EQ(service.pending(), 0U);
}

TEST(TimerThreadFinish, the_thread_ends_when_the_last_timer_has_run) {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    std::atomic<int> ran = 0;
    static_cast<void>(service.schedule_after(1s, [&] { ++ran; }));
    static_cast<void>(service.schedule_after(1h, [&] { ++ran; }));
    static_cast<void>(service.schedule_at_fixed_rate(1s, 1s, [&] { ran += 100; }));
    clock.auto_advance(true);
    thread.finish();
    EXPECT_EQ(ran, 2);
    EXPECT_TRUE(service.stopped());
}

TEST(TimerThreadFinish, a_cancel_of_the_last_timer_ends_it) {
    TimerService service;
    TimerThread thread(service);
    Timeout last = service.schedule_after(24h, [] {}).value();
    std::thread finisher([&] { thread.finish(); });
    while (!service.stopped() && service.schedule_at_fixed_rate(24h, 24h, [] {}).ok()) std::this_thread::yield();
    last.cancel();
    finisher.join();  // it would sleep for a day
    EXPECT_TRUE(service.stopped());
}

TEST_F(TimerRepeatTest, stop_inside_a_periodic_task_ends_it) {
    const Timeout periodic = service
                                 .schedule_at_fixed_rate(1s, 1s,
                                                         [&] {
                                                             runs.push_back(now());
                                                             service.stop();
                                                         })
                                 .value();
    run_until(5s);
    EXPECT_EQ(runs, Moments{1000ms});
    EXPECT_TRUE(periodic.is_cancelled());
}

}  // namespace
}  // namespace duewheel
