#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <duewheel/manual_clock.h>

namespace duewheel {

// An owner. All of it is guarded by the clock's mutex.
class ManualClock::Alarm final : public TimerAlarm {
  public:
    explicit Alarm(const ManualClock& clock) : clock_(clock) {
        const std::lock_guard lock(clock_.mutex_);
        clock_.owners_.push_back(this);
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    ~Alarm() override {
        const std::lock_guard lock(clock_.mutex_);
        std::erase(clock_.owners_, this);
        end_turn();
    }

    void set(TimerInstant instant) override {
        const std::lock_guard lock(clock_.mutex_);
        at_ = instant;
        if (asleep_) clock_.give_turn();
    }

    void wait() override {
        std::unique_lock lock(clock_.mutex_);
        asleep_ = true;
        end_turn();
        turn_given_.wait(lock, [this] { return !asleep_; });
    }

    void ring_when_wall_is_set() override {
        const std::lock_guard lock(clock_.mutex_);
        watches_wall_ = true;
    }

  private:
    friend class ManualClock;

    void end_turn() {
        if (clock_.awake_ == this) clock_.awake_ = nullptr;
        clock_.give_turn();
        clock_.rest_.notify_all();
    }

    const ManualClock& clock_;
    std::condition_variable turn_given_;
    // A new time does not cancel the alarm for a wall clock that was set.
    TimerInstant rings_at() const { return std::min(at_, wall_set_at_); }

    TimerInstant at_ = kNeverInstant;
    TimerInstant wall_set_at_ = kNeverInstant;
    bool asleep_ = false;
    bool watches_wall_ = false;
};

ManualClock::ManualClock(Instant wall) : wall_(wall) {}

ManualClock::~ManualClock() = default;

TimerInstant ManualClock::now() const {
    const std::lock_guard lock(mutex_);
    return now_;
}

Instant ManualClock::wall_now() const {
    const std::lock_guard lock(mutex_);
    return wall_ + std::chrono::floor<std::chrono::milliseconds>(now_ - wall_set_);
}

std::unique_ptr<TimerAlarm> ManualClock::make_alarm() const {
    return std::make_unique<Alarm>(*this);
}

void ManualClock::advance(std::chrono::nanoseconds by) {
    if (by.count() < 0) {
        throw std::invalid_argument(
            "ManualClock: advancing by " + std::to_string(by.count()) +
            " ns, and time does not go back. Take 0 ns or more; the wall alone may be set back, "
            "by set_wall().");
    }
    const TimerInstant from = now();
    advance_to(by > kNeverInstant - from ? kNeverInstant : from + by);
}

void ManualClock::advance_to(TimerInstant to) {
    to = std::min(to, kNeverInstant - TimerInstant::duration(1));
    std::unique_lock lock(mutex_);
    const auto wait_until_idle = [&] {
        rest_.wait(lock, [this] { return awake_ == nullptr && all_asleep() && earliest() > now_; });
    };
    ++advancing_;
    wait_until_idle();
    while (earliest() <= to) {
        now_ = earliest();
        give_turn();
        wait_until_idle();
    }
    now_ = std::max(now_, to);
    --advancing_;
    give_turn();
}

void ManualClock::set_wall(Instant wall) {
    const std::lock_guard lock(mutex_);
    wall_ = wall;
    wall_set_ = now_;
    for (Alarm* alarm : owners_) {
        if (alarm->watches_wall_) alarm->wall_set_at_ = now_;
    }
    give_turn();
}

void ManualClock::auto_advance(bool on) {
    const std::lock_guard lock(mutex_);
    auto_advance_ = on;
    give_turn();
}

ManualClock::Hold::Hold(ManualClock& clock) : clock_(clock) {
    const std::lock_guard lock(clock_.mutex_);
    ++clock_.holds_;
}

ManualClock::Hold::~Hold() {
    const std::lock_guard lock(clock_.mutex_);
    --clock_.holds_;
    clock_.give_turn();
}

bool ManualClock::all_asleep() const {
    return std::all_of(owners_.begin(), owners_.end(), [](const Alarm* alarm) { return alarm->asleep_; });
}

TimerInstant ManualClock::earliest() const {
    TimerInstant earliest = kNeverInstant;
    for (const Alarm* alarm : owners_) earliest = std::min(earliest, alarm->rings_at());
    return earliest;
}

// Wakes the first owner whose alarm rings, unless another one is awake; moves the time there if it does that by itself.
void ManualClock::give_turn() const {
    if (awake_ != nullptr) return;
    const bool goes_by_itself = auto_advance_ && holds_ == 0 && advancing_ == 0;
    if (goes_by_itself && all_asleep() && earliest() != kNeverInstant) now_ = std::max(now_, earliest());
    for (Alarm* alarm : owners_) {
        if (!alarm->asleep_ || alarm->rings_at() > now_) continue;
        awake_ = alarm;
        alarm->asleep_ = false;
        alarm->at_ = alarm->wall_set_at_ = kNeverInstant;
        alarm->turn_given_.notify_one();
        return;
    }
}

}  // namespace duewheel
