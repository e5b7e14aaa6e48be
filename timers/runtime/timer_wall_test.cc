// Timers at wall clock times: when each fires, and what happens when the clock is set while the driver runs, sleeps, or
// has not processed the timer yet.
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/timer_service_probe.h"
#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using Moments = std::vector<std::chrono::milliseconds>;

constexpr Instant kNoon = Instant{std::chrono::sys_days{std::chrono::May / 4 / 2026}} + 12h;

class WallTest : public testing::Test {
  protected:
    void use(WallJump policy) { service.emplace(TimerOptions{.wall_jump = policy}, clock); }
    Timeout note_at(Instant wall) {
        return service->schedule_at(wall, [this] { runs.push_back(clock.wall_now() - kNoon); }).value();
    }
    Timeout note_hourly() {
        CronSchedule hourly(CronRule::parse("0 * * * *").value(), Zone::utc());
        return service->schedule_cron(std::move(hourly), [this] { runs.push_back(clock.wall_now() - kNoon); }).value();
    }
    // A minute at a time, as if something else woke the driver.
    void run(std::chrono::minutes time) {
        for (; time.count() > 0; --time) {
            clock.advance(1min);
            service->advance();
        }
    }

    ManualClock clock{kNoon};
    std::optional<TimerService> service;
    Moments runs;
};

TEST_F(WallTest, fires_at_its_instant) {
    use(WallJump::fire_now);
    const Timeout timeout = note_at(kNoon + 90min);
    EXPECT_EQ(timeout.remaining(), 90min);
    run(89min);
    EXPECT_EQ(runs, Moments{});
    run(1min);
    EXPECT_EQ(runs, Moments{90min});
    EXPECT_TRUE(timeout.is_expired());
}

TEST_F(WallTest, a_cron_schedule_fires_hour_after_hour) {
    use(WallJump::fire_now);
    clock.advance(30min);
    Timeout timeout = note_hourly();
    run(3h);
    EXPECT_EQ(runs, (Moments{1h, 2h, 3h}));
    EXPECT_EQ(timeout.cancel(), CancelOutcome::removed);
    run(2h);
    EXPECT_EQ(runs.size(), 3U);
}

TEST_F(WallTest, a_schedule_without_a_firing_is_refused) {
    use(WallJump::fire_now);
    CronSchedule never(CronRule::parse("0 0 30 2 *").value(), Zone::utc());
    EXPECT_EQ(service->schedule_cron(std::move(never), [] {}).error().code, ErrorCode::never_fires);
}

TEST_F(WallTest, what_a_jump_forward_passed_over_fires_now) {
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    note_at(kNoon + 3h);
    run(10min);
    clock.set_wall(kNoon + 2h);
    run(1min);
    EXPECT_EQ(runs, Moments{121min});
    run(59min);
    EXPECT_EQ(runs, (Moments{121min, 180min})) << "the other keeps to the wall";
}

TEST_F(WallTest, after_a_step_back_it_waits_again) {
    // Others fire on the old time, which is early by the wall.
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    run(59min);
    clock.set_wall(kNoon + 30min);
    run(29min);
    EXPECT_EQ(runs, Moments{});
    run(1min);
    EXPECT_EQ(runs, Moments{60min});
}

TEST_F(WallTest, with_shift_the_distance_counts) {
    use(WallJump::shift);
    note_at(kNoon + 1h);
    run(10min);
    clock.set_wall(kNoon + 5h);
    run(49min);
    EXPECT_EQ(runs, Moments{});
    run(1min);
    EXPECT_EQ(runs, Moments{5h + 50min});
    clock.set_wall(kNoon);
    note_at(kNoon + 10min);
    run(10min);
    EXPECT_EQ(runs.back(), 10min) << "and what is scheduled after the jump is at its instant";
}

// The jump was added to the last instant there is, which came out before the first one: the timer that was never due
// fired as soon as the clock was corrected a little.
TEST_F(WallTest, with_shift_what_is_never_due_stays_so) {
    use(WallJump::shift);
    const Timeout never = note_at(Instant::max());
    for (const std::chrono::hours jump : {5h, -7h, 9h}) {
        clock.set_wall(clock.wall_now() + jump);
        service->advance();
        clock.set_wall(clock.wall_now() + 100ms);
        service->advance();
        EXPECT_EQ(never.remaining(), std::chrono::nanoseconds::max());
    }
    EXPECT_EQ(runs, Moments{});
    note_at(Instant::min());
    clock.set_wall(clock.wall_now() - 5h);
    service->advance();
    EXPECT_EQ(runs.size(), 1U) << "and what is long due comes";
}

