// What late runs lead to: one table for everything in the library that comes again. HashedWheelTimer and SystemTimer
// have no periods.
//
// Interval with `skip` or `delay` beat twice after its driver had been held up: it decided when the next beat was due
// only as that was awaited, from the beat before.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <duewheel/coroutine.h>
#include <duewheel/manual_clock.h>
#include <duewheel/patterns/calendar_triggers.h>
#include <duewheel/patterns/task_timer.h>
#include <duewheel/task.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Moments = std::vector<milliseconds>;

// A clock whose alarms ring only to say that the end has come: the thread of a TaskTimer rests, and the test drives its
// service.
class UndrivenClock final : public TimerClock {
  public:
    explicit UndrivenClock(ManualClock& clock) : clock_(clock) {}
    TimerInstant now() const override { return clock_.now(); }
    Instant wall_now() const override { return clock_.wall_now(); }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return std::make_unique<Alarm>(*this); }
    void wait_until_rests() const { rests_.wait(false); }

  private:
    struct Alarm final : TimerAlarm {
        explicit Alarm(const UndrivenClock& clock_of) : clock(clock_of) {}
        void set(TimerInstant instant) override {
            if (instant > TimerInstant()) return;
            rung = true;
            rung.notify_all();
        }
        void wait() override {
            clock.rests_ = true;
            clock.rests_.notify_all();
            rung.wait(false);
        }
        const UndrivenClock& clock;
        std::atomic<bool> rung = false;
    };

    ManualClock& clock_;
    mutable std::atomic<bool> rests_ = false;
};

// A period of a second, the first run after one. The driver comes to nothing between 1.5 s and `held_until`; the run
// number `slow_run` takes `takes`.
struct Lateness {
    const char* name;
    milliseconds held_until;
    std::size_t slow_run;
    milliseconds takes;
    // What has been missed ...
    Moments burst;     // is made up for, one by one
    Moments once;      // is made up for once
    Moments grid;      // once if the driver was late; time during a run is excluded
    Moments only_due;  // does not happen at all
    Moments new_grid;  // moves all that comes
    Moments from_end;  // does not matter
};

const std::vector<Lateness> kTable = {
    {"on time",
     0ms,
     0,
     0ms,  //
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms}},
    {"driver late by less than a period",
     2500ms,
     0,
     0ms,
     {1000ms, 2500ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2500ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2500ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2500ms, 3000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 2500ms, 3500ms, 4500ms, 5500ms, 6500ms, 7500ms}},
    {"driver late by more than one period",
     3300ms,
     0,
     0ms,
     {1000ms, 3300ms, 3300ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3300ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3300ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3300ms, 4300ms, 5300ms, 6300ms, 7300ms},
     {1000ms, 3300ms, 4300ms, 5300ms, 6300ms, 7300ms}},
    {"driver late by several periods",
     4500ms,
     0,
     0ms,
     {1000ms, 4500ms, 4500ms, 4500ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4500ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4500ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4500ms, 5500ms, 6500ms, 7500ms},
     {1000ms, 4500ms, 5500ms, 6500ms, 7500ms}},
    {"run longer than one period",
     0ms,
     1,
     2300ms,
     {1000ms, 3300ms, 3300ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3300ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 3300ms, 4300ms, 5300ms, 6300ms, 7300ms},
     {1000ms, 4300ms, 5300ms, 6300ms, 7300ms}},
    {"run longer than several periods",
     0ms,
     1,
     3500ms,
     {1000ms, 4500ms, 4500ms, 4500ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4500ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 5000ms, 6000ms, 7000ms},
     {1000ms, 4500ms, 5500ms, 6500ms, 7500ms},
     {1000ms, 5500ms, 6500ms, 7500ms}},
    {"driver late by several periods, and a late run longer than one",
     4500ms,
     2,
     1700ms,
     {1000ms, 4500ms, 6200ms, 6200ms, 6200ms, 6200ms, 7000ms},
     {1000ms, 4500ms, 6200ms, 7000ms},
     {1000ms, 4500ms, 7000ms},
     {1000ms, 5000ms, 7000ms},
     {1000ms, 4500ms, 6200ms, 6500ms, 7500ms},
     {1000ms, 4500ms, 7200ms}},
};

// One clock, and one service that the test drives.
struct World {
    explicit World(const Lateness& row_) : row(row_) {}

    milliseconds now() const { return std::chrono::duration_cast<milliseconds>(clock.now().time_since_epoch()); }
    void run() {
        runs.push_back(now());
        if (runs.size() == row.slow_run) clock.advance(row.takes);
    }
    TimerTask task() {
        return [this] { run(); };
    }
    // Goes from expiry to expiry, as a driver that sleeps does, and is held up once.
    void drive(TimerService& driven) {
        for (TimerInstant next; (next = driven.next_expiry()) <= TimerInstant(7800ms);) {
            const bool is_held = next > TimerInstant(1500ms) && next < TimerInstant(row.held_until);
            clock.advance_to(std::max(clock.now(), is_held ? TimerInstant(row.held_until) : next));
            driven.advance();
        }
    }

