// A trigger is in one of three places: in the plan, in the order of its next instant; on the wheel, with a timer of the
// service at that instant; or running. One timer more, the feeding, stands `ahead` of the first instant of the plan.
#include <algorithm>
#include <stdexcept>
#include <string>

#include <duewheel/patterns/calendar_triggers.h>

namespace duewheel {
namespace {

using std::chrono::milliseconds;

Error never_fires(const CronSchedule& schedule) {
    return Error{"never_fires",
                 "The rule '" + schedule.rule().text() + "' in " + schedule.zone().name() +
                     " has no firing to come. Look at its day, month and year, and at the excluded days."};
}

}  // namespace

struct CalendarTriggers::Trigger {
    enum class Place : std::uint8_t { planned, fed, running };

    CronSchedule schedule;
    Misfire misfire;
    Task task;
    Instant next;
    Place place = Place::planned;
    bool is_removed = false;
    Timeout timeout{};
};

CalendarTriggers::CalendarTriggers(TimerService& service, TriggerOptions options)
    : service_(service), options_(options) {
    const auto refuse = [](const char* setting, milliseconds value, const char* remedy) {
        throw std::invalid_argument("CalendarTriggers: TriggerOptions::" + std::string(setting) + " is " +
                                    std::to_string(value.count()) + " ms. " + remedy);
    };
    constexpr milliseconds kAheadMost = std::chrono::days(366);
    if (options.ahead < milliseconds(1) || options.ahead > kAheadMost) {
        refuse("ahead", options.ahead, "Take from 1 ms to 366 days.");
    }
    if (options.misfire_after < milliseconds(0)) refuse("misfire_after", options.misfire_after, "Take 0 ms or more.");
}

CalendarTriggers::~CalendarTriggers() {
    std::vector<Timeout> timeouts;
    {
        const std::lock_guard lock(mutex_);
        timeouts.push_back(feeding_);
        for (const auto& [id, trigger] : triggers_) {
            trigger->is_removed = true;
            timeouts.push_back(trigger->timeout);
        }
        triggers_.clear();
        plan_.clear();
    }
    for (Timeout& timeout : timeouts) timeout.cancel_and_wait();
}

Result<CalendarTriggers::Id> CalendarTriggers::add(CronSchedule schedule, Misfire misfire, Task task,
                                                   std::optional<Instant> after) {
    if (!task) throw std::invalid_argument("CalendarTriggers: a trigger without a task. Give add() what to call.");
    const std::optional<Instant> next = schedule.next(after.value_or(service_.clock().wall_now()));
    if (!next) return never_fires(schedule);
    const std::lock_guard lock(mutex_);
    const Id id = ++last_id_;
    const auto trigger = std::make_shared<Trigger>(Trigger{std::move(schedule), misfire, std::move(task), *next});
    triggers_.emplace(id, trigger);
    put_into_plan(id, *trigger);
    arm_feeding();
    return id;
}

bool CalendarTriggers::remove(Id id) {
    const std::lock_guard lock(mutex_);
    const auto found = triggers_.find(id);
    if (found == triggers_.end()) return false;
    Trigger& trigger = *found->second;
    trigger.is_removed = true;
    plan_.erase({trigger.next, id});
    if (trigger.place == Trigger::Place::fed) {
        --fed_;
        trigger.timeout.cancel();
    }
    triggers_.erase(found);
    return true;
}

std::optional<Instant> CalendarTriggers::next(Id id) const {
    const std::lock_guard lock(mutex_);
    const auto found = triggers_.find(id);
    if (found == triggers_.end()) return std::nullopt;
    return found->second->next;
}

std::size_t CalendarTriggers::size() const {
    const std::lock_guard lock(mutex_);
    return triggers_.size();
}

std::size_t CalendarTriggers::fed() const {
    const std::lock_guard lock(mutex_);
    return fed_;
}

void CalendarTriggers::put_into_plan(Id id, Trigger& trigger) {
    trigger.place = Trigger::Place::planned;
    plan_.emplace(trigger.next, id);
}

// With the lock held. What is due within the time ahead is fed in the next pass of the driver.
void CalendarTriggers::arm_feeding(Instant not_before) {
    if (plan_.empty()) return;
    const Instant wanted = std::max(plan_.begin()->first - options_.ahead, not_before);
    if (feeds_at_ && *feeds_at_ <= wanted) return;
    feeding_.cancel();
    Result<Timeout> armed = service_.schedule_at(wanted, TimerTask([this] { feed(); }));
    feeds_at_.reset();
    if (!armed) return;  // too many timers: whatever is added or fires next tries again
    feeds_at_ = wanted;
    feeding_ = *std::move(armed);
}

// Twice as far ahead as must be, so that feedings lie apart by at least the time ahead, however close the instants do.
void CalendarTriggers::feed() {
    const std::lock_guard lock(mutex_);
    feeds_at_.reset();
    const Instant now = service_.clock().wall_now();
    Instant not_before = kCalendarBegin;
    while (!plan_.empty() && plan_.begin()->first <= now + 2 * options_.ahead) {
        const auto [instant, id] = *plan_.begin();
        Trigger& trigger = *triggers_.at(id);
        Result<Timeout> armed = service_.schedule_at(instant, TimerTask([this, number = id] { fire(number); }));
        if (!armed) {  // there are too many timers: not at once again, or the driver would spin
            not_before = now + std::max(options_.ahead / 10, milliseconds(1));
            break;
        }
        trigger.timeout = *std::move(armed);
        trigger.place = Trigger::Place::fed;
        ++fed_;
        plan_.erase(plan_.begin());
    }
    arm_feeding(not_before);
}

void CalendarTriggers::fire(Id id) {
    std::unique_lock lock(mutex_);
    const auto found = triggers_.find(id);
    if (found == triggers_.end()) return;
    const std::shared_ptr<Trigger> trigger = found->second;
    trigger->place = Trigger::Place::running;
    --fed_;

    // Missed is what is older than this. All else happens, even if it is late.
    const Instant oldest = service_.clock().wall_now() - options_.misfire_after;
    bool happens = true;
    if (trigger->next < oldest && trigger->misfire != Misfire::fire_all) {
        trigger->next = std::max(trigger->next, trigger->schedule.previous(oldest).value_or(trigger->next));
        happens = trigger->misfire == Misfire::fire_once;
    }
    if (!happens) return plan_next(id, *trigger);
    lock.unlock();
    try {
        trigger->task(trigger->next);
    } catch (...) {
        lock.lock();
        plan_next(id, *trigger);
        throw;
    }
    lock.lock();
    plan_next(id, *trigger);
}

// With the lock held: back into the plan, unless it was removed meanwhile or has no firing to come.
void CalendarTriggers::plan_next(Id id, Trigger& trigger) {
    if (trigger.is_removed) return;
    const std::optional<Instant> next = trigger.schedule.next(trigger.next);
    if (!next) {
        triggers_.erase(id);
        return;
    }
    trigger.next = *next;
    put_into_plan(id, trigger);
    arm_feeding();
}

}  // namespace duewheel
