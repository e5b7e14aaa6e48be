// What the timer library is given by a program and cannot mean: no time, less than no time, more than there is, nothing
// to call. Everything of that kind of each public header is a row here.
//
// Some were assertions, which are gone where it matters, so that a lease of nothing was renewed in a circle and a queue
// with a tick of nothing divided by it; others were made into something else in silence. Now each throws
// std::invalid_argument with a sentence that says what to do, in every build, and leaves nothing behind.
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include <duewheel/coroutine.h>
#include <duewheel/embedded_timer.h>
#include <duewheel/exclusion_calendar.h>
#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/jitter.h>
#include <duewheel/patterns/calendar_triggers.h>
#include <duewheel/patterns/delay_queue.h>
#include <duewheel/patterns/hashed_wheel_timer.h>
#include <duewheel/patterns/heartbeat_table.h>
#include <duewheel/patterns/pending_requests.h>
#include <duewheel/patterns/purgatory.h>
#include <duewheel/patterns/retry.h>
#include <duewheel/patterns/system_timer.h>
#include <duewheel/patterns/task_timer.h>
#include <duewheel/patterns/watchdog_group.h>
#include <duewheel/patterns/watchdog_lease.h>
#include <duewheel/repeating_interval.h>
#include <duewheel/task.h>
#include <duewheel/task_pool.h>
#include <duewheel/timer_descriptor.h>
#include <duewheel/timer_thread.h>
#include <duewheel/timing_wheel.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kLongest = nanoseconds::max();
constexpr nanoseconds kMostNegative = nanoseconds::min();

class Arguments : public VirtualTime {
  protected:
    struct Row {
        const char* what;
        std::function<void()> does;
        const char* remedy = "";  // what the sentence must say
    };

    void refuses(const std::vector<Row>& rows) {
        for (const Row& row : rows) {
            SCOPED_TRACE(row.what);
            try {
                row.does();
                ADD_FAILURE() << "was accepted";
            } catch (const std::invalid_argument& refusal) {
                const std::string sentence = refusal.what();
                EXPECT_NE(sentence.find(": "), sentence.npos) << sentence << " does not say who refuses";
                EXPECT_TRUE(sentence.ends_with('.')) << sentence;
                EXPECT_NE(sentence.find(row.remedy), sentence.npos) << sentence << " does not say what to do";
            }
        }
        EXPECT_EQ(service.pending(), 0U) << "something was left behind";
    }
    void takes(const std::vector<Row>& rows) {
        for (const Row& row : rows) {
            SCOPED_TRACE(row.what);
            EXPECT_NO_THROW(row.does());
        }
    }

    std::function<void(const Timeout&)> no_timeout_task;
    std::function<void()> no_task;
    void (*no_function)() = nullptr;
    CronSchedule hourly{CronRule::parse("@hourly").value(), Zone::utc()};
};

