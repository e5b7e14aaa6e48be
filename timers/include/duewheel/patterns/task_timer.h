// A timer with the calls of java.util.Timer and a thread of its own: a task runs after a delay or at a date, once or
// periodically.
//
// Why choose it: for code that is ported from Java, and for a few background tasks of a program. Unlike in Java, a task
// that throws ends neither the timer nor its own repetition. For more than a few tasks use a TimerService
// (duewheel/timer_service.h), which many timers can share without a thread for each. Drawback: tasks run one after the
// other, so one that blocks delays the others.
//
//     schedule(task, delay)                  once
//     schedule(task, delay, period)          then a period after each start; missed runs are skipped
//     schedule(task, date)                   once, at a time of the wall clock; a past date is due now
//     schedule(task, first_time, period)     then like the form with a delay
//     schedule_at_fixed_rate(...)            the two periodic forms counted from the first start; missed runs are
//                                            caught up
//
// Example:
//     #include <duewheel/manual_clock.h>
//     ManualClock clock;
//     TaskTimer timer({}, clock);
//     std::atomic<int> runs = 0;
//     const Result<Timeout> task = timer.schedule([&] { ++runs; }, 1s, 2s);
//     if (!task) return task.error();
//     clock.advance(6s);                                   // at 1, 3 and 5 s
//     assert(runs == 3);
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include <duewheel/instant.h>
#include <duewheel/status.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

namespace duewheel {

// All functions may be called by any thread, also from a task. Errors of all forms: timers_full (max_pending),
// timers_stopped. A period is at least a tick.
class TaskTimer {
  public:
    // Starts the thread. The clock outlives the timer. Throws std::system_error where the system has no more threads.
    explicit TaskTimer(TimerOptions options = {}, const TimerClock& clock = monotonic_clock());
    TaskTimer(const TaskTimer&) = delete;
    TaskTimer& operator=(const TaskTimer&) = delete;

    Result<Timeout> schedule(TimerTask task, std::chrono::nanoseconds delay);
    Result<Timeout> schedule(TimerTask task, std::chrono::nanoseconds delay, std::chrono::nanoseconds period);
    Result<Timeout> schedule(TimerTask task, Instant date);
    Result<Timeout> schedule(TimerTask task, Instant first_time, std::chrono::nanoseconds period);
    Result<Timeout> schedule_at_fixed_rate(TimerTask task, std::chrono::nanoseconds delay,
                                           std::chrono::nanoseconds period);
    Result<Timeout> schedule_at_fixed_rate(TimerTask task, Instant first_time, std::chrono::nanoseconds period);

    // Ends the timer: no task begins any more, and the thread ends. Returns the tasks that were pending. From a task it
    // does not wait for that task. The second call returns nothing.
    std::vector<Timeout> cancel() { return thread_.stop(); }

    // Tasks that will run. Cancelled ones leave by themselves: there is no purge().
    [[nodiscard]] std::size_t size() { return service_.pending(); }

    [[nodiscard]] TimerService& service() { return service_; }

  private:
    std::chrono::nanoseconds until(Instant date) const;

    TimerService service_;
    TimerThread thread_;
};

}  // namespace duewheel
