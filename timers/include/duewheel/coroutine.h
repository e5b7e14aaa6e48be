// Timers for coroutines: sleeps, intervals and timeouts to await, with any driver of a TimerService.
//
// Example:
//     #include <duewheel/task.h>
//     #include <duewheel/timer_thread.h>
//     TimerService service;
//     TimerThread thread(service);
//     std::promise<int> beats;
//     start([](TimerService& timers, std::promise<int>& told) -> Task<> {
//         co_await sleep_for(timers, 1ms);
//         Interval beat(timers, 1ms);
//         for (int i = 0; i < 3; ++i) co_await beat.next();
//         const bool in_time = (co_await with_timeout(timers, 1ms, sleep_for(timers, 1h))).has_value();
//         told.set_value(in_time ? 0 : 3);
//     }(service, beats));
//     assert(beats.get_future().get() == 3);
//
// Choose it over callbacks if waiting code should read from top to bottom, and over threads that sleep. Drawback: a
// coroutine that waits forever looks like a forgotten one; give it a timeout or a std::stop_token.
//
// Nothing is allocated: the timer is part of the awaiting coroutine's frame. A coroutine resumes on the driver's
// thread, even if the service has an executor; otherwise a waiting coroutine and the work that it awaits with a timeout
// could resume on two threads at once, and the timeout would destroy running work. A coroutine with long work hands it
// to a pool itself. When the service is stopped, all sleeping coroutines resume at once with that result: on the thread
// that stops it, or, if another one drives it at that time, on that one, before its advance() returns.
//
// A sleeping coroutine may be destroyed; its timer is removed. As with every awaitable, only the thread on which it
// would resume may do that, or one that knows that it is not resuming at that time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <duewheel/embedded_timer.h>
#include <duewheel/timer_service.h>

namespace duewheel {

enum class SleepEnd : std::uint8_t {
    elapsed,    // the time has passed
    cancelled,  // the stop_token was triggered earlier; it also resumes where timers run
    stopped,    // the service was stopped, before or meanwhile
    full,       // the service has max_pending timers; it did not sleep
};

// co_await sleep_for(...). A named one can be moved to another deadline while a coroutine waits for it, and be awaited
// again when it has ended; for example, an idle timeout that each request postpones:
//     Sleep idle = sleep_for(service, 30s);
//     co_await idle;                                       // elsewhere, for each request: idle.reset_after(30s);
class [[nodiscard]] Sleep {
  public:
    Sleep(TimerService& service, TimerInstant deadline, std::stop_token token)
        : service_(service), deadline_(deadline), token_(std::move(token)) {}
    // Before it is awaited.
    Sleep(Sleep&& other) noexcept : Sleep(other.service_, other.deadline_, std::move(other.token_)) {}
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;

    // Another deadline, earlier or later. True: a coroutine waits, and resumes then. False: none does (yet, or any
    // more); the next co_await sleeps until then. Any thread, while the Sleep exists and no co_await starts.
    bool reset_at(TimerInstant deadline) {
        deadline_.store(deadline, std::memory_order_relaxed);
        if (!timer_.reschedule_at(deadline)) return false;
        // A stop in between made it due now, and that was undone.
        if (end_.load() == SleepEnd::cancelled) timer_.fire_now();
        return true;
    }
    bool reset_after(std::chrono::nanoseconds delay) {
        return reset_at(instant_after(service_.clock().now(), std::max(delay, std::chrono::nanoseconds(0))));
    }

    bool await_ready() noexcept {
        if (!token_.stop_requested()) return false;
        end_.store(SleepEnd::cancelled, std::memory_order_relaxed);
        return true;
    }

