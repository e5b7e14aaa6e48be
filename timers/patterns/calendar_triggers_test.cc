#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include <duewheel/patterns/calendar_triggers.h>
#include <duewheel/task_pool.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::minutes;

class CalendarTriggersTest : public VirtualTime {
  protected:
    static CronSchedule rule(const char* text) { return {CronRule::parse(text).value(), Zone::utc()}; }

    // Since the day on which the test begins.
    static std::string time_of(Instant instant) {
        const auto since = std::chrono::duration_cast<std::chrono::seconds>(
            instant - Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}});
        const long seconds_left = since.count() % 60;
        return std::to_string(since.count() / 3600) + ":" + std::to_string(since.count() / 60 % 60) +
               (seconds_left == 0 ? "" : ":" + std::to_string(seconds_left));
    }
    CalendarTriggers::Id add(const char* text, Misfire misfire = Misfire::skip) {
        return triggers
            .add(rule(text), misfire,
                 [this](Instant nominal) {
                     fired.push_back(time_of(nominal));
                     EXPECT_GE(clock.wall_now(), nominal) << "never early";
                 })
            .value();
    }
    // The machine sleeps, or there is no driver: nothing happens meanwhile.
    void sleep_through(std::chrono::nanoseconds time) { clock.advance(time); }

    using Texts = std::vector<std::string>;
    Texts fired;
    CalendarTriggers triggers{service};
};

TEST_F(CalendarTriggersTest, fires_at_each_instant_of_its_rule) {
    add("*/20 * * * *");
    pass(65min);
    EXPECT_EQ(fired, (Texts{"0:20", "0:40", "1:0"}));
}

TEST_F(CalendarTriggersTest, only_what_is_due_soon_lies_on_the_wheel) {
    for (int hour = 1; hour < 24; ++hour) add(("0 " + std::to_string(hour) + " * * *").c_str());
    EXPECT_EQ(triggers.size(), 23U);
    EXPECT_LE(service.pending(), 1U) << "the feeding alone";
    pass(1h - 6s);
    EXPECT_EQ(triggers.fed(), 0U);
    pass(2s);
    EXPECT_EQ(triggers.fed(), 1U) << "fed within the seconds ahead";
    pass(23h + 4s);
    EXPECT_EQ(fired.size(), 23U);
    EXPECT_EQ(triggers.size(), 23U);
}

TEST_F(CalendarTriggersTest, many_at_once_and_close_together_are_all_fed) {
    std::map<Instant, int> counts;
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(
            triggers.add(rule("*/2 * * * * *"), Misfire::skip, [&](Instant nominal) { ++counts[nominal]; }).ok());
    }
    pass(20s);
    EXPECT_EQ(counts.size(), 10U);
    for (const auto& [instant, count] : counts) EXPECT_EQ(count, 500);
}

TEST_F(CalendarTriggersTest, what_was_missed_is_skipped_or_fired_once_or_all) {
    const auto sleeping = [&](Misfire misfire) {
        fired.clear();
        const CalendarTriggers::Id id = add("*/10 * * * *", misfire);
        pass(10min);
        sleep_through(35min);
        pass(10min);
        EXPECT_TRUE(triggers.remove(id));
        pass(5min);
        return fired;
    };
    EXPECT_EQ(sleeping(Misfire::skip), (Texts{"0:10", "0:50"}));
    EXPECT_EQ(sleeping(Misfire::fire_once), (Texts{"1:10", "1:40", "1:50"}));
    EXPECT_EQ(sleeping(Misfire::fire_all), (Texts{"2:10", "2:20", "2:30", "2:40", "2:50"}));
}

TEST_F(CalendarTriggersTest, a_little_late_is_no_misfire) {
    add("*/10 * * * *");
    sleep_through(10min + 5s);
    pass(0s);
    EXPECT_EQ(fired, Texts{"0:10"});
    sleep_through(10min + 1s);  // to 20:06
    pass(0s);
    EXPECT_EQ(fired.size(), 1U);
}

