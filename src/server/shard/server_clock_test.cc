#include "server/shard/server_clock.h"

#include <gtest/gtest.h>

#include "shared/random.h"

namespace duewheel::server_clock_test {
namespace {

constexpr DueMs kWall = 1'700'000'000'000;
constexpr std::int64_t kBoot = 5'000'000'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kDay = 24 * kHour;

// A machine with both clocks, and the server's, which observes them every second as its owner does.
class Machine {
  public:
    explicit Machine(ClockRules rules = {}, DueMs floor_ms = 0, DueMs wall_ms = kWall)
        : wall_ns_(wall_ms * kMs), clock_(rules, reading(), {.floor_ms = floor_ms}) {}

    // The process ends; another begins later, with a log in which this is the newest time. It has left its time, in
    // this run of the machine or in one before.
    void start_again(std::int64_t after_ns, DueMs floor_ms, bool same_run = true, ClockRules rules = {}) {
        const ClockMark mark = clock_.mark(same_run ? "this run" : "one before");
        suspend(after_ns);
        clock_ = ServerClock(rules, reading(), clock_start(floor_ms, mark, "this run", boot_ns_));
    }

    ClockReading reading() const { return {wall_ns_, boot_ns_}; }
    ServerClock& clock() { return clock_; }
    DueMs now() const { return clock_.now_ms(boot_ns_); }
    DueMs wall() const { return wall_ns_ / kMs; }
    ClockState state() const { return clock_.state(); }
    void set_wall_by(std::int64_t ns) { wall_ns_ += ns; }

    // Time goes by, and is observed on the way; how often the state changed or server time jumped.
    int run(std::int64_t ns) {
        int changes = 0;
        while (ns > 0) {
            const std::int64_t step = std::min(ns, ServerClock::kObserveNs);
            boot_ns_ += step;
            wall_ns_ += step;
            ns -= step;
            changes += clock_.observe(reading()) ? 1 : 0;
        }
        return changes;
    }
    // On the wall clock again, after `jumps` jumps.
    void expect_steady(std::uint64_t jumps) {
        EXPECT_EQ(state(), ClockState::steady);
        EXPECT_EQ(now(), wall());
        EXPECT_EQ(clock().jumps(), jumps);
    }
    // As while the machine is suspended: the clock is not observed.
    void suspend(std::int64_t ns) {
        boot_ns_ += ns;
        wall_ns_ += ns;
    }

