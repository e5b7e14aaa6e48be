#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "timer/patterns/virtual_time_fixture.h"
#include <duewheel/patterns/calendar_triggers.h>

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
    // The machine sleeps, or nobody drives: nothing happens meanwhile.
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
    EXPECT_EQ(never.error().code, "never_fires");
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

TEST_F(CalendarTriggersTest, a_service_without_room_is_asked_again_and_not_in_a_circle) {
    TimerService small({.max_pending = 3}, clock);
    CalendarTriggers crowded(small);
    int runs = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(crowded.add(rule("* * * * *"), Misfire::fire_once, [&](Instant) { ++runs; }).ok());
    }
    std::size_t passes = 0;
    for (int step = 0; step < 2000; ++step) {
        clock.advance(100ms);
        passes += small.advance();
    }
    EXPECT_GE(runs, 20);
    EXPECT_LT(passes, 1500U);
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

}  // namespace
}  // namespace duewheel