TEST_F(CalendarTriggersTest, downtime_before_a_restart_is_treated_as_missed) {
    const Instant last = clock.wall_now() - 3h;
    const auto note = [this](Instant nominal) { fired.push_back(time_of(nominal)); };
    ASSERT_TRUE(triggers.add(rule("@hourly"), Misfire::skip, note, last).ok());
    pass(1min);
    EXPECT_EQ(fired, Texts{"0:0"}) << "the one that is due just now is not late";
    fired.clear();
    ASSERT_TRUE(triggers.add(rule("30 * * * *"), Misfire::fire_once, note, last).ok());
    pass(1min);
    EXPECT_EQ(fired, Texts{"0:-30"}) << "the last one before the restart, for all three";
}

TEST_F(CalendarTriggersTest, follows_the_wall_when_it_is_set) {
    add("0 12 * * *", Misfire::fire_once);
    pass(1h);
    clock.set_wall(clock.wall_now() + 11h - 2s);  // two seconds to noon
    pass(2s);
    EXPECT_EQ(fired, Texts{"12:0"});
    clock.set_wall(clock.wall_now() - 30min);
    pass(1h);
    EXPECT_EQ(fired.size(), 1U) << "noon comes again on the wall, and is the same noon";
    pass(24h);
    EXPECT_EQ(fired, (Texts{"12:0", "36:0"}));
}

TEST_F(CalendarTriggersTest, one_that_is_removed_does_not_fire_wherever_it_lies) {
    const CalendarTriggers::Id planned = add("0 1 * * *");
    const CalendarTriggers::Id fed = add("0 1 * * *");
    EXPECT_TRUE(triggers.remove(planned));
    pass(1h - 2s);
    EXPECT_EQ(triggers.fed(), 1U);
    EXPECT_TRUE(triggers.remove(fed));
    EXPECT_FALSE(triggers.remove(fed));
    EXPECT_EQ(triggers.fed(), 0U);
    EXPECT_EQ(triggers.next(fed), std::nullopt);
    CalendarTriggers::Id running = 0;
    running = triggers
                  .add(rule("* * * * *"), Misfire::skip,
                       [&](Instant) {
                           fired.push_back("running");
                           EXPECT_TRUE(triggers.remove(running));
                       })
                  .value();
    pass(1h);
    EXPECT_EQ(fired, Texts{"running"});
    EXPECT_EQ(triggers.size(), 0U);
}

TEST_F(CalendarTriggersTest, ends_with_its_rule_and_refuses_one_that_never_fires) {
    add("0 0 5 21 NOV ? 2026");
    EXPECT_EQ(triggers.size(), 1U);
    pass(6h);
    EXPECT_EQ(fired, Texts{"5:0"});
    EXPECT_EQ(triggers.size(), 0U);
    const Result<CalendarTriggers::Id> never = triggers.add(rule("0 0 30 2 *"), Misfire::skip, [](Instant) {});
    EXPECT_EQ(never.error().code, ErrorCode::never_fires);
}

TEST_F(CalendarTriggersTest, a_task_that_throws_is_reported_and_fires_again) {
    testing::internal::CaptureStderr();
    int runs = 0;
    ASSERT_TRUE(triggers
                    .add(rule("* * * * *"), Misfire::skip,
                         [&](Instant) {
                             ++runs;
                             throw std::runtime_error("task");
                         })
                    .ok());
    pass(3min);
    EXPECT_EQ(runs, 3);
    EXPECT_FALSE(testing::internal::GetCapturedStderr().empty());
}

// ---- a service without room ----

class CrowdedTriggersTest : public CalendarTriggersTest {
  protected:
    // A service with this number of places left.
    void leave_places(std::size_t places) {
        small.emplace(TimerOptions{.max_pending = places + 1, .on_error = [this](auto&&...) { ++errors; }}, clock);
        other = small->schedule_after(9h, [] {}).value();
        crowded.emplace(*small);
    }
    Result<CalendarTriggers::Id> add_crowded(const char* text, Misfire misfire = Misfire::skip) {
        return crowded->add(rule(text), misfire, [this](Instant nominal) {
            fired.push_back(time_of(nominal));
            EXPECT_GE(clock.wall_now(), nominal) << "never early";
        });
    }
    std::size_t pass_by_steps(std::chrono::nanoseconds time, std::chrono::nanoseconds step = 100ms) {
        std::size_t ran = 0;
        for (; time > 0s; time -= step) {
            clock.advance(step);
            ran += small->advance();
        }
        return ran;
    }