TEST_F(WallTest, with_skip_what_was_passed_over_does_not_happen) {
    use(WallJump::skip);
    const Timeout skipped = note_at(kNoon + 1h);
    note_hourly();
    run(10min);
    clock.set_wall(kNoon + 150min);
    run(29min);
    EXPECT_EQ(runs, Moments{});
    EXPECT_TRUE(skipped.is_cancelled());
    run(1min);
    EXPECT_EQ(runs, Moments{180min}) << "the schedule goes on with what is next";
    EXPECT_EQ(service->statistics().cancelled, 1U);
}

TEST_F(WallTest, what_is_skipped_takes_with_it_what_its_task_held) {
    use(WallJump::skip);
    const auto held = std::make_shared<int>();
    const Timeout skipped = service->schedule_at(kNoon + 1h, [held] {}).value();
    clock.set_wall(kNoon + 2h);
    service->advance();
    EXPECT_TRUE(skipped.is_cancelled());
    EXPECT_EQ(held.use_count(), 1);
}

TEST_F(WallTest, what_is_skipped_gives_its_place_back) {
    TimerService small({.max_pending = 2, .wall_jump = WallJump::skip}, clock);
    CronSchedule once(CronRule::parse("0 0 13 4 5 ? 2026").value(), Zone::utc());
    ASSERT_TRUE(small.schedule_at(kNoon + 1h, [] {}).ok());
    ASSERT_TRUE(small.schedule_cron(std::move(once), [] {}).ok());
    clock.set_wall(kNoon + 2h);
    small.advance();
    EXPECT_EQ(small.statistics().cancelled, 2U);
    EXPECT_TRUE(small.schedule_after(1h, [] {}).ok());
    EXPECT_TRUE(small.schedule_after(1h, [] {}).ok());
    EXPECT_EQ(small.schedule_after(1h, [] {}).error().code, ErrorCode::timers_full);
}

TEST_F(WallTest, with_skip_what_was_due_as_the_wall_was_set_still_happens) {
    use(WallJump::skip);
    note_at(kNoon + 1h);
    clock.advance(1h);
    clock.set_wall(kNoon + 3h);
    service->advance();
    EXPECT_EQ(runs, Moments{3h});
}

// A wall clock that was set to the exact instant of a timer does show it, but the timer was treated as skipped.
TEST_F(WallTest, with_skip_what_the_wall_is_set_to_happens) {
    use(WallJump::skip);
    note_at(kNoon + 1h);
    note_hourly();
    run(10min);
    clock.set_wall(kNoon + 1h);
    service->advance();
    EXPECT_EQ(runs, (Moments{1h, 1h}));
}

TEST_F(WallTest, a_timer_scheduled_between_a_jump_and_the_next_pass_does_not_hide_it) {
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    service->advance();
    clock.set_wall(kNoon + 2h);
    note_at(kNoon + 5h);
    service->advance();
    EXPECT_EQ(runs, Moments{2h});
}

TEST_F(WallTest, a_slow_wall_is_waited_for) {
    // The wall loses half a second in an hour: no jump, but fired on the old translation it would be early.
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    run(58min);
    clock.set_wall(clock.wall_now() - 500ms);
    clock.advance(2min);
    service->advance();
    EXPECT_EQ(runs, Moments{});
    clock.advance(500ms);
    service->advance();
    EXPECT_EQ(runs, Moments{60min});
}

TEST_F(WallTest, relative_timers_know_nothing_of_the_wall) {
    use(WallJump::fire_now);
    int fired = 0;
    static_cast<void>(service->schedule_after(1h, [&] { ++fired; }));
    note_at(kNoon + 2h);
    clock.set_wall(kNoon + 24h);
    run(59min);
    EXPECT_EQ(fired, 0);
    clock.set_wall(kNoon - 24h);
    run(1min);
    EXPECT_EQ(fired, 1);
}

// A driver that polls goes by next_expiry(), which did not look at the wall: after it was set forward, such a driver
// overslept by the whole jump.
TEST_F(WallTest, a_driver_that_polls_is_told_by_the_wall_that_is) {
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    EXPECT_EQ(service->next_expiry(), clock.now() + 1h);
    clock.set_wall(kNoon + 59min);
    EXPECT_EQ(service->next_expiry(), clock.now() + 1min);
    clock.set_wall(kNoon + 2h);
    EXPECT_LE(service->next_expiry(), clock.now());
    clock.set_wall(kNoon - 1h);
    EXPECT_EQ(service->next_expiry(), clock.now() + 2h);
    use(WallJump::skip);
    clock.set_wall(kNoon);
    const Timeout skipped = note_at(kNoon + 1h);
    service->advance();
    clock.set_wall(kNoon + 2h);
    EXPECT_EQ(service->next_expiry(), kNeverInstant);
    EXPECT_TRUE(skipped.is_cancelled());
}

