// Calendar triggers: tasks by cron rules, of which only those that are due soon are on the wheel.
//
// Like xxl-job's ring and Quartz's triggers. A hundred thousand nightly jobs need no timers all day long: they wait
// here in the order of their next instants, and are put on the service's wheel some seconds ahead. Why choose it over
// TimerService::schedule_cron(): each trigger has a policy for missed firings, after a suspend or a change of the wall
// clock; the task gets its nominal instant; and a waiting trigger needs no timer. Drawbacks: adding and firing cost
// O(log n), and while anything waits, one slot of the service's max_pending is used; with no more than that one,
// triggers fire one after the other.
//
// A firing that comes more than `misfire_after` late is a misfire:
//
//     Misfire::skip         it is skipped
//     Misfire::fire_once    all missed ones fire once together, as the last of them
//     Misfire::fire_all     each fires, one after the other
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
    // A trigger is put on the wheel this far ahead: from a millisecond to a year of 366 days.
    std::chrono::milliseconds ahead = std::chrono::seconds(5);
    std::chrono::milliseconds misfire_after = std::chrono::seconds(5);  // 0 or more
};

// Thread safe. The service must outlive it and have a driver; rules use the wall clock of its clock, also after it is
// set: TimerOptions::wall_jump is for other timers.
class CalendarTriggers {
  public:
    using Id = std::uint64_t;  // from 1 on, never the same twice
    using Task = std::function<void(Instant nominal)>;

    // Throws std::invalid_argument for options out of range.
    explicit CalendarTriggers(TimerService& service, TriggerOptions options = {});
    CalendarTriggers(const CalendarTriggers&) = delete;
    CalendarTriggers& operator=(const CalendarTriggers&) = delete;
    // Removes all, and waits for running tasks, also of removed triggers; in a task, for all except that one.
    ~CalendarTriggers();

    // Fires at each instant of the schedule later than `after`, which is now by default; a past instant is that of the
    // last firing before a restart. Runs of one trigger never overlap. Exceptions of a task go to the service's
    // on_error. In a task, TimerService::current() is empty: use remove() to end a trigger. Codes:
    // never_fires, timers_stopped, and timers_full if there is no slot in time. Throws std::invalid_argument without a
    // task. O(log n).
    Result<Id> add(CronSchedule schedule, Misfire misfire, Task task, std::optional<Instant> after = std::nullopt);

    // True: it no longer starts to run. False: there is none with this id (any more). O(log n).
    bool remove(Id id);

    // The nominal instant of its next firing, or of the running one.
    [[nodiscard]] std::optional<Instant> next(Id id) const;

    [[nodiscard]] std::size_t size() const;
    // Those that are on the wheel now.
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
    const std::shared_ptr<Gate> gate_;  // shared with the tasks on the wheel, which may outlive the triggers
    mutable std::mutex mutex_;          // guards everything below
    std::unordered_map<Id, std::shared_ptr<Trigger>> triggers_;  // shared with the run that may outlive a removal
    std::set<std::pair<Instant, Id>> plan_;                      // those that are not on the wheel
    std::size_t fed_ = 0;
    Timeout feeding_;
    std::uint64_t feedings_ = 0;  // the number of that one; an earlier one that still comes is none any more
    std::optional<Instant> feeds_at_;
    bool feeding_runs_ = false;
    std::optional<Id> stand_in_;  // the trigger without its own timer, which fires from the feeding timer
    Id last_id_ = 0;
};

}  // namespace duewheel