    std::optional<TimerService> small;
    std::optional<CalendarTriggers> crowded;
    Timeout other;
    int errors = 0;
};

// With one place left, the feeding had it, so no trigger could be armed; the feeding ended, could not be armed again
// while it had its place itself, and the triggers were never fed again.
TEST_F(CrowdedTriggersTest, one_place_is_enough_to_fire_all) {
    leave_places(1);
    ASSERT_TRUE(add_crowded("* * * * *").ok());
    const std::size_t ran = pass_by_steps(5min);
    EXPECT_EQ(fired, (Texts{"0:1", "0:2", "0:3", "0:4", "0:5"}));
    EXPECT_LE(ran, 12U) << "it is fed ahead and fires, and goes in no circle";
    for (int i = 1; i < 20; ++i) ASSERT_TRUE(add_crowded("* * * * *").ok());
    fired.clear();
    EXPECT_LE(pass_by_steps(3min + 2s), 100U);  // one each pass
    EXPECT_EQ(fired.size(), 60U);
}

TEST_F(CrowdedTriggersTest, a_few_places_serve_many_triggers) {
    leave_places(3);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(add_crowded("* * * * *", Misfire::fire_once).ok());
    EXPECT_LE(pass_by_steps(200s), 100U);
    EXPECT_EQ(fired.size(), 60U);
    EXPECT_EQ(crowded->size(), 20U);
}

// One that was added where there was no room was said to be added, and never fired.
TEST_F(CrowdedTriggersTest, one_without_capacity_is_refused) {
    leave_places(0);
    EXPECT_EQ(add_crowded("* * * * *").error().code, ErrorCode::timers_full);
    EXPECT_EQ(crowded->size(), 0U);
    other.cancel();
    ASSERT_TRUE(add_crowded("0 * * * *").ok());
    other = Timeout();
    pass_by_steps(2h, 1s);
    EXPECT_EQ(fired, (Texts{"1:0", "2:0"}));
    small->stop();
    EXPECT_EQ(add_crowded("* * * * *").error().code, ErrorCode::timers_stopped);
    EXPECT_EQ(crowded->size(), 1U);
}

// Its place was given up as it fired, another timer took it, and the trigger never fired again.
TEST_F(CrowdedTriggersTest, a_slot_used_by_others_meanwhile_is_not_lost) {
    leave_places(1);
    other.cancel();
    int taken = 0;
    ASSERT_TRUE(crowded
                    ->add(rule("* * * * *"), Misfire::skip,
                          [&](Instant nominal) {
                              fired.push_back(time_of(nominal));
                              while (small->schedule_after(9h, [] {})) ++taken;
                          })
                    .ok());
    pass_by_steps(3min);
    EXPECT_EQ(fired, (Texts{"0:1", "0:2", "0:3"}));
    EXPECT_EQ(taken, 1);
}

TEST_F(CrowdedTriggersTest, a_waiting_feed_can_be_removed_and_overtaken) {
    leave_places(1);
    const CalendarTriggers::Id first = add_crowded("1 * * * *").value();
    ASSERT_TRUE(add_crowded("2 * * * *").ok());
    pass_by_steps(58s);
    EXPECT_EQ(crowded->fed(), 1U);
    EXPECT_EQ(add_crowded("59 * * * * *").error().code, ErrorCode::timers_full) << "it would be fed too late";
    EXPECT_EQ(crowded->size(), 2U);
    other.cancel();
    small->advance();
    ASSERT_TRUE(add_crowded("59 * * * * *").ok());
    EXPECT_TRUE(crowded->remove(first));
    EXPECT_EQ(crowded->fed(), 0U);
    pass_by_steps(63s);
    EXPECT_EQ(fired, (Texts{"0:0:59", "0:1:59", "0:2"}));
}

TEST_F(CrowdedTriggersTest, an_earlier_feeding_fires_nothing_early) {
    leave_places(1);
    ASSERT_TRUE(add_crowded("1 * * * *").ok());
    pass_by_steps(58s);
    EXPECT_EQ(crowded->fed(), 1U);
    ASSERT_TRUE(add_crowded("2 1 * * * ?").ok()) << "fed two seconds ahead, which is in time";
    other.cancel();
    small->advance();
    ASSERT_TRUE(add_crowded("59 0 * * * ?").ok());
    pass_by_steps(1min);
    EXPECT_EQ(fired, (Texts{"0:0:59", "0:1", "0:1:2"}));
    EXPECT_EQ(crowded->fed(), 0U) << "the one that waited on was not counted twice";
}

