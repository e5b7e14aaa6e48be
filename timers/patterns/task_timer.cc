#include <utility>

#include <duewheel/patterns/task_timer.h>

namespace duewheel {

using std::chrono::nanoseconds;

TaskTimer::TaskTimer(TimerOptions options, const TimerClock& clock)
    : service_(std::move(options), clock), thread_(service_) {}

Result<Timeout> TaskTimer::schedule(TimerTask task, nanoseconds delay) {
    return service_.schedule_after(delay, std::move(task));
}

Result<Timeout> TaskTimer::schedule(TimerTask task, nanoseconds delay, nanoseconds period) {
    return service_.schedule_at_fixed_rate(delay, period, std::move(task), MissedPeriods::delay);
}

Result<Timeout> TaskTimer::schedule(TimerTask task, Instant date) {
    return service_.schedule_at(date, std::move(task));
}

Result<Timeout> TaskTimer::schedule(TimerTask task, Instant first_time, nanoseconds period) {
    return schedule(std::move(task), until(first_time), period);
}

Result<Timeout> TaskTimer::schedule_at_fixed_rate(TimerTask task, nanoseconds delay, nanoseconds period) {
    return service_.schedule_at_fixed_rate(delay, period, std::move(task), MissedPeriods::burst);
}

Result<Timeout> TaskTimer::schedule_at_fixed_rate(TimerTask task, Instant first_time, nanoseconds period) {
    return schedule_at_fixed_rate(std::move(task), until(first_time), period);
}

// A date that has passed is now; one beyond what nanoseconds can say, some 290 years, is as far as they reach.
nanoseconds TaskTimer::until(Instant date) const {
    constexpr auto kMax = std::chrono::floor<std::chrono::milliseconds>(nanoseconds::max());
    const Instant now = service_.clock().wall_now();
    if (date <= now) return nanoseconds(0);
    return date - kMax > now ? nanoseconds::max() : nanoseconds(date - now);
}

}  // namespace duewheel
