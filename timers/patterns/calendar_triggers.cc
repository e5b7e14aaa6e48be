// A trigger is in one of three places: in the plan, in the order of its next instant; on the wheel, with a timer of the
// service at that instant; or running. One timer more, the feeding, stands `ahead` of the first instant of the plan.
//
// If the service is full. As long as anything is in the plan, the feeding is pending or runs; it never gives up its
// place in the service before, because others might take it and the plan would not be fed again. If the first trigger
// that is to be fed gets no timer, the feeding replaces it: it runs again at the trigger's instant, fires it, and
// continues to feed. If a trigger that has fired finds no feeding, and no room for one, it keeps its own place for its
// next time.
//
// How they end. A task of the wheel may begin as the triggers are destroyed, and one whose trigger was removed has no
// timer left that could be waited for. So each goes through a gate that outlives the triggers: in before it touches
// them, and out when it touches them no more. The destructor closes it and waits until all are out.
#include <algorithm>
#include <condition_variable>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/running_task.h"
#include <duewheel/patterns/calendar_triggers.h>

namespace duewheel {
namespace {

using std::chrono::milliseconds;

Error never_fires(const CronSchedule& schedule) {
    return Error{ErrorCode::never_fires,
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

// Thread safe.
class CalendarTriggers::Gate {
  public:
    // Code inside may use the triggers, until user code runs: that may destroy them, from inside.
    class Pass {
      public:
        explicit Pass(Gate& gate) : gate_(gate), is_inside_(gate.enter()) {}
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;
        ~Pass() {
            if (is_inside_) gate_.leave();
        }
        explicit operator bool() const { return is_inside_; }

      private:
        Gate& gate_;
        const bool is_inside_;
    };

    // Checked by calls that are inside. False: the triggers are gone, or their destructor waits; nothing is left to
    // do.
    bool is_open() const {
        const std::lock_guard lock(mutex_);
        return is_open_;
    }

    // Returns when no calls are inside but tasks that this call came from.
    void close() {
        std::unique_lock lock(mutex_);
        is_open_ = false;
        const auto is_here = [here = std::this_thread::get_id()](std::thread::id one) { return one == here; };
        left_.wait(lock, [&] { return std::all_of(inside_.begin(), inside_.end(), is_here); });
    }

  private:
    bool enter() {
        const std::lock_guard lock(mutex_);
        if (is_open_) inside_.push_back(std::this_thread::get_id());
        return is_open_;
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        inside_.erase(std::find(inside_.begin(), inside_.end(), std::this_thread::get_id()));
        left_.notify_all();
    }

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable left_;
    bool is_open_ = true;
    std::vector<std::thread::id> inside_;  // as many as run at once
};

CalendarTriggers::CalendarTriggers(TimerService& service, TriggerOptions options)
    : service_(service), options_(options), gate_(std::make_shared<Gate>()) {
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
    gate_->close();
    feeding_.cancel();
    for (const auto& [id, trigger] : triggers_) trigger->timeout.cancel();
}

// A task for the wheel: calls that member, unless the triggers are gone.
template <auto kWhat>
TimerTask CalendarTriggers::through_gate(std::uint64_t number) {
    auto task = [this, gate = gate_, number] {
        if (const Gate::Pass inside(*gate); inside) (this->*kWhat)(number);
    };
    static_assert(sizeof(task) <= TimerTask::kInlineBytes, "a longer one would be allocated");
    return task;
}

Result<CalendarTriggers::Id> CalendarTriggers::add(CronSchedule schedule, Misfire misfire, Task task,
                                                   std::optional<Instant> after) {
    if (!task) throw std::invalid_argument("CalendarTriggers: a trigger without a task. Give add() what to call.");
    const std::optional<Instant> next = schedule.next(after.value_or(service_.clock().wall_now()));
    if (!next) return never_fires(schedule);
    const auto trigger = std::make_shared<Trigger>(Trigger{std::move(schedule), misfire, std::move(task), *next});
    const std::lock_guard lock(mutex_);
    if (service_.stopped()) {
        return Error{ErrorCode::timers_stopped, "The timer service has been stopped, and fires no triggers any more."};
    }
    const Id id = ++last_id_;
    triggers_.emplace(id, trigger);
    put_into_plan(id, *trigger);
    if (Status fed = arm_feeding(); !fed) {
        plan_.erase({*next, id});
        triggers_.erase(id);
        return std::move(fed).error();
    }
    return id;
}

bool CalendarTriggers::remove(Id id) {
    std::shared_ptr<Trigger> trigger;  // goes without the lock: what its task holds may call
    const std::lock_guard lock(mutex_);
    const auto found = triggers_.find(id);
    if (found == triggers_.end()) return false;
    trigger = std::move(found->second);
    trigger->is_removed = true;
    plan_.erase({trigger->next, id});
    if (trigger->place == Trigger::Place::fed) {
        --fed_;
        trigger->timeout.cancel();
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

// It lies on the wheel from now on.
void CalendarTriggers::take_from_plan(Id id, Trigger& trigger) {
    plan_.erase({trigger.next, id});
    trigger.place = Trigger::Place::fed;
    ++fed_;
}

// With the lock held. What is due within the time ahead is fed in the next pass of the driver. An error where the plan
// would be fed too late; then the feeding there was, if any, is still there.
Status CalendarTriggers::arm_feeding() {
    if (plan_.empty() || feeding_runs_) return {};  // one that runs looks at the plan afterwards
    const Instant first = plan_.begin()->first;
    const Instant wanted = std::max(first - options_.ahead, service_.clock().wall_now());
    if (feeds_at_ && *feeds_at_ <= wanted) return {};
    Result<Timeout> armed = service_.schedule_at_wall(wanted, through_gate<&CalendarTriggers::feed>(feedings_ + 1));
    if (!armed && feeds_at_ && *feeds_at_ <= first) return {};  // less ahead, and in time
    if (!armed) return std::move(armed).error();
    feeding_.cancel();
    feeding_ = *std::move(armed);
    feeds_at_ = wanted;
    ++feedings_;
    return {};
}

void CalendarTriggers::feed(std::uint64_t feeding) {
    {
        const std::lock_guard lock(mutex_);
        if (feeding != feedings_) return;  // an earlier one was armed as this one fell due
        feeds_at_.reset();
        feeding_runs_ = true;
    }
    struct Fed {  // also when a task throws
        CalendarTriggers& triggers;
        Gate& gate;
        ~Fed() {
            if (!gate.is_open()) return;
            const std::lock_guard lock(triggers.mutex_);
            triggers.feeding_runs_ = false;
            triggers.feed_plan();
        }
    } const fed{*this, *gate_};
    let_stand_in_fire();
}

void CalendarTriggers::let_stand_in_fire() {
    std::optional<Id> due;
    {
        const std::lock_guard lock(mutex_);
        due = std::exchange(stand_in_, std::nullopt);
        const auto found = due ? triggers_.find(*due) : triggers_.end();
        if (found == triggers_.end()) return;
        if (found->second->next > service_.clock().wall_now()) {  // an earlier feeding has come in between
            --fed_;
            return put_into_plan(*due, *found->second);
        }
    }
    fire(*due);
}

// With the lock held, in the feeding. Twice as far ahead as must be, so that feedings lie apart by at least the time
// ahead, however close the instants do.
void CalendarTriggers::feed_plan() {
    const Instant now = service_.clock().wall_now();
    while (!plan_.empty() && plan_.begin()->first <= now + 2 * options_.ahead) {
        const auto [instant, id] = *plan_.begin();
        Trigger& trigger = *triggers_.at(id);
        Result<Timeout> armed = service_.schedule_at_wall(instant, through_gate<&CalendarTriggers::fire>(id));
        take_from_plan(id, trigger);
        if (!armed) {
            trigger.timeout = {};
            stand_in_ = id;
            return come_again(instant);
        }
        trigger.timeout = *std::move(armed);
    }
    if (!plan_.empty()) come_again(plan_.begin()->first - options_.ahead);
}

// With the lock held, in the feeding.
void CalendarTriggers::come_again(Instant instant) {
    feeds_at_ = instant;
    TimerService::again_at(instant);
}

void CalendarTriggers::fire(Id id) {
    std::shared_ptr<Trigger> trigger;  // goes without the lock: what its task holds may call
    Gate& gate = *gate_;               // the wheel's task that runs this keeps it
    std::unique_lock lock(mutex_);
    const auto found = triggers_.find(id);
    if (found == triggers_.end()) return;
    trigger = found->second;
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
    const auto go_on = [&] {
        if (!gate.is_open()) return;
        lock.lock();
        plan_next(id, *trigger);
    };
    try {
        const HiddenTask hidden;  // its timer may be its trigger's for the next time, too, or the feeding
        trigger->task(trigger->next);
    } catch (...) {
        go_on();
        throw;
    }
    go_on();
}

// With the lock held, in the timer that fired it: back into the plan, unless it was removed meanwhile or has no firing
// to come.
void CalendarTriggers::plan_next(Id id, Trigger& trigger) {
    if (trigger.is_removed) return;
    const std::optional<Instant> next = trigger.schedule.next(trigger.next);
    if (!next) {
        triggers_.erase(id);
        return;
    }
    trigger.next = *next;
    put_into_plan(id, trigger);
    if (arm_feeding()) return;
    take_from_plan(id, trigger);
    TimerService::again_at(trigger.next);
}

}  // namespace duewheel
