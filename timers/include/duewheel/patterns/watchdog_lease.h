// A lease that is renewed as long as its holder lives: the watchdog of a lock that expires.
//
// It is what Redisson does for its locks. The holder of a lock for thirty seconds does not know whether its work takes
// longer. So the lease is renewed after every third of its time until it is released; if the holder dies, it expires.
// Why choose it over a long lease: a dead holder blocks others for one short lease only. Drawback: as with any lease,
// the holder must check is_held() (or handle the call of `lost`) before it does what only the holder may do.
//
// A renewal without a response is repeated after another third. When a whole lease time has passed since the last
// successful renewal began, the lease is lost: the time counts from before the renewal was sent, so this side never
// sees the end later than the other side does. One timer serves all renewals, so the lease keeps its place in a full
// service.
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     int renewals = 0;
//     const auto renew = [&] { return ++renewals, Renewal::renewed; };
//     const Result<WatchdogLease> lock = WatchdogLease::hold(service, 30s, renew);
//     if (!lock) return lock.error();
//     clock.advance(10s);
//     service.advance();
//     assert(renewals == 1 && lock->is_held() && lock->remaining() == 30s);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <duewheel/status.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// What a renewal came to.
enum class Renewal : std::uint8_t {
    renewed,   // held for a whole lease from before it was sent
    not_ours,  // another holder has it, or none: it is lost
    unknown,   // no answer; so is an exception
};

// Movable; releases when it is destroyed. Used by any thread. The service must outlive it and have a driver.
class WatchdogLease {
  public:
    // Prolongs the lease to its full length, on the driver's thread or the service's executor. In it,
    // TimerService::current() names no timer: release() is what ends the lease.
    using Renew = std::function<Renewal()>;
    // Once, when the lease is lost while it is held: not after release(). So it is, for want of renewals, when the
    // service is stopped; `lost` is called by who stops it then, or on its executor.
    using Lost = std::function<void()>;

    // Holds a lease acquired just now for `length`. Codes: timers_full, timers_stopped; then nothing renews it. Throws
    // std::invalid_argument where that is less than three ticks of the service, and where there is no `renew`.
    static Result<WatchdogLease> hold(TimerService& service, std::chrono::nanoseconds length, Renew renew,
                                      Lost lost = {});

    WatchdogLease(WatchdogLease&&) noexcept = default;
    WatchdogLease& operator=(WatchdogLease&& other) noexcept {
        if (this != &other) release();
        course_ = std::move(other.course_);
        return *this;
    }
    ~WatchdogLease() { release(); }

    // No renewal begins any more, nor is it lost; `renew` or `lost` that runs on another thread has ended when this
    // returns: so the caller may give the lock back. True when the lease was held until now. From `renew` and `lost` it
    // does not wait.
    bool release();

    // Neither released, nor lost, nor run out by the service's clock.
    [[nodiscard]] bool is_held() const;
    // How long it is held without another renewal; zero when it is not.
    [[nodiscard]] std::chrono::nanoseconds remaining() const;

  private:
    struct Course;

    explicit WatchdogLease(std::shared_ptr<Course> course) : course_(std::move(course)) {}

    // Shared with the timer, whose task may still run when this is destroyed from within it.
    std::shared_ptr<Course> course_;
};

}  // namespace duewheel