TEST_F(Arguments, a_service_refuses_ticks_and_periods_of_zero) {
    const auto make = [this](TimerOptions options) { const TimerService made(std::move(options), clock); };
    refuses({
        {"tick 0", [&] { make({.tick = 0ns}); }, "at least 1 ns"},
        {"tick -1", [&] { make({.tick = -1ns}); }, "at least 1 ns"},
        {"tick min", [&] { make({.tick = kMostNegative}); }, "at least 1 ns"},
        {"slow_task -1", [&] { make({.slow_task = -1ns}); }, "0 to measure nothing"},
        {"rate 0", [&] { (void)service.schedule_at_fixed_rate(1s, 0s, [] {}); }, "at least a tick"},
        {"rate -5 s", [&] { (void)service.schedule_at_fixed_rate(1s, -5s, [] {}); }, "-5000000000 ns"},
        {"rate below a tick", [&] { (void)service.schedule_at_fixed_rate(1s, 999'999ns, [] {}); }, "1000000 ns"},
        {"delay 0", [&] { (void)service.schedule_with_fixed_delay(1s, 0s, [] {}); }, "at least 1 ns"},
        {"delay min", [&] { (void)service.schedule_with_fixed_delay(1s, kMostNegative, [] {}); }, "at least 1 ns"},
        {"beat 0", [&] { Interval(service, 0s); }, "at least a tick"},
        {"beat -1", [&] { Interval(service, -1ns); }, "at least a tick"},
        {"pool of nobody", [] { const TaskPool pool(0); }, "at least one"},
        {"thread of nobody",
         [&] { const TimerThread thread(service, [](const std::function<void()>&) { return std::thread(); }); },
         "Return one"},
        {"clock without descriptors", [&] { const TimerDescriptor descriptor(service); }, "system's clock"},
        {"time back", [&] { clock.advance(-1ns); }, "0 ns or more"},
        {"time back", [&] { clock.advance(kMostNegative); }, "0 ns or more"},
    });
    TimerService still({}, clock);
    EXPECT_THROW(const TimerThread thread(still, [](const std::function<void()>&) { return std::thread(); }),
                 std::invalid_argument);
    static_cast<void>(still.rest());  // rings no alarm that is gone
}

TEST_F(Arguments, an_empty_callback_is_refused_everywhere) {
    HashedWheelTimer hashed({}, clock);
    SystemTimer system({}, clock);
    TaskTimer chores({}, clock);
    TaskPool pool(1);
    EmbeddedTimer embedded;
    PendingRequests<int> requests(service);
    Purgatory<int> purgatory(service);
    CalendarTriggers triggers(service);
    const Instant date = clock.wall_now() + 1h;
    const auto renew = [] { return Renewal::renewed; };
    refuses({
        {"schedule_after, std::function", [&] { (void)service.schedule_after(1s, no_task); }, "not null"},
        {"schedule_after, pointer", [&] { (void)service.schedule_after(1s, no_function); }, "not null"},
        {"schedule_after, task", [&] { (void)service.schedule_after(1s, TimerTask()); }, "not null"},
        {"schedule_after, named", [&] { (void)service.schedule_after(1s, named("n", no_function)); }, "not null"},
        {"schedule_at", [&] { (void)service.schedule_at(clock.now() + 1s, no_task); }, "not null"},
        {"schedule_at, wall", [&] { (void)service.schedule_at(date, TimerTask()); }, "not null"},
        {"fixed rate", [&] { (void)service.schedule_at_fixed_rate(1s, 1s, TimerTask()); }, "not null"},
        {"fixed rate, pointer", [&] { (void)service.schedule_at_fixed_rate(1s, 1s, no_function); }, "not null"},
        {"fixed delay", [&] { (void)service.schedule_with_fixed_delay(1s, 1s, TimerTask()); }, "not null"},
        {"cron", [&] { (void)service.schedule_cron(hourly, TimerTask()); }, "not null"},
        {"submit, std::function", [&] { (void)service.submit_after(1s, no_task); }, "not null"},
        {"submit, pointer", [&] { (void)service.submit_after(1s, no_function); }, "not null"},
        {"dispatch", [&] { service.dispatch(TimerTask()); }, "not null"},
        {"a task", [&] { const TimerTask task(no_task); }, "not null"},
        {"a pool's task", [&] { pool.post(TimerTask()); }, "not null"},
        {"embedded, at", [&] { (void)embedded.arm_at(service, clock.now(), no_task); }, "not null"},
        {"embedded, after", [&] { (void)embedded.arm_after(service, 1s, no_function); }, "not null"},
        {"hashed wheel timer", [&] { (void)hashed.new_timeout(no_task, 1s); }, "not null"},
        {"hashed wheel timer, own", [&] { (void)hashed.new_timeout(no_timeout_task, 1s); }, "not null"},
        {"system timer", [&] { (void)system.add(1s, no_task); }, "not null"},
        {"task timer", [&] { (void)chores.schedule(TimerTask(), 1s); }, "not null"},
        {"task timer, date", [&] { (void)chores.schedule(TimerTask(), date, 1s); }, "not null"},
        {"request", [&] { (void)requests.start(1s, nullptr); }, "callback"},
        {"operation, ready", [&] { (void)purgatory.try_complete_else_watch({1}, 1s, nullptr, [](Completion) {}); },
         "needs both"},
        {"operation, done",
         [&] {
             (void)purgatory.try_complete_else_watch(
                 {1}, 1s, [] { return true; }, nullptr);
         },
         "needs both"},
        {"trigger", [&] { (void)triggers.add(hourly, Misfire::skip, nullptr); }, "Give add()"},
        {"retry", [&] { (void)Retry::start(service, {}, nullptr); }, "Give start()"},
        {"lease", [&] { (void)WatchdogLease::hold(service, 30s, nullptr); }, "Give hold()"},
    });
    EXPECT_FALSE(hashed.wakeups() > 0);
    takes({
        {"nobody to be told of a lost lease", [&] { (void)WatchdogLease::hold(service, 30s, renew, nullptr); }},
        {"nobody to give up",
         [&] {
             (void)Retry::start(
                 service, {}, [](unsigned) { return true; }, nullptr);
         }},
        {"a function",
         [&] {
             (void)service.schedule_after(
                 0s, +[] {});
         }},
        {"a full std::function", [&] { (void)service.schedule_after(0s, std::function<void()>([] {})); }},
    });
    EXPECT_GE(service.advance(), 2U);
}

TEST_F(Arguments, patterns_refuse_invalid_times_and_numbers) {
    const auto triggers = [this](TriggerOptions options) { const CalendarTriggers made(service, options); };
    const auto retry = [this](RetryPolicy policy) {
        (void)Retry::start(service, policy, [](unsigned) { return false; });
    };
    const auto lease = [this](nanoseconds length) {
        (void)WatchdogLease::hold(service, length, [] { return Renewal::renewed; });
    };
    const auto hashed = [this](HashedWheelTimerOptions options) {
        const HashedWheelTimer made(std::move(options), clock);
    };
    TaskTimer chores({}, clock);
    HeartbeatTable table;
    refuses({
        {"queue, tick 0", [&] { const DelayQueue<int> queue(clock, 0ns); }, "at least 1 ns"},
        {"queue, tick -1", [&] { const DelayQueue<int> queue(clock, -1ns); }, "at least 1 ns"},
        {"ahead 0", [&] { triggers({.ahead = 0ms}); }, "366 days"},
        {"ahead -1", [&] { triggers({.ahead = -1ms}); }, "366 days"},
        {"ahead max", [&] { triggers({.ahead = milliseconds::max()}); }, "366 days"},
        {"misfire_after -1", [&] { triggers({.misfire_after = -1ms}); }, "0 ms or more"},
        {"no attempts", [&] { retry({.attempts_max = 0}); }, "at least 1"},
        {"jitter 101", [&] { retry({.jitter_percent = 101}); }, "0 to 100"},
        {"first_delay -1", [&] { retry({.first_delay = -1ns}); }, "0 ns or more"},
        {"delay min", [&] { retry({.delay = kMostNegative}); }, "0 ns or more"},
        {"delay_max -1", [&] { retry({.delay_max = -1ns}); }, "0 ns or more"},
        {"lease 0", [&] { lease(0s); }, "three ticks"},
        {"lease -1", [&] { lease(-1s); }, "three ticks"},
        {"lease of two ticks", [&] { lease(2ms); }, "three ticks"},
        {"lease of less than three", [&] { lease(3ms - 1ns); }, "three ticks"},
        {"group, no renewal", [&] { const WatchdogGroup<int> group(service, 30s, nullptr); }, "what to call"},
        {"group, lease of two ticks",
         [&] { (void)WatchdogGroup<int>(service, 2ms, [](const auto&) { return std::vector<Renewal>(); }).hold(1); },
         "three ticks"},
        {"hashed, tick 0", [&] { hashed({.tick = 0ns}); }, "at least 1 ns"},
        {"hashed, no wheel", [&] { hashed({.ticks_per_wheel = 0}); }, "from 1 to"},
        {"hashed, beyond", [&] { hashed({.ticks_per_wheel = std::numeric_limits<std::size_t>::max()}); }, "from 1 to"},
        {"system timer, tick 0", [&] { const SystemTimer timer({.tick = 0ns}, clock); }, "at least 1 ns"},
        {"task timer, tick 0", [&] { const TaskTimer timer({.tick = 0ns}, clock); }, "at least 1 ns"},
        {"chore each 0 s", [&] { (void)chores.schedule([] {}, 1s, 0s); }, "at least a tick"},
        {"chore at -1 s", [&] { (void)chores.schedule_at_fixed_rate([] {}, clock.wall_now(), -1s); },
         "at least a tick"},
        {"silence 0", [&] { (void)table.watch(1, 0, 0); }, "at least 1"},
    });
    EXPECT_EQ(HashedWheelTimer::instances(), 0U);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(chores.size(), 0U);
}

TEST_F(Arguments, calendars_refuse_days_and_periods_that_do_not_exist) {
    using namespace std::chrono;
    ExclusionCalendar closed;
    const auto repeat = [](Instant start, Period period, std::optional<std::uint64_t> count = std::nullopt) {
        return RepeatingInterval(start, period, count, Zone::utc());
    };
    const Instant begin = sys_days(2026y / November / 21);
    refuses({
        {"weekday 9", [&] { closed.exclude(weekday(9)); }, "ok()"},
        {"30 February of every year", [&] { closed.exclude(February / 30); }, "ok()"},
        {"month 13", [&] { closed.exclude(month(13) / 1); }, "ok()"},
        {"29 February 2026", [&] { closed.exclude(2026y / February / 29); }, "ok()"},
        {"a range to no date", [&] { closed.exclude(2026y / February / 1, 2026y / February / 30); }, "ok()"},
        {"no period", [&] { repeat(begin, {}); }, "Set at least one part"},
        {"back in time", [&] { repeat(begin, {.time = -1ms}); }, "less than zero"},
        {"back in months", [&] { repeat(begin, {.months = months(-1), .time = 1h}); }, "less than zero"},
        {"beyond", [&] { repeat(begin, {.time = milliseconds::max()}); }, "430 years"},
        {"days beyond", [&] { repeat(begin, {.days = days::max()}); }, "430 years"},
        {"months beyond", [&] { repeat(begin, {.months = months::max()}); }, "430 years"},
        {"0 times", [&] { repeat(begin, {.time = 1h}, 0); }, "at least 1"},
        {"before the calendar", [&] { repeat(kCalendarBegin - 1ms, {.time = 1h}); }, "1970"},
        {"after the calendar", [&] { repeat(kCalendarEnd, {.time = 1h}); }, "2399"},
    });
    EXPECT_TRUE(closed.empty());
    EXPECT_EQ(repeat(begin, {.days = days(430 * 365)}).next(begin), std::nullopt);
    EXPECT_EQ(repeat(begin, {.time = 1h}, std::numeric_limits<std::uint64_t>::max()).next(begin), begin + 1h);
    EXPECT_EQ(with_jitter(begin, "name", {.max = -1ms}), begin);
    EXPECT_GE(with_jitter(Instant::max(), "name", {.max = milliseconds::max()}), Instant::max());
}

// The longest times there are: they never come, and no sum of them passes the end. The lease of the longest length was
// lost the moment it was got.
TEST_F(Arguments, the_longest_times_wait_for_ever) {
    clock.advance(1h);
    int ran = 0;
    const auto run = [&] { ++ran; };
    const auto renew = [&] { return ++ran, Renewal::renewed; };
    DelayQueue<int> queue(clock);
    DelayQueue<int> coarse(clock, kLongest);
    PendingRequests<int> requests(service);
    Purgatory<int> purgatory(service);
    CalendarTriggers patient(service, {.ahead = 366 * 24h, .misfire_after = milliseconds::max()});
    std::vector<WatchdogLease> leases;
    TimerService slow({.tick = kLongest, .slow_task = kLongest}, clock);
    takes({
        {"after", [&] { (void)service.schedule_after(kLongest, run); }},
        {"at", [&] { (void)service.schedule_at(kNeverInstant, run); }},
        {"at, wall", [&] { (void)service.schedule_at(Instant::max(), run); }},
        {"rate", [&] { (void)service.schedule_at_fixed_rate(kLongest, kLongest, run); }},
        {"delay", [&] { (void)service.schedule_with_fixed_delay(kLongest, kLongest, run); }},
        {"slow", [&] { (void)slow.schedule_after(1ns, run); }},
        {"request", [&] { (void)requests.start(kLongest, [&](const Result<int>& answer) { ran += answer.ok(); }); }},
        {"operation",
         [&] {
             (void)purgatory.try_complete_else_watch(
                 {1}, kLongest, [] { return false; }, [](Completion) {});
         }},
        {"retry",
         [&] { (void)Retry::start(service, {.first_delay = kLongest}, [&](unsigned) { return ++ran, true; }); }},
        {"lease", [&] { leases.push_back(WatchdogLease::hold(service, kLongest, renew).value()); }},
        {"queue", [&] { ASSERT_TRUE(queue.put(1, kLongest)); }},
        {"queue, at", [&] { ASSERT_TRUE(queue.put_at(1, kNeverInstant)); }},
        {"coarse queue", [&] { ASSERT_TRUE(coarse.put(1, 1s)); }},
        {"trigger", [&] { (void)patient.add(hourly, Misfire::skip, [](Instant) {}); }},
    });
    clock.advance(30min);
    service.advance();
    slow.advance();
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(leases.front().is_held());
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_EQ(coarse.poll(), std::nullopt);
    EXPECT_EQ(queue.next_due(), kNeverInstant);
    SystemTimer system({}, clock);
    EXPECT_FALSE(system.advance_clock(kMostNegative));
}

// Less than no time, where it is a delay, is now; and an end of time that a manual clock is moved to is reached.
TEST_F(Arguments, the_shortest_delays_are_due_now_and_the_end_of_time_is_reached) {
    int ran = 0;
    const auto run = [&] { ++ran; };
    DelayQueue<int> queue(clock);
    PendingRequests<int> requests(service);
    takes({
        {"after", [&] { (void)service.schedule_after(kMostNegative, run); }},
        {"at", [&] { (void)service.schedule_at(TimerInstant::min(), run); }},
        {"at, wall", [&] { (void)service.schedule_at(Instant::min(), run); }},
        {"rate", [&] { (void)service.schedule_at_fixed_rate(kMostNegative, kLongest, run); }},
        {"delay", [&] { (void)service.schedule_with_fixed_delay(kMostNegative, kLongest, run); }},
        {"request", [&] { (void)requests.start(kMostNegative, [&](const Result<int>& answer) { ran += !answer; }); }},
        {"queue", [&] { ASSERT_TRUE(queue.put(1, kMostNegative)); }},
        {"queue, at", [&] { ASSERT_TRUE(queue.put_at(1, TimerInstant::min())); }},
    });
    service.advance();
    EXPECT_EQ(ran, 6);
    EXPECT_EQ(queue.drain(), (std::vector<int>{1, 1}));
    EXPECT_EQ(queue.take_for(kMostNegative), std::nullopt);
    service.stop();
    clock.advance(kLongest);
    clock.advance(kLongest);
    clock.advance_to(kNeverInstant);
    EXPECT_EQ(clock.now(), kNeverInstant - 1ns);
}

// A wheel that may touch nothing, or fill a list without room, does nothing and loses nothing.
template <class Wheel>
void moves_by_no_budget(Wheel& wheel) {
    EXPECT_EQ(wheel.advance_to(
                  20, [](auto&&...) { ADD_FAILURE(); }, 0),
              0U);
    EXPECT_FALSE(wheel.caught_up());
    int fired = 0;
    for (int passes = 0; passes < 100 && !wheel.caught_up(); ++passes) {
        wheel.advance_to(
            20, [&](auto&&...) { ++fired; }, 1);
    }
    EXPECT_EQ(fired, 1);
}

TEST(WheelArguments, a_budget_of_nothing_loses_nothing) {
    TimingWheel wheel;
    wheel.schedule(10, 7);
    EXPECT_EQ(wheel.advance_to(20, std::span<TimingWheel::Fired>()), 0U);
    moves_by_no_budget(wheel);
    IdTimingWheel ids(4);
    ids.schedule(3, 10);
    EXPECT_EQ(ids.advance_to(20, std::span<IdTimingWheel::Timer>()), 0U);
    moves_by_no_budget(ids);
    struct Timer : IntrusiveTimer {
    } timer;
    IntrusiveTimingWheel<Timer> intrusive;
    intrusive.schedule(timer, 10);
    moves_by_no_budget(intrusive);
    HeartbeatTable table;
    table.watch(7, 10, 0);
    EXPECT_EQ(table.advance_to(
                  20, [](std::uint64_t, Tick) { return Silence::forget; }, 0),
              0U);
    EXPECT_EQ(table.size(), 1U);
}

}  // namespace
}  // namespace duewheel