    bool await_suspend(std::coroutine_handle<> sleeper) {
        sleeper_ = sleeper;
        end_.store(SleepEnd::elapsed, std::memory_order_relaxed);
        // Without a token there is nothing to do after scheduling, and the coroutine may be destroyed by then.
        const bool watches = token_.stop_possible();
        ready_.store(!watches, std::memory_order_relaxed);
        const EmbeddedTimer::Arming arming =
            timer_.arm_at(service_, deadline_.load(std::memory_order_relaxed), [this] { wake(); });
        if (arming != EmbeddedTimer::Arming::armed) {
            end_ = arming == EmbeddedTimer::Arming::full ? SleepEnd::full : SleepEnd::stopped;
            return false;
        }
        if (!watches) return true;
        on_stop_.emplace(token_, Cancel{*this});
        if (!ready_.exchange(true)) return true;
        // The timer came first and left it to this thread; the coroutine must resume where timers run.
        return timer_.arm_soon(service_, [this] { wake(); });
    }

    SleepEnd await_resume() {
        on_stop_.reset();  // waits for a callback that runs on another thread
        return end_;
    }

    // What is awaited, as GCC 12 copies an awaiter that is a member of something.
    struct Awaiter {
        Sleep& sleep;

        bool await_ready() noexcept { return sleep.await_ready(); }
        bool await_suspend(std::coroutine_handle<> sleeper) { return sleep.await_suspend(sleeper); }
        SleepEnd await_resume() { return sleep.await_resume(); }
    };
    Awaiter operator co_await() { return {*this}; }

  private:
    struct Cancel {
        Sleep& sleep;
        void operator()() const noexcept {
            SleepEnd expected = SleepEnd::elapsed;
            sleep.end_.compare_exchange_strong(expected, SleepEnd::cancelled);
            sleep.timer_.fire_now();
        }
    };

    // The second of the two, the timer and the end of await_suspend(), resumes.
    void wake() {
        if (timer_.stopped()) end_ = SleepEnd::stopped;
        if (ready_.exchange(true)) sleeper_.resume();
    }

    TimerService& service_;
    std::atomic<TimerInstant> deadline_;
    std::stop_token token_;
    std::coroutine_handle<> sleeper_{};
    std::atomic<SleepEnd> end_{SleepEnd::elapsed};
    std::atomic<bool> ready_{false};
    EmbeddedTimer timer_;
    std::optional<std::stop_callback<Cancel>> on_stop_{};
};

// A sleep of zero or less lets others run.
inline Sleep sleep_until(TimerService& service, TimerInstant deadline, std::stop_token token = {}) {
    return Sleep(service, deadline, std::move(token));
}
inline Sleep sleep_for(TimerService& service, std::chrono::nanoseconds delay, std::stop_token token = {}) {
    const TimerInstant deadline = delay.count() <= 0 ? TimerInstant() : instant_after(service.clock().now(), delay);
    return Sleep(service, deadline, std::move(token));
}

// Ticks at the instants of a period, awaited by one coroutine at a time: co_await interval.next(). Each tick comes
// once. Then MissedPeriods decides when the next one is due; if the coroutine awaits that one too late, it comes at
// once. A tick that does not come, because of a stop token or a timeout, is still the next one.
class Interval {
  public:
    class Beat;

    // The first tick comes after one period, or at a given instant; if that has passed, at once, and what has passed
    // since is missed. Throws std::invalid_argument if the period is less than the service's tick.
    Interval(TimerService& service, std::chrono::nanoseconds period, MissedPeriods missed = MissedPeriods::burst)
        : Interval(service, instant_after(service.clock().now(), period), period, missed) {}
    Interval(TimerService& service, TimerInstant first, std::chrono::nanoseconds period,
             MissedPeriods missed = MissedPeriods::burst)
        : service_(service), period_(period), missed_(missed), next_(std::max(first, TimerInstant())) {
        if (period >= service.tick()) return;
        throw std::invalid_argument("Interval: a period of " + std::to_string(period.count()) +
                                    " ns. Take at least a tick of the service, which is " +
                                    std::to_string(service.tick().count()) + " ns.");
    }

    // To be awaited at once, like a Sleep.
    Beat next(const std::stop_token& token = {});