  private:
    std::int64_t wall_ns_;
    std::int64_t boot_ns_ = kBoot;
    ServerClock clock_;
};

TEST(ServerClock, begins_at_the_wall_clock_and_runs_on_the_boot_clock) {
    Machine machine;
    EXPECT_EQ(machine.now(), kWall);
    machine.suspend(1500 * kMs);
    EXPECT_EQ(machine.now(), kWall + 1500);
    EXPECT_EQ(machine.run(kDay), 0);
    EXPECT_EQ(machine.now(), machine.wall());
}

TEST(ServerClock, rounds_down_so_that_nothing_is_early) {
    Machine machine;
    EXPECT_EQ(machine.clock().now_ms(kBoot + kMs - 1), kWall);
    EXPECT_EQ(machine.clock().now_ms(kBoot + kMs), kWall + 1);
}

// A delay counted from the whole millisecond before it, so its message came up to a millisecond early.
TEST(ServerClock, delays_count_from_the_next_whole_millisecond) {
    Machine machine;
    EXPECT_EQ(machine.clock().rounded_up_ms(kBoot), kWall);
    EXPECT_EQ(machine.clock().rounded_up_ms(kBoot + 1), kWall + 1);
    EXPECT_EQ(machine.clock().rounded_up_ms(kBoot + kMs), kWall + 1);
    Machine by_hand({ClockJump::hold, true});
    EXPECT_EQ(by_hand.clock().rounded_up_ms(kBoot + 1), kWall);
}

// What was due while the machine slept is due at once: the boot clock counts it, and so does the wall.
TEST(ServerClock, a_suspend_counts_as_elapsed_time) {
    Machine machine;
    machine.suspend(9 * kHour);
    EXPECT_EQ(machine.now(), machine.wall());
    EXPECT_EQ(machine.run(kSecond), 0);
    EXPECT_EQ(machine.state(), ClockState::steady);
}

// ---- the start

// A wall clock that was set back over a restart would make what was due wait again, and leases and keys live longer.
TEST(ServerClock, with_a_wall_clock_set_back_it_starts_at_the_time_of_the_log) {
    Machine machine({}, kWall + 3'600'000);
    EXPECT_EQ(machine.now(), kWall + 3'600'000);
    EXPECT_EQ(machine.state(), ClockState::slow);
    machine.run(10 * kSecond);
    EXPECT_EQ(machine.now(), kWall + 3'600'000 + 9'000) << "it goes on from there, a tenth slower";
    EXPECT_EQ(Machine({}, kWall - 1).now(), kWall) << "a later wall clock counts";
}

TEST(ServerClock, a_start_after_more_than_400_days_waits_for_a_confirmation) {
    const DueMs floor = kWall - 401ll * 24 * 3600 * 1000;
    Machine held({}, floor);
    EXPECT_EQ(held.now(), floor);
    EXPECT_EQ(held.state(), ClockState::held);
    held.run(kDay);
    EXPECT_EQ(held.state(), ClockState::held);
    EXPECT_EQ(held.now(), floor + kDay / kMs) << "and goes on meanwhile";
    EXPECT_TRUE(held.clock().accept(held.reading()));
    EXPECT_EQ(held.now(), held.wall());
    EXPECT_EQ(held.state(), ClockState::steady);

    EXPECT_EQ(Machine({ClockJump::accept}, floor).now(), kWall);
    EXPECT_EQ(Machine({}, kWall - 399ll * 24 * 3600 * 1000).now(), kWall);
    EXPECT_EQ(Machine({}, 0).now(), kWall) << "a new log knows of no time before";
}

// A server that held a clock a month ahead believed it when it was started again: messages went out weeks early.
TEST(ServerClock, a_held_clock_is_held_by_the_next_start) {
    for (const bool same_run : {true, false}) {
        Machine machine;
        machine.set_wall_by(30 * kDay);
        machine.run(62 * kSecond);
        ASSERT_EQ(machine.state(), ClockState::held);
        const DueMs last = machine.now();
        machine.start_again(kHour, last, same_run);
        EXPECT_EQ(machine.state(), ClockState::held);
        const DueMs began = machine.now();
        EXPECT_EQ(began, same_run ? last + kHour / kMs : last) << "only the boot clock knows how long it was away";
        machine.run(kDay);
        EXPECT_EQ(machine.state(), ClockState::held);
        EXPECT_EQ(machine.now(), began + kDay / kMs);
        EXPECT_TRUE(machine.clock().accept(machine.reading()));
        EXPECT_EQ(machine.now(), machine.wall());
        machine.start_again(2 * kDay, machine.now(), same_run);
        EXPECT_EQ(machine.state(), ClockState::steady) << "what was accepted is doubted no more";
        EXPECT_EQ(machine.now(), machine.wall());
    }
}

// A server that was stopped within the second in which the wall clock was set, or while it was, knew nothing of it.
TEST(ServerClock, a_clock_set_while_no_server_runs_is_handled_like_one_set_during_a_run) {
    for (const std::int64_t ahead : {kHour, 30 * kDay}) {
        Machine machine;
        machine.run(kHour);
        const DueMs last = machine.now();
        machine.set_wall_by(ahead);
        machine.start_again(kHour, last);
        EXPECT_EQ(machine.state(), ahead == kHour ? ClockState::quarantine : ClockState::held);
        EXPECT_EQ(machine.now(), last + kHour / kMs);
        machine.set_wall_by(-ahead);
        machine.run(2 * kSecond);
        EXPECT_EQ(machine.state(), ClockState::steady);
        EXPECT_EQ(machine.clock().jumps(), 0u);
    }
    Machine away;
    away.start_again(300 * kDay, kWall);
    EXPECT_EQ(away.state(), ClockState::steady) << "a year away is no jump";
    EXPECT_EQ(away.now(), away.wall());
    away.set_wall_by(30 * kDay);
    away.start_again(kSecond, away.now(), false);
    EXPECT_EQ(away.now(), away.wall()) << "in another run of the machine nobody else knows";
}

// The simulator had one killed before anything was in its log: only what it had left of its time knew of it.
TEST(ServerClock, the_saved_time_counts_if_the_log_is_empty) {
    Machine machine;
    machine.set_wall_by(30 * kDay);
    machine.start_again(kSecond, 0);
    EXPECT_EQ(machine.state(), ClockState::held);
    EXPECT_EQ(machine.now(), kWall + 1'000);
    machine.start_again(kSecond, 0, false);
    EXPECT_EQ(machine.state(), ClockState::steady) << "in another run of the machine nobody knows how late it was";
    EXPECT_EQ(machine.now(), machine.wall());
}

// Killed after the wall clock was accepted, and before that was saved for the next start: the log is newer.
TEST(ServerClock, a_mark_older_than_the_log_is_ignored) {
    Machine machine;
    const ClockMark before = machine.clock().mark("this run");
    machine.set_wall_by(30 * kDay);
    machine.run(kSecond);
    ASSERT_TRUE(machine.clock().accept(machine.reading()));
    EXPECT_FALSE(machine.clock().is_saved_in(before, "this run"));
    const ClockStart start = clock_start(machine.now(), before, "this run", machine.reading().boot_ns);
    EXPECT_FALSE(start.continues_at_ms);
    EXPECT_EQ(ServerClock({}, machine.reading(), start).now_ms(machine.reading().boot_ns), machine.wall());
}

TEST(ServerClock, a_watched_clock_is_watched_by_the_next_start_for_a_minute) {
    Machine machine;
    machine.set_wall_by(kHour);
    machine.run(30 * kSecond);
    const DueMs last = machine.now();
    machine.start_again(10 * kSecond, last);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    EXPECT_EQ(machine.now(), last + 10'000);
    machine.run(59 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    machine.run(kSecond);
    EXPECT_EQ(machine.state(), ClockState::steady);
    EXPECT_EQ(machine.now(), machine.wall());
}

TEST(ServerClock, a_rule_that_trusts_everything_does_so_a_minute_after_a_start) {
    Machine machine;
    machine.set_wall_by(30 * kDay);
    machine.run(62 * kSecond);
    ASSERT_EQ(machine.state(), ClockState::held);
    machine.start_again(kSecond, machine.now(), true, {ClockJump::accept});
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    machine.run(62 * kSecond);
    EXPECT_EQ(machine.now(), machine.wall());
}

// A battery that is empty shows 1970 or 2000; the network's time comes later and is a jump of years.
TEST(ServerClock, a_new_log_on_a_machine_that_shows_1970_holds_the_jump_to_the_correct_time) {
    Machine machine({}, 0, 1'000);
    EXPECT_EQ(machine.now(), 1'000);
    machine.set_wall_by(kWall * kMs);
    machine.run(62 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::held);
    EXPECT_TRUE(machine.clock().accept(machine.reading()));
    EXPECT_EQ(machine.now(), machine.wall());
}

// ---- small steps

TEST(ServerClock, up_to_50_ms_are_corrected_at_500_ppm) {
    for (const std::int64_t step : {40 * kMs, -40 * kMs}) {
        Machine machine;
        machine.set_wall_by(step);
        EXPECT_EQ(machine.run(40 * kSecond), 0) << "nothing worth a word";
        EXPECT_NEAR(static_cast<double>(machine.wall() - machine.now()), step > 0 ? 20 : -20, 1);
        machine.run(41 * kSecond);
        EXPECT_EQ(machine.now(), machine.wall());
        EXPECT_EQ(machine.clock().jumps(), 0u);
    }
}

TEST(ServerClock, up_to_5_s_are_corrected_at_a_tenth_like_a_leap_second) {
    for (const std::int64_t step : {kSecond, -kSecond}) {
        Machine machine;
        machine.set_wall_by(step);
        machine.run(6 * kSecond);
        EXPECT_NEAR(static_cast<double>(machine.wall() - machine.now()), step > 0 ? 500 : -500, 2);
        machine.run(106 * kSecond);  // the last 50 ms take their time
        EXPECT_EQ(machine.now(), machine.wall());
        EXPECT_EQ(machine.state(), ClockState::steady);
    }
}

// ---- set back

TEST(ServerClock, a_wall_clock_that_is_set_back_is_waited_for_and_time_never_goes_back) {
    Machine machine;
    machine.set_wall_by(-kHour);
    EXPECT_EQ(machine.run(kSecond), 1);
    EXPECT_EQ(machine.state(), ClockState::slow);
    EXPECT_EQ(machine.now(), kWall + 1000);
    machine.run(9 * kHour);
    EXPECT_EQ(machine.state(), ClockState::slow) << "an hour takes ten";
    EXPECT_EQ(machine.run(2 * kHour), 1);
    machine.expect_steady(0);
}

// ---- set ahead

TEST(ServerClock, a_wall_clock_set_ahead_is_trusted_after_a_minute) {
    Machine machine;
    machine.set_wall_by(kHour);
    EXPECT_EQ(machine.run(kSecond), 1);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    machine.run(59 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    EXPECT_EQ(machine.now(), machine.wall() - 3'600'000);
    EXPECT_EQ(machine.run(kSecond), 1);
    machine.expect_steady(1);
}

TEST(ServerClock, a_wall_clock_that_returns_in_time_changes_nothing) {
    Machine machine;
    machine.set_wall_by(kHour);
    machine.run(50 * kSecond);
    machine.set_wall_by(-kHour);
    EXPECT_EQ(machine.run(kSecond), 1);
    machine.expect_steady(0);
}

TEST(ServerClock, one_that_is_set_again_is_watched_for_another_minute) {
    Machine machine;
    machine.set_wall_by(kHour);
    machine.run(50 * kSecond);
    machine.set_wall_by(2 * kSecond);
    machine.run(60 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    machine.run(2 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::steady);
    EXPECT_EQ(machine.now(), machine.wall());
}

TEST(ServerClock, more_than_a_day_ahead_is_held_until_it_is_accepted) {
    Machine machine;
    EXPECT_FALSE(machine.clock().accept(machine.reading())) << "there is nothing to accept";
    machine.set_wall_by(kDay + kHour);
    machine.run(62 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::held);
    EXPECT_EQ(machine.run(kHour), 0);
    EXPECT_EQ(machine.now(), kWall + (kHour + 62 * kSecond) / kMs);
    EXPECT_EQ(machine.clock().status(machine.reading()).ahead_ms(), (kDay + kHour) / kMs);
    EXPECT_TRUE(machine.clock().accept(machine.reading()));
    EXPECT_EQ(machine.now(), machine.wall());
    EXPECT_FALSE(machine.clock().accept(machine.reading()));
}

TEST(ServerClock, more_than_a_day_ahead_is_trusted_if_the_rule_allows_it) {
    Machine machine({ClockJump::accept});
    machine.set_wall_by(1000 * kDay);
    machine.run(62 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::steady);
    EXPECT_EQ(machine.now(), machine.wall());
}

TEST(ServerClock, one_that_is_held_and_set_nearer_is_watched_and_then_trusted) {
    Machine machine;
    machine.set_wall_by(2 * kDay);
    machine.run(62 * kSecond);
    machine.set_wall_by(-kDay - kHour);
    EXPECT_EQ(machine.run(kSecond), 1);
    EXPECT_EQ(machine.state(), ClockState::quarantine);
    machine.run(61 * kSecond);
    EXPECT_EQ(machine.state(), ClockState::steady);
    EXPECT_EQ(machine.now(), machine.wall());
}

TEST(ServerClock, a_jump_can_be_accepted_before_the_minute_is_over) {
    Machine machine;
    machine.set_wall_by(kHour);
    machine.run(kSecond);
    EXPECT_TRUE(machine.clock().accept(machine.reading()));
    EXPECT_EQ(machine.now(), machine.wall());
    EXPECT_EQ(machine.state(), ClockState::steady);
}

// ---- a test's clock

TEST(ServerClock, a_manual_clock_is_moved_only_by_commands) {
    Machine machine({ClockJump::hold, true});
    machine.set_wall_by(kDay);
    machine.run(100 * kSecond);
    EXPECT_EQ(machine.now(), kWall + 100'000);
    machine.clock().advance(3'600'000, machine.reading());
    EXPECT_EQ(machine.now(), kWall + 3'700'000);
    machine.clock().advance(kServerTimeMaxMs, machine.reading());
    EXPECT_EQ(machine.now(), kServerTimeMaxMs) << "and no further";
    EXPECT_EQ(machine.state(), ClockState::test);
}

TEST(ServerClock, clocks_out_of_range_are_clamped) {
    Machine machine({ClockJump::accept}, kServerTimeMaxMs * 5);
    EXPECT_EQ(machine.now(), kServerTimeMaxMs);
    EXPECT_EQ(machine.clock().ns_until(std::numeric_limits<DueMs>::max(), kBoot), 0);
}

// ---- whatever happens

// Server time never goes back and never jumps unseen; its owner sleeps until exactly the millisecond that it waits for;
// and wherever the wall clock is left alone for long enough, the two agree or the state says why not.
// Beyond some decades the wait was calculated in too few bits, and looked for its end forever.
TEST(ServerClock, a_wall_clock_that_is_centuries_behind_is_waited_for_a_tenth_slower) {
    for (const std::int64_t years : {30, 56, 170, 230}) {
        const DueMs floor_ms = std::min<DueMs>(years * 365 * (kDay / kMs), kServerTimeMaxMs - 60'000);
        Machine machine({}, floor_ms, 0);
        ASSERT_EQ(machine.state(), ClockState::slow);
        EXPECT_EQ(machine.now(), floor_ms);
        const std::int64_t wait = machine.clock().ns_until(floor_ms + 9'000, kBoot);
        EXPECT_EQ(machine.clock().now_ms(kBoot + wait), floor_ms + 9'000) << years;
        EXPECT_EQ((wait + kMs) / kSecond, 10) << years;
    }
}

TEST(ServerClock, whatever_is_done_to_the_wall_clock) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ClockRules rules{random.chance(500'000) ? ClockJump::hold : ClockJump::accept, false};
        Machine machine(rules, random.chance(300'000) ? kWall + random.between(-10'000'000, 10'000'000) : 0);
        DueMs last = machine.now();
        for (int step = 0; step < 200; ++step) {
            if (random.chance(100'000)) {
                const std::int64_t scale = std::int64_t{1} << random.between(10, 57);
                machine.set_wall_by(random.between(-scale, scale));
            }
            const std::int64_t from = machine.reading().boot_ns;
            const DueMs wanted = machine.now() + random.between(0, 10'000);
            const std::int64_t until = machine.clock().ns_until(wanted, from);
            ASSERT_GE(machine.clock().now_ms(from + until), wanted);
            if (until > 0) {
                ASSERT_LT(machine.clock().now_ms(from + until - 1), wanted);
            }
            const std::uint64_t jumps = machine.clock().jumps();
            if (random.chance(20'000)) machine.clock().accept(machine.reading());
            const std::int64_t passed = random.between(0, 3 * kSecond);
            if (random.chance(100'000))
                machine.suspend(passed);
            else
                machine.run(passed);
            ASSERT_GE(machine.now(), last);
            if (machine.clock().jumps() == jumps) {
                ASSERT_LE(machine.now() - last, passed * 11 / 10 / kMs + 1);
                ASSERT_GE(machine.now() - last, passed * 9 / 10 / kMs - 1);
            }
            last = machine.now();
        }
        const DueMs behind = std::max<DueMs>(0, machine.now() - machine.wall());
        machine.run(200 * kSecond);
        if (behind > 10'000) continue;  // that takes ten times as long
        if (machine.state() == ClockState::held) {
            EXPECT_GT(machine.wall() - machine.now(), kDay / kMs);
        } else {
            EXPECT_EQ(machine.state(), ClockState::steady);
            EXPECT_LE(std::abs(machine.wall() - machine.now()), 1);
        }
    }
}

}  // namespace
}  // namespace duewheel::server_clock_test