TEST_F(CrowdedTriggersTest, a_task_that_throws_in_the_place_of_the_feeding_ends_nothing) {
    leave_places(1);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(crowded
                        ->add(rule("* * * * *"), Misfire::skip,
                              [this](Instant nominal) {
                                  fired.push_back(time_of(nominal));
                                  throw std::runtime_error("task");
                              })
                        .ok());
    }
    pass_by_steps(2min + 1s);
    EXPECT_EQ(fired, (Texts{"0:1", "0:1", "0:2", "0:2"}));
    EXPECT_EQ(errors, 4);
}

// A task that cancelled the timer that ran it, by TimerService::current(), ended more than its trigger where places are
// few: that timer was also the trigger's own for its next time, or the feeding of all.
TEST_F(CrowdedTriggersTest, a_task_has_no_timer_that_it_could_cancel) {
    for (const std::size_t places : {1, 2, 1000}) {
        leave_places(places);
        fired.clear();
        other.cancel();
        ASSERT_TRUE(crowded
                        ->add(rule("* * * * *"), Misfire::skip,
                              [this](Instant) {
                                  fired.push_back("cancels");
                                  EXPECT_FALSE(TimerService::current());
                                  EXPECT_EQ(TimerService::current().cancel(), CancelOutcome::already_done);
                              })
                        .ok());
        ASSERT_TRUE(crowded->add(rule("* * * * *"), Misfire::skip, [this](Instant) { fired.push_back("other"); }).ok());
        pass_by_steps(2min + 2s);
        EXPECT_EQ(std::count(fired.begin(), fired.end(), "cancels"), 2) << places;
        EXPECT_EQ(std::count(fired.begin(), fired.end(), "other"), 2) << places;
        crowded.reset();
    }
}

// A clock that runs a function just before its wall clock is read for the n-th time.
class CrossedClock final : public TimerClock {
  public:
    explicit CrossedClock(ManualClock& clock) : clock_(clock) {}
    TimerInstant now() const override { return clock_.now(); }
    Instant wall_now() const override {
        if (readings_left_ > 0 && --readings_left_ == 0) happens_();
        return clock_.wall_now();
    }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return clock_.make_alarm(); }
    void before_reading(int number, std::function<void()> happens) {
        happens_ = std::move(happens);
        readings_left_ = number;
    }

  private:
    ManualClock& clock_;
    std::function<void()> happens_;
    mutable std::atomic<int> readings_left_ = 0;
};

// A feeding fell due, and its task had begun, as another one was armed in its place: it is not the feeding any more.
// This was not checked.
TEST_F(CalendarTriggersTest, a_feeding_that_another_one_has_replaced_feeds_nothing) {
    CrossedClock crossed(clock);
    TimerService crossing({}, crossed);
    CalendarTriggers own(crossing);
    const auto note = [this](Instant nominal) { fired.push_back(time_of(nominal)); };
    ASSERT_TRUE(own.add(rule("0 10 * * *"), Misfire::fire_all, note).ok());
    std::thread driver;
    const auto fall_due = [&] {
        clock.advance(10h - 4s);
        driver = std::thread([&] { crossing.advance(); });
        while (crossing.statistics().fired == 0) std::this_thread::yield();
    };
    // The third reading is that of the new feeding's timer, after it was found that it would be the earlier one.
    crossed.before_reading(3, fall_due);
    ASSERT_TRUE(own.add(rule("0 9 * * *"), Misfire::fire_all, note).ok());
    ASSERT_TRUE(driver.joinable());
    driver.join();
    EXPECT_EQ(own.fed(), 0U);
    for (int second = 0; second < 10; ++second) {
        crossing.advance();
        clock.advance(1s);
    }
    EXPECT_EQ(fired, (Texts{"9:0", "10:0"}));
    EXPECT_EQ(own.fed(), 0U);
}

