// Calendar triggers: tasks by cron rules, of which only those that are due soon lie on the wheel.
//
// What xxl-job does with its ring and Quartz with its triggers. A hundred thousand nightly jobs need no timer each all
// day long: they wait here in the order of their next instants, and some seconds ahead they are fed to the service's
// wheel. Why choose it over TimerService::schedule_cron(): what becomes of firings that were missed, while the machine
// slept or the wall clock was set, is chosen for each trigger; the task is told its nominal instant; and a trigger that
// waits costs no timer. What it gives up: adding and firing cost O(log n), and while anything waits one of the
// service's places is kept; with no more than that one, triggers fire one after the other.
//
// A firing that comes more than `misfire_after` late is a misfire:
//
//     Misfire::skip         it does not happen
//     Misfire::fire_once    all that were missed together happen once, as the last of them
//     Misfire::fire_all     each happens, one after the other
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock(sys_days{2026y / November / 21});
//     TimerService service({}, clock);
//     CalendarTriggers triggers(service);
//     std::vector<Instant> fired;
//     const CronSchedule hourly(*CronRule::parse("@hourly"), Zone::utc());
//     const auto id = triggers.add(hourly, Misfire::skip, [&](Instant nominal) { fired.push_back(nominal); });
//     if (!id) return id.error();
//     clock.advance(1h);
//     service.advance();                                   // fed, a little late, but in time
//     service.advance();
//     assert(fired == std::vector<Instant>{sys_days{2026y / November / 21} + 1h});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <duewheel/cron_schedule.h>
#include <duewheel/instant.h>
#include <duewheel/status.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_task.h>

namespace duewheel {

enum class Misfire : std::uint8_t { skip, fire_once, fire_all };

struct TriggerOptions {
    // This far ahead a trigger goes onto the wheel: from a millisecond to a year of 366 days.
    std::chrono::milliseconds ahead = std::chrono::seconds(5);
    std::chrono::milliseconds misfire_after = std::chrono::seconds(5);  // 0 or more
};

// Thread safe. The service outlives it and has a driver; its clock's wall is what the rules are read by, also when it
// is set: TimerOptions::wall_jump is for other timers.
class CalendarTriggers {
  public:
    using Id = std::uint64_t;  // from 1 on, never the same twice
    using Task = std::function<void(Instant nominal)>;

    // Throws std::invalid_argument for options that are out of range.
    explicit CalendarTriggers(TimerService& service, TriggerOptions options = {});
    CalendarTriggers(const CalendarTriggers&) = delete;
    CalendarTriggers& operator=(const CalendarTriggers&) = delete;
    // Removes all, and waits for tasks that run, also of triggers that were removed; from a task, for all but that one.
    ~CalendarTriggers();

    // Fires at each instant of the schedule later than `after`, which is now unless it is given; one in the past is
    // when it last fired, before a restart. Of one trigger no two runs overlap. What a task throws goes to the
    // service's on_error. In a task, TimerService::current() names no timer: remove() is what ends a trigger. Codes:
    // never_fires, timers_stopped, and timers_full where there is no place to feed it from in time. Throws
    // std::invalid_argument where there is no task. O(log n).
    Result<Id> add(CronSchedule schedule, Misfire misfire, Task task, std::optional<Instant> after = std::nullopt);

    // True: it does not begin to run any more. False: there is none of this id (any more). O(log n).
    bool remove(Id id);

    // The nominal instant of its next firing, or of the one that is running.
    [[nodiscard]] std::optional<Instant> next(Id id) const;

    [[nodiscard]] std::size_t size() const;
    // Those that lie on the wheel just now.
    [[nodiscard]] std::size_t fed() const;

  private:
    struct Trigger;
    class Gate;

    template <auto kWhat>
    TimerTask through_gate(std::uint64_t number);
    void feed(std::uint64_t feeding);
    void let_stand_in_fire();
    void feed_plan();
    void come_again(Instant instant);
    void put_into_plan(Id id, Trigger& trigger);
    void take_from_plan(Id id, Trigger& trigger);
    Status arm_feeding();
    void fire(Id id);
    void plan_next(Id id, Trigger& trigger);

    TimerService& service_;
    const TriggerOptions options_;
    const std::shared_ptr<Gate> gate_;  // shared with the tasks on the wheel, which may find the triggers gone
    mutable std::mutex mutex_;          // guards all below
    std::unordered_map<Id, std::shared_ptr<Trigger>> triggers_;  // shared with the run that may outlive a removal
    std::set<std::pair<Instant, Id>> plan_;                      // those that are not on the wheel
    std::size_t fed_ = 0;
    Timeout feeding_;
    std::uint64_t feedings_ = 0;  // the number of that one; an earlier one that still comes is none any more
    std::optional<Instant> feeds_at_;
    bool feeding_runs_ = false;
    std::optional<Id> stand_in_;  // the trigger that got no timer of its own, and fires from the feeding's
    Id last_id_ = 0;
};

}  // namespace duewheel
