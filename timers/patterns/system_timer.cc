#include <algorithm>
#include <memory>
#include <utility>

#include <duewheel/patterns/system_timer.h>

namespace duewheel {

// An alarm that rings at the end of the caller's patience at the latest.
class SystemTimer::PatientAlarm final : public TimerAlarm {
  public:
    PatientAlarm(std::unique_ptr<TimerAlarm> alarm, TimerInstant limit) : alarm_(std::move(alarm)), limit_(limit) {}

    void set(TimerInstant instant) override { alarm_->set(std::min(instant, limit_)); }
    void wait() override { alarm_->wait(); }
    void ring_when_wall_is_set() override { alarm_->ring_when_wall_is_set(); }

  private:
    const std::unique_ptr<TimerAlarm> alarm_;
    const TimerInstant limit_;
};

// While one exists, scheduling a task and shutting down the timer ring this alarm.
class SystemTimer::Listening {
  public:
    Listening(TimerService& service, PatientAlarm& alarm) : service_(service) { service_.set_alarm(&alarm); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening() { service_.set_alarm(nullptr); }

  private:
    TimerService& service_;
};

SystemTimer::SystemTimer(TimerOptions options, const TimerClock& clock) : service_(std::move(options), clock) {}

bool SystemTimer::advance_clock(std::chrono::nanoseconds patience) {
    if (service_.advance() > 0) return true;
    if (patience <= std::chrono::nanoseconds(0) || service_.stopped()) return false;
    const TimerClock& clock = service_.clock();
    const TimerInstant begin = clock.now();
    const TimerInstant limit = patience > kNeverInstant - begin ? kNeverInstant : begin + patience;

    PatientAlarm alarm(clock.make_alarm(), limit);
    const Listening listening(service_, alarm);
    for (;;) {
        service_.rest();
        if (!service_.stopped()) alarm.wait();
        if (service_.advance() > 0) return true;
        if (service_.stopped() || clock.now() >= limit) return false;
    }
}

std::vector<Timeout> SystemTimer::shutdown() {
    std::vector<Timeout> left = service_.stop();
    service_.wake_driver();
    return left;
}

}  // namespace duewheel