// What others do with the service's places, at every moment, strands no trigger.
TEST(CalendarTriggersRace, every_trigger_still_fires_after_others_have_had_all_places) {
    ManualClock clock(Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}});
    std::atomic<int> handed = 0;
    TaskPool pool(2);
    const auto executor = [&](TimerTask task) {
        ++handed;
        pool.post([&, own = std::move(task)]() mutable {
            own();
            --handed;
            handed.notify_all();
        });
    };
    TimerService service({.max_pending = 6, .executor = executor}, clock);
    std::atomic<bool> ends = false;
    {
        CalendarTriggers triggers(service);
        std::map<CalendarTriggers::Id, std::shared_ptr<std::atomic<int>>> runs;
        const CronSchedule often(CronRule::parse("*/2 * * * * *").value(), Zone::utc());
        const auto add = [&] {
            auto count = std::make_shared<std::atomic<int>>(0);
            const auto id = triggers.add(often, Misfire::skip, [count](Instant) { ++*count; });
            if (id) runs.emplace(*id, count);
        };
        for (int i = 0; i < 4; ++i) add();
        std::vector<std::thread> others;
        for (int i = 0; i < 2; ++i) {
            others.emplace_back([&] {
                while (!ends) {
                    std::vector<Timeout> held;
                    while (Result<Timeout> one = service.schedule_after(1h, [] {})) held.push_back(*std::move(one));
                    for (Timeout& timeout : held) timeout.cancel();
                }
            });
        }
        for (int step = 0; step < 600; ++step) {
            clock.advance(100ms);
            service.advance();
            if (step % 7 == 0) add();
            if (step % 11 == 0 && runs.size() > 3) {
                EXPECT_TRUE(triggers.remove(runs.begin()->first));
                runs.erase(runs.begin());
            }
        }
        ends = true;
        for (std::thread& thread : others) thread.join();
        ASSERT_GE(runs.size(), 3U);
        std::map<CalendarTriggers::Id, int> before;
        for (const auto& [id, count] : runs) before[id] = *count;
        const auto all_ran = [&] {
            return std::all_of(runs.begin(), runs.end(),
                               [&](const auto& run) { return *run.second > before[run.first]; });
        };
        for (int step = 0; step < 200 && !all_ran(); ++step) {
            clock.advance(100ms);
            service.advance();
            for (int running = handed; running != 0; running = handed) handed.wait(running);
        }
        EXPECT_TRUE(all_ran());
        EXPECT_EQ(triggers.size(), runs.size());
    }
    EXPECT_EQ(service.pending(), 0U);
}

// ---- a service with another policy for a wall that is set ----

// The policy is for timers that say nothing else. Triggers are read by the wall, yet with `skip` a jump over the
// feeding ended them for ever, and with `shift` all came later by the jump.
TEST_F(CalendarTriggersTest, follow_the_wall_clock_regardless_of_other_timers) {
    for (const WallJump policy : {WallJump::skip, WallJump::shift}) {
        ManualClock own(Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}});
        TimerService strict({.wall_jump = policy}, own);
        CalendarTriggers jumping(strict);
        fired.clear();
        const auto note = [this](Instant nominal) { fired.push_back(time_of(nominal)); };
        ASSERT_TRUE(jumping.add(rule("0 * * * *"), Misfire::fire_once, note).ok());
        const auto go_on = [&](std::chrono::seconds time) {
            for (; time > 0s; time -= 1s) {
                strict.advance();
                own.advance(1s);
            }
            strict.advance();
        };
        go_on(1min);
        own.set_wall(own.wall_now() + 90min);  // over one that is planned
        go_on(29min);
        EXPECT_EQ(fired, (Texts{"1:0", "2:0"}));
        go_on(1h - 2s);
        EXPECT_EQ(jumping.fed(), 1U);
        own.set_wall(own.wall_now() + 1min);  // over one that lies on the wheel
        go_on(1s);
        EXPECT_EQ(fired, (Texts{"1:0", "2:0", "3:0"}));
        go_on(1h);
        EXPECT_EQ(fired.size(), 4U);
    }
}

TEST_F(CalendarTriggersTest, leaves_no_timer_behind) {
    {
        CalendarTriggers own(service);
        ASSERT_TRUE(own.add(rule("* * * * *"), Misfire::skip, [](Instant) { ADD_FAILURE(); }).ok());
        pass(57s);
    }
    pass(1h);
    EXPECT_EQ(service.pending(), 0U);
}

