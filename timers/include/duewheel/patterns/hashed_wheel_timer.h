// A timer with the interface of Netty's HashedWheelTimer: one thread, timeouts that can be cancelled, and a stop that
// returns the remaining ones.
//
// Why choose it: for code and experience from Netty. Differences: while nothing is due it does not wake up, where the
// original wakes up at every tick; a tick costs what is due in it, not what is in its slot; there is no maximum delay
// and no wheel size that is too small. Drawback compared with TimerService, on which it is based: it always has its own
// thread. Tasks run on that thread unless there is an executor; an exception of a task is reported and affects no other
// task.
//
//     newTimeout(task, delay, unit)      new_timeout(task, delay)           max_pending: code timers_full
//     Timeout.cancel / isExpired         Timeout::cancel() / is_expired()   (duewheel/timeout.h)
//     stop()                             stop()                             the unprocessed ones
//     pendingTimeouts()                  pending_timeouts()
//     maxPendingTimeouts                 max_pending_timeouts
//     leak detection                     a report of a timer that is destroyed without stop()
//     too many instances                 one report when there are more than kInstancesMax
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     HashedWheelTimer timer({.tick = 1s, .ticks_per_wheel = 100}, clock);
//     std::atomic<int> ran = 0;
//     const Result<Timeout> timeout = timer.new_timeout([&](const Timeout& own) { ran += own.is_expired(); }, 3s);
//     if (!timeout) return timeout.error();
//     clock.advance(3s);
//     assert(ran == 1 && timer.stop().empty());
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <duewheel/status.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

namespace duewheel {

struct HashedWheelTimerOptions {
    std::chrono::nanoseconds tick = std::chrono::milliseconds(100);
    // Rounded up to a power of two, and from 1 to 2^30. It exists for compatible settings, and has no effect: see
    // ticks_per_wheel().
    std::size_t ticks_per_wheel = 512;
    std::size_t max_pending_timeouts = TimerOptions::kUnlimited;
    TimerThread::Factory thread_factory{};                                 // none: a std::thread
    TimerExecutor executor{};                                              // none: tasks run on the timer's thread
    std::function<void(std::exception_ptr, const char* name)> on_error{};  // none: a line on stderr
    // Receives a message about a misuse: never stopped, too many instances. None: a line on stderr. It must not throw.
    std::function<void(std::string_view)> on_misuse{};
};

// Any thread may call all functions, also in a task.
class HashedWheelTimer {
  public:
    // More instances than this at once are reported, once per process: each has a thread, and one serves a million
    // timeouts.
    static constexpr std::size_t kInstancesMax = 64;

    // The clock must outlive the timer. Starts no thread yet. Throws std::invalid_argument for a tick of zero or less,
    // and if ticks_per_wheel is out of range.
    explicit HashedWheelTimer(HashedWheelTimerOptions options = {}, const TimerClock& clock = monotonic_clock());
    HashedWheelTimer(const HashedWheelTimer&) = delete;
    HashedWheelTimer& operator=(const HashedWheelTimer&) = delete;
    // Reports an error if the timer was used and never stopped, and stops it. Not in a task.
    ~HashedWheelTimer();

    // Starts the thread, which the first new_timeout() does too. No effect if it was started or stopped already. Throws
    // std::system_error if the system has no more threads.
    void start();

    // Runs the task at the first tick at or after `delay`. The task gets its own Timeout, or nothing. Codes:
    // timers_full (max_pending_timeouts), timers_stopped. Throws as start(), and std::invalid_argument where there is
    // nothing to call.
    template <class Task>
    requires std::invocable < std::decay_t<Task>
    &, const Timeout& > ||
           std::invocable<std::decay_t<Task>&> Result<Timeout> new_timeout(Task&& task,
                                                                           std::chrono::nanoseconds delay) {
        if (is_empty_callable<std::decay_t<Task>>(task)) refuse_empty_task();
        start();
        if constexpr (std::invocable<std::decay_t<Task>&, const Timeout&>) {
            return service_.schedule_after(
                delay, [own = std::forward<Task>(task)]() mutable { own(TimerService::current()); });
        } else {
            return service_.schedule_after(delay, std::forward<Task>(task));
        }
    }

    // Ends the timer: no task begins any more. Returns what was not run. From a task it does not wait for that task;
    // the second call returns nothing.
    std::vector<Timeout> stop();

    [[nodiscard]] std::size_t pending_timeouts() { return service_.pending(); }

    [[nodiscard]] std::chrono::nanoseconds tick() const { return service_.tick(); }
    // As rounded. Here a wheel has as many levels as it needs, so no size is too small or too large.
    [[nodiscard]] std::size_t ticks_per_wheel() const { return ticks_per_wheel_; }
    // How often the thread has woken: nothing due, no wake.
    [[nodiscard]] std::uint64_t wakeups() const;

    // Timers of this kind that there are now.
    [[nodiscard]] static std::size_t instances();

  private:
    void report(std::string_view misuse) const;

    const std::size_t ticks_per_wheel_;
    const TimerThread::Factory thread_factory_;
    const std::function<void(std::string_view)> on_misuse_;
    TimerService service_;
    mutable std::mutex mutex_;  // guards all below
    std::unique_ptr<TimerThread> thread_;
    bool is_stopped_ = false;
};

}  // namespace duewheel