    // When the last tick that came was due.
    [[nodiscard]] TimerInstant nominal() const { return nominal_; }

    // New instants: the next tick comes after one period, after the delay, or at the instant. Not while one is awaited.
    void reset() { reset_after(period_); }
    void reset_after(std::chrono::nanoseconds delay) { reset_at(instant_after(service_.clock().now(), delay)); }
    void reset_at(TimerInstant first) { next_ = std::max(first, TimerInstant()); }

  private:
    void note_beat() {
        const TimerInstant now = service_.clock().now();
        nominal_ = next_;
        next_ = next_nominal(missed_, period_, nominal_, now, now);
    }

    TimerService& service_;
    std::chrono::nanoseconds period_;
    MissedPeriods missed_;
    TimerInstant next_;
    TimerInstant nominal_{};
};

class [[nodiscard]] Interval::Beat {
  public:
    Beat(Interval& interval, Sleep sleep) : interval_(interval), sleep_(std::move(sleep)) {}

    bool await_ready() noexcept { return sleep_.await_ready(); }
    bool await_suspend(std::coroutine_handle<> sleeper) { return sleep_.await_suspend(sleeper); }
    SleepEnd await_resume() {
        const SleepEnd end = sleep_.await_resume();
        if (end == SleepEnd::elapsed) interval_.note_beat();
        return end;
    }

  private:
    Interval& interval_;
    Sleep sleep_;
};

inline Interval::Beat Interval::next(const std::stop_token& token) {
    const TimerInstant now = service_.clock().now();
    // One that is awaited a whole period late starts the new instants there.
    if (missed_ == MissedPeriods::delay && instant_after(next_, period_) <= now) next_ = now;
    return Beat(*this, sleep_until(service_, next_, token));
}

namespace coroutine_detail {

template <class Awaitable>
decltype(auto) awaiter_of(Awaitable& awaitable) {
    if constexpr (requires { std::move(awaitable).operator co_await(); }) {
        return std::move(awaitable).operator co_await();
    } else if constexpr (requires { operator co_await(std::move(awaitable)); }) {
        return operator co_await(std::move(awaitable));
    } else {
        return (awaitable);
    }
}

template <class Value>
struct Limited {
    using type = std::optional<Value>;
};
template <>
struct Limited<void> {
    using type = bool;
};

}  // namespace coroutine_detail

// The result of with_timeout(): the value or nothing; for work without a value, whether it was done.
template <class Value>
using Limited = typename coroutine_detail::Limited<Value>::type;

// Awaits work with a timeout; see with_timeout().
//
// The work resumes a stand-in for the awaiting coroutine: the object of a std::coroutine_handle starts, with all three
// compilers, with the functions to resume and to destroy it, so an object that starts like that works without an
// allocation. Of the three, the work, the timer and the end of await_suspend(), none resumes the coroutine before the
// third is done with this object.
template <class Awaitable, class Limit>
class [[nodiscard]] WithTimeout {
  public:
    WithTimeout(TimerService& service, Limit limit, Awaitable&& work)
        : service_(service), limit_(limit), work_(std::forward<Awaitable>(work)) {}
    WithTimeout(const WithTimeout&) = delete;
    WithTimeout& operator=(const WithTimeout&) = delete;
    ~WithTimeout() { withdraw(); }

    bool await_ready() { return awaiter_.await_ready(); }

    bool await_suspend(std::coroutine_handle<> waiter) {
        waiter_ = waiter;
        const auto arming = arm([this] { come(kTimer); });
        if (arming != EmbeddedTimer::Arming::armed) {  // without a timeout there is no work
            state_.fetch_or(kTimer | kTimerFirst);
            return false;
        }
        const auto stand_in = std::coroutine_handle<>::from_address(&frame_);
        using Suspended = decltype(awaiter_.await_suspend(stand_in));
        if constexpr (std::is_void_v<Suspended>) {
            awaiter_.await_suspend(stand_in);
        } else if constexpr (std::is_same_v<Suspended, bool>) {
            if (!awaiter_.await_suspend(stand_in)) state_.fetch_or(kWork);
        } else {
            awaiter_.await_suspend(stand_in).resume();
        }
        const unsigned before = state_.fetch_or(kSuspended);
        if ((before & (kWork | kTimer)) == 0) return true;
        if ((before & kTimerFirst) == 0) return false;
        // The timeout came while this thread started the work, which may continue on the driver: it must be abandoned
        // there.
        return timer_.arm_soon(service_, [this] { waiter_.resume(); });
    }

