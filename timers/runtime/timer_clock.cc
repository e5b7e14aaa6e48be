// The system's clocks for timers, and their alarms: one timerfd each, which counts on the same clock, suspends
// included, and can be set by one thread while another waits for it.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "shared/system_clock.h"
#include <duewheel/timer_clock.h>

namespace duewheel {
namespace {

[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
  public:
    Descriptor(int number, const char* what) : number_(number) {
        if (number < 0) throw_errno(what);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { ::close(number_); }
    int number() const { return number_; }

  private:
    int number_;
};

// Both timers report through one epoll descriptor, which a caller's loop may watch before the second one is needed.
class SystemAlarm final : public TimerAlarm {
  public:
    explicit SystemAlarm(clockid_t clock)
        : timer_(::timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"),
          wall_(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"),
          both_(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1") {
        for (const Descriptor* descriptor : {&timer_, &wall_}) {
            epoll_event event{};
            event.events = EPOLLIN;
            if (::epoll_ctl(both_.number(), EPOLL_CTL_ADD, descriptor->number(), &event) != 0) throw_errno("epoll_ctl");
        }
    }

    void set(TimerInstant instant) override {
        // Zero means not at all, so what has passed is set to the first nanosecond.
        const std::int64_t ns =
            instant == kNeverInstant ? 0 : std::max<std::int64_t>(1, instant.time_since_epoch().count());
        const std::lock_guard lock(setting_);  // the timer is set to what set_to_ says, in the same order
        if (set_to_.exchange(ns) == ns) return;
        itimerspec at{};
        at.it_value.tv_sec = ns / 1'000'000'000;
        at.it_value.tv_nsec = ns % 1'000'000'000;
        // Fails only for an invalid descriptor or time.
        static_cast<void>(::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &at, nullptr));
    }

    void wait() override {
        pollfd watched{both_.number(), POLLIN, 0};
        static_cast<void>(::poll(&watched, 1, -1));  // a signal is a reason to return, too
        rung();
    }

    int descriptor() const override { return both_.number(); }

    // This may also read an expiry that another thread sets meanwhile. Therefore the set instant is forgotten after the
    // read: a thread that sets the same instant then sets it again, at worst unnecessarily.
    void rung() override {
        std::uint64_t count = 0;
        static_cast<void>(::read(timer_.number(), &count, sizeof(count)) < 0);
        set_to_.store(kNothing);
        if (::read(wall_.number(), &count, sizeof(count)) < 0 && errno == ECANCELED) watch_wall();
    }

    void ring_when_wall_is_set() override {
        if (!watches_wall_.exchange(true)) watch_wall();
    }

  private:
    static constexpr std::int64_t kNothing = -1;

    // Set to the end of time, and to be cancelled when the clock is set, which makes it readable.
    void watch_wall() {
        itimerspec at{};
        at.it_value.tv_sec = INT32_MAX;
        static_cast<void>(::timerfd_settime(wall_.number(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, nullptr));
    }

    Descriptor timer_;
    Descriptor wall_;
    Descriptor both_;
    std::mutex setting_;
    std::atomic<std::int64_t> set_to_{kNothing};  // in ns; changed with setting_ but for kNothing
    std::atomic<bool> watches_wall_{false};
};

class SystemClock final : public TimerClock {
  public:
    SystemClock(clockid_t clock, std::int64_t (*now_ns)()) : clock_(clock), now_ns_(now_ns) {}

    TimerInstant now() const override { return TimerInstant(std::chrono::nanoseconds(now_ns_())); }
    Instant wall_now() const override { return Instant(std::chrono::milliseconds(wall_now_ms())); }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return std::make_unique<SystemAlarm>(clock_); }

  private:
    clockid_t clock_;
    std::int64_t (*now_ns_)();
};

}  // namespace

const TimerClock& monotonic_clock() {
    static const SystemClock clock(CLOCK_MONOTONIC, monotonic_now_ns);
    return clock;
}

const TimerClock& boot_clock() {
    static const SystemClock clock(CLOCK_BOOTTIME, boot_now_ns);
    return clock;
}

}  // namespace duewheel
