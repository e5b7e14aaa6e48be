#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

#include "timer/running_task.h"
#include "timer/timer_repeat.h"
#include <duewheel/patterns/watchdog_lease.h>

namespace duewheel {

struct WatchdogLease::Course : std::enable_shared_from_this<Course> {
    enum class State : std::uint8_t { held, released, lost };

    Course(TimerService& service_, std::chrono::nanoseconds length_, Renew renew_, Lost lost_)
        : service(service_),
          length(length_),
          renew(std::move(renew_)),
          lost(std::move(lost_)),
          ends(instant_after(service.clock().now(), length)) {}

    TimerService& service;
    const std::chrono::nanoseconds length;
    const Renew renew;
    const Lost lost;
    std::mutex mutex;  // guards all below
    State state = State::held;
    TimerInstant ends;  // a lease after the last renewal that succeeded was begun
    Timeout timeout;    // one for all thirds, so that no other timer gets its place in the service

    // With the lock held.
    Status wait_for_first() {
        const std::chrono::nanoseconds third = length / 3;
        Result<Timeout> armed =
            service.schedule_with_fixed_delay(third, third, [self = shared_from_this()] { self->look(); });
        if (!armed) return std::move(armed).error();
        timeout = *std::move(armed);
        return {};
    }

    // With the lock held, in the timer. A third may end after the lease does, so its end is a time to look, too.
    void wait_for_next(TimerInstant now) { TimerService::again_after(std::min(length / 3, ends - now)); }

    void look() {
        const TimerInstant begun = service.clock().now();
        {
            const std::lock_guard lock(mutex);
            if (state != State::held) return;
        }
        Renewal renewal = Renewal::not_ours;
        if (begun < ends_now()) {
            try {
                const HiddenTask hidden;
                renewal = renew();
            } catch (...) {
                after_renewal(Renewal::unknown, begun);
                throw;
            }
        }
        after_renewal(renewal, begun);
    }

    TimerInstant ends_now() {
        const std::lock_guard lock(mutex);
        return ends;
    }

    void after_renewal(Renewal renewal, TimerInstant begun) {
        {
            const std::lock_guard lock(mutex);
            if (state != State::held) return;  // released meanwhile
            if (renewal == Renewal::renewed) ends = instant_after(begun, length);
            const TimerInstant now = service.clock().now();
            if (renewal != Renewal::not_ours && now < ends && !service.stopped()) return wait_for_next(now);
            state = State::lost;
            timeout.cancel();
        }
        if (lost) lost();
    }
};

Result<WatchdogLease> WatchdogLease::hold(TimerService& service, std::chrono::nanoseconds length, Renew renew,
                                          Lost lost) {
    if (length / 3 < service.tick()) {
        throw std::invalid_argument("WatchdogLease: a lease of " + std::to_string(length.count()) +
                                    " ns. It is renewed at each third, so take at least three ticks of " +
                                    std::to_string(service.tick().count()) + " ns.");
    }
    if (!renew) throw std::invalid_argument("WatchdogLease: nothing renews it. Give hold() what to call.");
    const auto course = std::make_shared<Course>(service, length, std::move(renew), std::move(lost));
    const std::lock_guard lock(course->mutex);
    if (Status waiting = course->wait_for_first(); !waiting) return std::move(waiting).error();
    return WatchdogLease(course);
}

bool WatchdogLease::release() {
    if (course_ == nullptr) return false;
    Timeout timeout;
    bool was_held = false;
    {
        const std::lock_guard lock(course_->mutex);
        was_held = course_->state == Course::State::held;
        if (was_held) course_->state = Course::State::released;
        timeout = course_->timeout;
    }
    timeout.cancel_and_wait();
    return was_held && course_->service.clock().now() < course_->ends_now();
}

bool WatchdogLease::is_held() const {
    if (course_ == nullptr) return false;
    const std::lock_guard lock(course_->mutex);
    return course_->state == Course::State::held && course_->service.clock().now() < course_->ends;
}

}  // namespace duewheel