    const Lateness& row;
    ManualClock clock{Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}}};
    TimerService service{{}, clock};
    Moments runs;
};

struct Surface {
    const char* name;
    Moments Lateness::*expected;
    std::function<void(World&)> run;
};

Task<void> beat(World& world, MissedPeriods missed) {
    Interval interval(world.service, 1s, missed);
    while (co_await interval.next() == SleepEnd::elapsed) world.run();
}

std::function<void(World&)> fixed_rate(MissedPeriods missed) {
    return [missed](World& world) {
        ASSERT_TRUE(world.service.schedule_at_fixed_rate(1s, 1s, world.task(), missed).ok());
        world.drive(world.service);
    };
}

std::function<void(World&)> interval(MissedPeriods missed) {
    return [missed](World& world) {
        start(beat(world, missed));
        world.drive(world.service);
        world.service.stop();
    };
}

std::function<void(World&)> triggers(Misfire misfire) {
    return [misfire](World& world) {
        CalendarTriggers triggers(world.service, {.ahead = 1ms, .misfire_after = 0ms});
        const CronSchedule each_second(*CronRule::parse("* * * * * *"), Zone::utc());
        ASSERT_TRUE(triggers.add(each_second, misfire, [&](Instant) { world.run(); }).ok());
        world.drive(world.service);
    };
}

std::function<void(World&)> task_timer(Result<Timeout> (TaskTimer::*schedule)(TimerTask, std::chrono::nanoseconds,
                                                                              std::chrono::nanoseconds)) {
    return [schedule](World& world) {
        const UndrivenClock clock(world.clock);
        TaskTimer timer({}, clock);
        clock.wait_until_rests();
        ASSERT_TRUE((timer.*schedule)(world.task(), 1s, 1s).ok());
        world.drive(timer.service());
        static_cast<void>(timer.service().rest());  // so that the thread is woken for the end
    };
}

const std::vector<Surface> kSurfaces = {
    {"schedule_at_fixed_rate, burst", &Lateness::burst, fixed_rate(MissedPeriods::burst)},
    {"schedule_at_fixed_rate, skip", &Lateness::grid, fixed_rate(MissedPeriods::skip)},
    {"schedule_at_fixed_rate, delay", &Lateness::new_grid, fixed_rate(MissedPeriods::delay)},
    {"schedule_with_fixed_delay", &Lateness::from_end,
     [](World& world) {
         ASSERT_TRUE(world.service.schedule_with_fixed_delay(1s, 1s, world.task()).ok());
         world.drive(world.service);
     }},
    {"schedule_cron", &Lateness::grid,
     [](World& world) {
         const CronSchedule each_second(*CronRule::parse("* * * * * *"), Zone::utc());
         ASSERT_TRUE(world.service.schedule_cron(each_second, world.task()).ok());
         world.drive(world.service);
     }},
    {"Interval, burst", &Lateness::burst, interval(MissedPeriods::burst)},
    {"Interval, skip", &Lateness::once, interval(MissedPeriods::skip)},
    {"Interval, delay", &Lateness::new_grid, interval(MissedPeriods::delay)},
    {"TaskTimer::schedule", &Lateness::new_grid, task_timer(&TaskTimer::schedule)},
    {"TaskTimer::schedule_at_fixed_rate", &Lateness::burst, task_timer(&TaskTimer::schedule_at_fixed_rate)},
    {"CalendarTriggers, fire_all", &Lateness::burst, triggers(Misfire::fire_all)},
    {"CalendarTriggers, fire_once", &Lateness::once, triggers(Misfire::fire_once)},
    {"CalendarTriggers, skip", &Lateness::only_due, triggers(Misfire::skip)},
};

TEST(Lateness, all_kinds_of_repetition_follow_one_table) {
    for (const Lateness& row : kTable) {
        for (const Surface& surface : kSurfaces) {
            SCOPED_TRACE(std::string(surface.name) + ", " + row.name);
            World world(row);
            surface.run(world);
            Moments expected = row.*surface.expected;
            EXPECT_EQ(world.runs, expected);
        }
    }
}

// A late run that begins on an instant of a grid is that instant's run, too. To a calendar that instant is one of its
// own, and not among what was missed.
TEST(Lateness, a_late_run_on_the_grid_is_not_followed_by_another) {
    const Lateness row{"driver late until 4 s", 4000ms, 0, 0ms, {}, {}, {}, {}, {}, {}};
    for (const Surface& surface : kSurfaces) {
        const std::string name = surface.name;
        if (surface.expected == &Lateness::burst) continue;
        if (name == "schedule_cron" || name == "CalendarTriggers, fire_once") continue;
        World world(row);
        surface.run(world);
        EXPECT_EQ(world.runs, (Moments{1000ms, 4000ms, 5000ms, 6000ms, 7000ms})) << name;
    }
}

}  // namespace
}  // namespace duewheel