// The very instant of a calendar at which a late run ends is still to come: it is not among the missed ones. The edge
// was not tested.
TEST_F(WallTest, a_late_cron_run_at_an_instant_of_its_calendar_is_followed_by_that_one) {
    use(WallJump::fire_now);
    note_hourly();
    clock.advance(2h);
    service->advance();
    service->advance();
    EXPECT_EQ(runs, (Moments{2h, 2h}));
    EXPECT_EQ(service->next_expiry(), clock.now() + 1h);
}

// A task of an earlier tick sets the wall, and the timer falls due in the same pass, by what the wall was before: the
// policy decides about it in the next pass. This was not tested.
TEST_F(WallTest, a_wall_that_is_set_in_the_pass_in_which_it_is_due_is_a_jump_too) {
    const auto one_pass = [this](WallJump policy) {
        runs.clear();
        use(policy);
        clock.set_wall(kNoon);
        static_cast<void>(service->schedule_after(59min, [this] { clock.set_wall(kNoon); }));
        note_at(kNoon + 1h);
        clock.advance(1h);
        service->advance();
        EXPECT_EQ(runs, Moments{}) << "not early by the wall";
        clock.advance(1ms);
        service->advance();
        return runs;
    };
    EXPECT_EQ(one_pass(WallJump::shift), Moments{1ms}) << "the distance was over";
    EXPECT_EQ(one_pass(WallJump::fire_now), Moments{}) << "the instant is to come";
    EXPECT_EQ(service->next_expiry(), clock.now() + 1h - 1ms);
}

// ---- not yet on the wheel ----

// A timer that no thread had taken out of the mailbox yet noted where the wall was when it was taken out, not when its
// instant was translated. So a wall that was set in between was not seen, and the timer came as if it had not been.
TEST_F(WallTest, a_timer_in_the_mailbox_sees_the_wall_set) {
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    clock.set_wall(kNoon + 2h);
    note_at(kNoon + 5h);
    service->advance();
    EXPECT_EQ(runs, Moments{2h});
    run(3h);
    EXPECT_EQ(runs, (Moments{2h, 5h})) << "the other was translated afterwards";
}

// The wall was set and set back while the list was not looked at: what was translated in between lay at an instant of
// the wall that no longer was, and nothing said so, as the wall stood where it had stood before.
TEST_F(WallTest, a_timer_translated_between_two_steps_keeps_to_the_wall) {
    use(WallJump::fire_now);
    note_at(kNoon + 9h);
    service->advance();
    clock.set_wall(kNoon - 2h);
    note_at(kNoon + 1h);
    clock.set_wall(kNoon);
    run(2h);
    EXPECT_EQ(runs, Moments{60min});
}

// A clock whose wall clock is set by another thread just as it is read.
class ReadClock final : public TimerClock {
  public:
    explicit ReadClock(ManualClock& clock) : clock_(clock) {}
    TimerInstant now() const override { return clock_.now(); }
    Instant wall_now() const override {
        if (before_read_) std::exchange(before_read_, nullptr)();
        return clock_.wall_now();
    }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return clock_.make_alarm(); }
    void before_next_read(std::function<void()> happens) { before_read_ = std::move(happens); }

  private:
    ManualClock& clock_;
    mutable std::function<void()> before_read_;
};

// While the driver looked where the wall is, another thread scheduled and then the wall was set: the driver had seen
// the step, and the timer that came to it afterwards had not.
TEST_F(WallTest, a_timer_that_comes_after_the_look_is_looked_at) {
    ReadClock read(clock);
    TimerService racing({}, read);
    const auto note = [&] { runs.push_back(clock.wall_now() - kNoon); };
    static_cast<void>(racing.schedule_at(kNoon + 9h, note));
    racing.advance();
    read.before_next_read([&] {
        std::thread([&] { static_cast<void>(racing.schedule_at(kNoon + 1h, note)); }).join();
        clock.set_wall(kNoon + 2h);
    });
    racing.advance();
    EXPECT_LE(racing.rest(), clock.now());
    racing.advance();
    EXPECT_EQ(runs, Moments{2h});
}

// One that another thread has cancelled lies in the mailbox, and is ended from there. If the driver had just emptied it
// and then found that the wall clock had skipped the timer, it must not be ended twice. This was not tested.
TEST_F(WallTest, one_that_is_cancelled_as_it_is_passed_over_ends_once) {
    ReadClock read(clock);
    TimerService racing({.max_pending = 1, .wall_jump = WallJump::skip}, read);
    const auto token = std::make_shared<int>();
    Timeout passed_over = racing.schedule_at(kNoon + 1h, [token] {}).value();
    racing.advance();
    clock.set_wall(kNoon + 2h);
    read.before_next_read(
        [&] { std::thread([&] { EXPECT_EQ(passed_over.cancel(), CancelOutcome::removed); }).join(); });
    racing.advance();
    EXPECT_EQ(racing.pending(), 0U);
    EXPECT_EQ(racing.statistics().cancelled, 1U);
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_TRUE(racing.schedule_after(1h, [] {}).ok());
    EXPECT_EQ(racing.schedule_after(1h, [] {}).error().code, ErrorCode::timers_full) << "it has given one place back";
    TimerServiceProbe::check_wheel(racing);
}

