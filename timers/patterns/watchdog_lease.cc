#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/running_task.h"
#include "runtime/thread_number.h"
#include "runtime/timer_repeat.h"
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

    // Is `running` while `lost` runs: release() waits for it as for a timer's task, so that no cycle of tasks and such
    // calls waits for itself. No service knows it.
    TimerNode telling;

    // The thread that starts the timer now, with the lock held: a watch that the service refuses is destroyed in that
    // call.
    std::atomic<std::uint32_t> arming{0};

    // The task of the timer. The service destroys it if nothing renews the lease any more: it was stopped, or its
    // executor drops tasks.
    struct Watch {
        explicit Watch(std::shared_ptr<Course> course_) : course(std::move(course_)) {}
        Watch(Watch&&) noexcept = default;
        Watch& operator=(Watch&&) = delete;
        ~Watch() {
            if (course != nullptr) course->end_without_renewal();
        }
        void operator()() { course->look(); }

        std::shared_ptr<Course> course;  // none: it was moved elsewhere
    };

    // With the lock held.
    Status wait_for_first() {
        struct Arming {
            std::atomic<std::uint32_t>& thread;
            ~Arming() { thread = 0; }
        } const here{arming};
        arming = this_thread_number();
        const std::chrono::nanoseconds third = length / 3;
        Result<Timeout> armed = service.schedule_with_fixed_delay(third, third, Watch(shared_from_this()));
        if (!armed) return std::move(armed).error();
        timeout = *std::move(armed);
        return {};
    }

    // With the lock held, in the timer. A third may end after the lease does, so the end of the lease is checked, too.
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
            if (renewal != Renewal::not_ours && now < ends) return wait_for_next(now);
            state = State::lost;
            timeout.cancel();
        }
        tell_lost();
    }

    // In a destructor: the service calls `lost`, and receives its exceptions.
    void end_without_renewal() {
        if (arming == this_thread_number()) return;  // refused, which is reported otherwise
        {
            const std::lock_guard lock(mutex);
            if (state != State::held) return;  // which is why the timer was cancelled
            state = State::lost;
        }
        service.dispatch([self = shared_from_this()] { self->tell_lost(); });
    }

    // Called by the thread that lost the lease, unless it was released before.
    void tell_lost() {
        {
            const std::lock_guard lock(mutex);
            if (state != State::lost || !lost) return;
            telling.runner.store(this_thread_number(), std::memory_order_relaxed);
            telling.word.store(static_cast<std::uint32_t>(TimerStatus::running), std::memory_order_release);
        }
        struct Told {  // also when it throws
            TimerNode& telling;
            ~Told() {
                telling.word.store(static_cast<std::uint32_t>(TimerStatus::expired), std::memory_order_release);
                telling.word.notify_all();
            }
        } const told{telling};
        lost();
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
        was_held = std::exchange(course_->state, Course::State::released) == Course::State::held;
        timeout = course_->timeout;
    }
    timeout.cancel_and_wait();
    if (course_->telling.status() == TimerStatus::running) wait_until_returned(course_->telling);
    return was_held && course_->service.clock().now() < course_->ends_now();
}

bool WatchdogLease::is_held() const {
    return remaining() > std::chrono::nanoseconds(0);
}

std::chrono::nanoseconds WatchdogLease::remaining() const {
    constexpr std::chrono::nanoseconds kNone(0);
    if (course_ == nullptr) return kNone;
    const std::lock_guard lock(course_->mutex);
    if (course_->state != Course::State::held) return kNone;
    return std::max(kNone, course_->ends - course_->service.clock().now());
}

}  // namespace duewheel