// ---- destroyed while a task runs ----

// The triggers have memory of their own: an access after their destruction is an invalid access.
class DestroyedTriggersTest : public CalendarTriggersTest {
  protected:
    CalendarTriggers::Id add_own(std::function<void()> task) {
        return own->add(rule("* * * * *"), Misfire::skip, [run = std::move(task)](Instant) { run(); }).value();
    }
    // In a task: stays there, for as long as it takes to destroy the triggers if that does not wait.
    void linger() {
        inside.count_down();
        for (int turn = 0; turn < 20'000 && !destroyed; ++turn) std::this_thread::yield();
        EXPECT_FALSE(destroyed) << "the destructor waits for the tasks that run";
    }
    void destroy_while_it_runs(const std::function<void()>& before) {
        pass(58s);
        clock.advance(2s);
        std::thread driver([this] { service.advance(); });
        inside.wait();
        before();
        own.reset();
        destroyed = true;
        driver.join();
        pass(1h);
        EXPECT_EQ(service.pending(), 0U);
    }

    std::unique_ptr<CalendarTriggers> own = std::make_unique<CalendarTriggers>(service);
    std::latch inside{1};
    std::atomic<bool> destroyed = false;
};

// The destructor waited for the timers of the triggers that there were. Of one that was removed while it ran there was
// none any more: the run continued in destroyed triggers, and locked a mutex in memory of another object.
TEST_F(DestroyedTriggersTest, waits_for_the_run_of_a_trigger_that_was_removed) {
    const CalendarTriggers::Id id = add_own([this] { linger(); });
    destroy_while_it_runs([this, id] { EXPECT_TRUE(own->remove(id)); });
}

// The same where the task itself had removed its trigger.
TEST_F(DestroyedTriggersTest, waits_for_the_run_of_a_trigger_that_removed_itself) {
    CalendarTriggers::Id id = 0;
    id = add_own([this, &id] {
        EXPECT_TRUE(own->remove(id));
        linger();
    });
    destroy_while_it_runs([] {});
}

TEST_F(DestroyedTriggersTest, waits_for_a_run_and_fires_nothing_that_it_adds) {
    add_own([this, &going = *own] {
        linger();
        ASSERT_TRUE(going.add(rule("* * * * *"), Misfire::skip, [](Instant) { ADD_FAILURE(); }).ok());
    });
    destroy_while_it_runs([] {});
}

// A task that destroys the triggers would wait for itself. It does not, and nothing is touched after it.
TEST_F(DestroyedTriggersTest, a_task_may_destroy_them) {
    for (const std::size_t places : {std::size_t(1), TimerOptions::kUnlimited}) {
        for (const bool throws : {false, true}) {
            int errors = 0;
            TimerService small({.max_pending = places, .on_error = [&](auto&&...) { ++errors; }}, clock);
            own = std::make_unique<CalendarTriggers>(small);
            int runs = 0;
            add_own([&] {
                own.reset();
                ++runs;
                if (throws) throw std::runtime_error("task");
            });
            add_own([&] { ++runs; });
            for (int second = 0; second < 130; ++second) {
                clock.advance(1s);
                small.advance();
            }
            EXPECT_EQ(runs, 1);
            EXPECT_EQ(errors, throws ? 1 : 0);
            EXPECT_EQ(small.pending(), 0U);
        }
    }
}

// What a task holds was destroyed under the lock, so that what it then called waited for ever.
TEST_F(DestroyedTriggersTest, objects_of_a_task_may_call_in_their_destructors) {
    const auto holds = [this] {
        return std::shared_ptr<int>(new int, [this](const int* held) {
            delete held;
            fired.push_back(std::to_string(triggers.size()));
        });
    };
    const auto add_holding = [&](const char* text) {
        return triggers.add(rule(text), Misfire::skip, [held = holds()](Instant) {}).value();
    };
    EXPECT_TRUE(triggers.remove(add_holding("* * * * *")));
    add_holding("0 0 5 21 NOV ? 2026");  // once
    pass(6h);
    EXPECT_EQ(fired, (Texts{"0", "0"}));
}

}  // namespace
}  // namespace duewheel