    auto await_resume() -> Limited<decltype(std::declval<decltype(coroutine_detail::awaiter_of(
                                                std::declval<std::remove_reference_t<Awaitable>&>()))>()
                                                .await_resume())> {
        using Value = decltype(awaiter_.await_resume());
        const bool done = (state_.load() & kTimerFirst) == 0;
        if (done) withdraw();
        if constexpr (std::is_void_v<Value>) {
            if (done) awaiter_.await_resume();
            return done;
        } else {
            if (!done) return std::nullopt;
            return awaiter_.await_resume();
        }
    }

  private:
    static constexpr unsigned kSuspended = 1;
    static constexpr unsigned kWork = 2;
    static constexpr unsigned kTimer = 4;
    static constexpr unsigned kTimerFirst = 8;

    struct Frame {
        void (*resume)(Frame*) = [](Frame* frame) { frame->self->come(kWork); };
        void (*destroy)(Frame*) = [](Frame*) {};
        WithTimeout* self;
    };

    template <class Come>
    EmbeddedTimer::Arming arm(Come come) {
        if constexpr (std::is_same_v<Limit, TimerInstant>) {
            return timer_.arm_at(service_, limit_, come);
        } else {
            return timer_.arm_after(service_, limit_, come);
        }
    }

    // The first one decides; if the coroutine is suspended, it also resumes it.
    void come(unsigned who) {
        unsigned before = state_.load();
        unsigned after = 0;
        do {
            after = before | who;
            if (who == kTimer && (before & kWork) == 0) after |= kTimerFirst;
        } while (!state_.compare_exchange_weak(before, after));
        if ((before & (kWork | kTimer)) != 0 || (before & kSuspended) == 0) return;
        waiter_.resume();
    }

    // A timer that cannot be removed is about to fire on the driver's thread, which takes no longer than come().
    void withdraw() {
        if (timer_.withdraw()) return;
        while ((state_.load() & kTimer) == 0) EmbeddedTimer::wait_a_moment();
    }

    TimerService& service_;
    Limit limit_;
    Awaitable work_;
    decltype(coroutine_detail::awaiter_of(std::declval<std::remove_reference_t<Awaitable>&>())) awaiter_ =
        coroutine_detail::awaiter_of(work_);
    Frame frame_{.self = this};
    std::coroutine_handle<> waiter_{};
    std::atomic<unsigned> state_{0};
    EmbeddedTimer timer_;
};

// The result of `work`, or nothing if it took longer than `limit` (or the service was stopped meanwhile). If the
// service accepts no timers, the work is not started. Work that is ready at once needs no timer. On a timeout the
// work's awaitable is destroyed, unless it was passed as an lvalue, and must support that: this library's sleeps and
// tasks do. It must accept any coroutine handle, and be resumed on the driver's thread or ensure itself that it is not
// resumed while it is destroyed.
template <class Awaitable>
WithTimeout<Awaitable, std::chrono::nanoseconds> with_timeout(TimerService& service, std::chrono::nanoseconds limit,
                                                              Awaitable&& work) {
    return {service, limit, std::forward<Awaitable>(work)};
}
// The same with an instant: one deadline for several pieces of work in sequence.
template <class Awaitable>
WithTimeout<Awaitable, TimerInstant> timeout_at(TimerService& service, TimerInstant deadline, Awaitable&& work) {
    return {service, deadline, std::forward<Awaitable>(work)};
}

}  // namespace duewheel