// A timer that was cancelled by another thread after the driver had emptied the mailbox, and that came to its tick in
// the same pass, was destroyed while the list of timers at wall instants still named it.
TEST_F(WallTest, one_that_is_cancelled_in_the_pass_in_which_it_is_due_leaves_the_list) {
    use(WallJump::fire_now);
    // Enough that the driver does not empty the mailbox between the two.
    for (int i = 0; i < 100; ++i) static_cast<void>(service->schedule_after(9h, [] {}));
    Timeout due = note_at(kNoon + 1h);
    static_cast<void>(service->schedule_after(
        30min, [&] { std::thread([&] { EXPECT_EQ(due.cancel(), CancelOutcome::removed); }).join(); }));
    service->advance();
    EXPECT_TRUE(TimerServiceProbe::lists_any_at_wall(*service));
    clock.advance(2h);
    service->advance();
    EXPECT_FALSE(TimerServiceProbe::lists_any_at_wall(*service));
    EXPECT_EQ(runs, Moments{});
    TimerServiceProbe::check_wheel(*service);
}

// ---- drivers that sleep ----

class SleepingWallTest : public WallTest {
  protected:
    void drive() {
        use(WallJump::fire_now);
        thread.emplace(*service);
        clock.wait_until_idle();
    }
    void set_wall(Instant wall) {
        clock.set_wall(wall);
        clock.wait_until_idle();
    }

    std::optional<TimerThread> thread;
};

TEST_F(SleepingWallTest, a_wall_that_is_set_wakes_the_driver_of_a_timer_that_it_passes_over) {
    drive();
    note_at(kNoon + 1h);
    clock.wait_until_idle();
    set_wall(kNoon + 2h);
    EXPECT_EQ(runs, Moments{2h});
}

// A driver that slept for something nearer was not woken for a timer at the wall, which was in the mailbox; so no alarm
// for a set wall clock was armed, and a step over the timer was noticed an hour later.
TEST_F(SleepingWallTest, a_timer_that_the_driver_was_not_woken_for_sees_the_wall_set) {
    drive();
    static_cast<void>(service->schedule_after(10min, [] {}));
    clock.wait_until_idle();
    const std::uint64_t wakeups = thread->wakeups();
    note_at(kNoon + 1h);
    clock.wait_until_idle();
    EXPECT_EQ(thread->wakeups(), wakeups) << "nor need it be woken";
    set_wall(kNoon + 2h);
    EXPECT_EQ(runs, Moments{2h});
}

// The wall was set after the driver had looked at it and before it slept: by a task of the same pass.
TEST_F(SleepingWallTest, a_wall_that_a_task_sets_is_seen_before_the_sleep) {
    use(WallJump::fire_now);
    note_at(kNoon + 1h);
    static_cast<void>(service->schedule_after(0s, [this] { clock.set_wall(kNoon + 2h); }));
    thread.emplace(*service);
    clock.wait_until_idle();
    EXPECT_EQ(runs, Moments{2h});
}

// A driver that is another one since the timers were scheduled has another alarm, which is to ring as well.
TEST_F(SleepingWallTest, the_next_driver_is_notified_too) {
    drive();
    note_at(kNoon + 1h);
    clock.wait_until_idle();
    thread->before_fork();
    thread->after_fork_in_parent();
    clock.wait_until_idle();
    set_wall(kNoon + 2h);
    EXPECT_EQ(runs, Moments{2h});
}

// What an alarm was set to after the wall had been set undid that, so that the owner slept on.
TEST(ManualClockWall, an_alarm_that_is_set_after_the_wall_was_still_rings) {
    ManualClock clock(kNoon);
    clock.auto_advance(true);
    const std::unique_ptr<TimerAlarm> alarm = clock.make_alarm();
    const TimerInstant begin = clock.now();
    alarm->ring_when_wall_is_set();
    clock.set_wall(kNoon + 2h);
    alarm->set(begin + 1h);
    alarm->wait();
    EXPECT_EQ(clock.now(), begin);
    alarm->set(begin + 1h);
    alarm->wait();
    EXPECT_EQ(clock.now(), begin + 1h) << "and not twice";
}

}  // namespace
}  // namespace duewheel
