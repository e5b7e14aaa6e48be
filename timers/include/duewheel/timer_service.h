// Timers that run callbacks: a timing wheel (duewheel/intrusive_timing_wheel.h) that any thread can use, with handles,
// periods, executors and statistics.
//
// Example:
//     #include <duewheel/timer_thread.h>
//     TimerService service;                                // passive: it has no thread
//     TimerThread thread(service);                         // now it has one
//     Timeout timeout = service.schedule_after(1h, [] { std::abort(); }).value();
//     std::future<int> answer = service.submit_after(1ms, [] { return 42; }).value();
//     assert(answer.get() == 42);
//     assert(timeout.cancel() == CancelOutcome::removed);
//
// Choose it for callbacks at times, from any number of threads. If one thread drives a wheel and handles expired timers
// itself, timing_wheel.h alone is faster. Drawbacks: no order within a tick, and timers are lost when the process ends:
// nothing is on disk.
//
// The service is passive: a driver advances it, one thread at a time. Drivers are
//
//     a dedicated thread                     TimerThread             duewheel/timer_thread.h
//     your loop                              advance(), next_expiry()
//     poll, epoll and the like               TimerDescriptor         duewheel/timer_descriptor.h
//     Boost.Asio                             WheelTimer              duewheel/asio.h
//     coroutines, on any of these            sleep_for(), ...        duewheel/coroutine.h
//
// Time. A timer fires at the first tick at or after its deadline, never before: deadlines are rounded up to ticks, the
// current time is rounded down. A delay of zero or less is due now and fires in the driver's next pass; so does a timer
// that a task schedules without delay, so that other timers run in between. A delay beyond the end of time waits
// forever. While nothing is due the driver sleeps, with any number of timers: it has no periodic wake-up.
//
// Threads. The driver's thread, which runs tasks inline, works on the wheel itself. Other threads send commands through
// a lock-free mailbox, and wake the driver only if it would sleep too long. A cancelled timer that the driver has not
// processed yet takes 128 bytes, because the content of its task is destroyed already. The mailbox holds at most 1,024
// entries, and a thread that finds it full empties it in place of the driver, so that bound also holds while the driver
// sleeps or does not exist.
//
// Who runs what. Only the driver and the executor run tasks. The content of a task is destroyed after its run, or by
// the thread that cancels it, before cancel() returns. So except for a driver's calls and stop(), no call runs or
// destroys anything of another timer, and calls are safe while holding a lock that tasks, or their destructors, take.
//
// Tasks run with no lock held and may do anything: cancel any timer, schedule, stop the service. An exception from a
// task goes to `on_error` and affects no other timer. A task that blocks delays the tasks behind it, unless there is an
// executor. Runs of one timer never overlap. The order of tasks of one tick is undefined; tasks of an earlier tick run
// before those of a later one.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <duewheel/cron_schedule.h>
#include <duewheel/status.h>
#include <duewheel/timeout.h>
#include <duewheel/timer_clock.h>
#include <duewheel/timer_task.h>

namespace duewheel {

// Runs a task once, at any time, on any thread: `[&](TimerTask task) { pool.post(std::move(task)); }`. It is called by
// the driver's thread, and by callers of dispatch(). It may drop a task, or throw, which goes to on_error and also
// drops it: the timer then counts as cancelled, and what is built on it ends (a retry gives up, a trigger fires no
// more), so an executor that drops tasks is only for tasks that may be dropped. It should destroy dropped tasks with no
// lock held that a task may take.
using TimerExecutor = std::function<void(TimerTask)>;

// What a fixed rate does about periods that have passed when a run ends, because the run started late or took long.
enum class MissedPeriods : std::uint8_t {
    burst,  // runs them all, one after the other, until it has caught up
    skip,   // continues at the next of the original instants
    delay,  // continues a period after the start of the late run, or at once if that has passed: new instants
};

// The nominal instant of the run after one that was due at `nominal`, started at `begun` and has `ended`.
TimerInstant next_nominal(MissedPeriods missed, std::chrono::nanoseconds period, TimerInstant nominal,
                          TimerInstant begun, TimerInstant ended);

// What happens to timers at wall clock times when the wall clock is set.
enum class WallJump : std::uint8_t {
    fire_now,  // the wall clock time counts: times within the jump are due at once, and after a step back they wait
               // again
    shift,     // the duration counts: they fire after the time that remained when they were scheduled
    skip,  // times within the jump are skipped: one-shot timers are cancelled, schedules continue with the next time
};

struct TimerOptions {
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    std::chrono::nanoseconds tick = std::chrono::milliseconds(1);  // at least 1 ns
    std::size_t max_pending = kUnlimited;                          // more are refused: timers_full
    TimerExecutor executor{};                                      // none: inline, on the driver's thread
    // Receives an exception of a task on the thread that ran it, with the name of the task or nullptr. None: a line on
    // stderr. It must not throw.
    std::function<void(std::exception_ptr, const char* name)> on_error{};
    std::chrono::nanoseconds slow_task{0};  // longer tasks are counted and named; zero: tasks are not measured
    WallJump wall_jump = WallJump::fire_now;
};

// Statistics of the service, consistent with each other.
struct TimerStatistics {
    struct SlowTask {
        const char* name;  // from named(); "(unnamed)" for all others together
        std::uint64_t count;
        std::chrono::nanoseconds longest;
    };

    std::size_t pending = 0;              // without cancelled ones
    std::uint64_t fired = 0;              // runs of tasks, each period counts as one; from when the executor has them
    std::uint64_t cancelled = 0;          // also by stop(), by WallJump::skip, and by an executor that drops them
    std::uint64_t failed = 0;             // runs, and calls of executors, that threw
    std::uint64_t slow = 0;               // runs that took longer than slow_task
    std::uint64_t wakes = 0;              // times a thread had to wake the driver
    std::uint64_t passes = 0;             // times the driver checked for due timers
    std::chrono::nanoseconds overdue{0};  // how long the oldest due timer has been waiting
    // Runs, including those that an executor drops, by the lateness of the driver: [0] on their tick, [n] from 2^(n-1)
    // to 2^n - 1 ticks late.
    std::array<std::uint64_t, 65> lateness_ticks{};
    std::vector<SlowTask> slow_tasks;  // most often first
};

class TimerService {
  public:
    // A passive service has no thread of its own. `clock` must outlive the service. Throws
    // std::invalid_argument for a tick of zero or less, and for a negative slow_task.
    explicit TimerService(TimerOptions options = {}, const TimerClock& clock = monotonic_clock());
    TimerService(const TimerService&) = delete;
    TimerService& operator=(const TimerService&) = delete;
    // Stops, and waits for all tasks that the executor has; so the executor must outlive the service. Drivers must be
    // destroyed, and no call on the service or on a handle of a pending timer may be running. Not from a task, also not
    // one on the only thread of the executor's pool, nor from a coroutine that the service has resumed.
    ~TimerService();

    // ---- schedule: any thread ----
    // Codes: timers_full (max_pending), timers_stopped (also after shutdown()). O(1), and no allocation for callables
    // of up to 48 bytes if there have been as many timers before. Throws std::bad_alloc, std::invalid_argument if there
    // is nothing to call (a null pointer, an empty std::function), and what moving the callable throws; then nothing is
    // scheduled.

    template <std::invocable Callable>
    Result<Timeout> schedule_at(TimerInstant deadline, Callable&& callable) {
        return schedule(tick_of(deadline), std::forward<Callable>(callable));
    }
    template <std::invocable Callable>
    Result<Timeout> schedule_after(std::chrono::nanoseconds delay, Callable&& callable) {
        return schedule(tick_after_now(delay), std::forward<Callable>(callable));
    }
    // At a wall clock time; see WallJump. Allocates.
    Result<Timeout> schedule_at(Instant wall, TimerTask task);

    // Repeatedly until it is cancelled (Timeout can move the next run, and change the period): with a period from the
    // nominal start, from the end of the task, or by a calendar. Throws std::invalid_argument if the period is less
    // than a tick, or the delay is zero or less. Allocates once.
    Result<Timeout> schedule_at_fixed_rate(std::chrono::nanoseconds first_after, std::chrono::nanoseconds period,
                                           TimerTask task, MissedPeriods missed = MissedPeriods::burst);
    Result<Timeout> schedule_with_fixed_delay(std::chrono::nanoseconds first_after, std::chrono::nanoseconds delay,
                                              TimerTask task);
    // Refused if the schedule never fires again: never_fires. Ends by itself after the last firing.
    Result<Timeout> schedule_cron(CronSchedule schedule, TimerTask task);

    // The future gets the result of the callable, or its exception. If cancelled or stopped: std::future_error,
    // broken_promise.
    template <std::invocable Callable>
    auto submit_after(std::chrono::nanoseconds delay, Callable&& callable)
        -> Result<std::future<std::invoke_result_t<std::decay_t<Callable>&>>> {
        using Value = std::invoke_result_t<std::decay_t<Callable>&>;
        if (is_empty_callable<std::decay_t<Callable>>(callable)) refuse_empty_task();
        std::packaged_task<Value()> work(std::forward<Callable>(callable));
        std::future<Value> future = work.get_future();
        Result<Timeout> timeout = schedule_after(delay, std::move(work));
        if (!timeout) return std::move(timeout).error();
        return future;
    }

    // The timer whose task runs on this thread now; an empty handle outside of tasks.
    [[nodiscard]] static Timeout current();

    // Runs the task like those of timers: by the executor, which costs an allocation, or otherwise here and now. An
    // exception goes to on_error.
    void dispatch(TimerTask task);

    // ---- drive: one thread at a time ----

    // Runs (or passes to the executor) everything that is due, and returns the number. Tasks that are scheduled
    // meanwhile and due already wait for the next call, so it ends. Called from a task, or while another thread is in
    // it, it does nothing and returns 0.
    std::size_t advance() { return advance(clock_.now()); }
    // The same for a driver that has just read the clock; instants before an earlier one count as that one.
    std::size_t advance(TimerInstant now);

    // When advance() next has something to do, by the current wall clock: kNeverInstant if never. Other threads may
    // schedule something earlier right afterwards, or the wall clock may be set; a driver that sleeps uses rest().
    [[nodiscard]] TimerInstant next_expiry();

    // For drivers: rings when something is scheduled before the instant that rest() returned. Set before the first
    // rest(), and set to nullptr before the alarm is destroyed; any thread.
    void set_alarm(TimerAlarm* alarm);
    // The driver has nothing more to do now: sets the alarm to the next expiry, and returns it. Until the next
    // advance(), a thread that schedules something earlier sets it to that. No effect while another thread is in
    // advance(), because that one rests afterwards.
    TimerInstant rest();

    // ---- end and figures: any thread ----

    // Gradual end: from now on new timers are refused, and periodic timers are cancelled; one-shot timers and sleeping
    // coroutines still get their time, as long as there is a driver. Returns the number of those. When pending() is 0,
    // call stop(); or earlier, to drop the others. TimerThread::finish() does all of it. O(n).
    std::size_t shutdown();

    // From now on new timers are refused, and nothing that is pending fires. Returns the timers that were pending; they
    // count as cancelled. Tasks that run meanwhile, or that the executor has, are no longer pending and continue to
    // their end: it waits for none and may be called from one. Sleeping coroutines resume, before it returns or, if
    // another thread is in advance(), before that returns. The second call returns nothing. A timer that is scheduled
    // at the same time is refused or is in the list.
    std::vector<Timeout> stop();
    [[nodiscard]] bool stopped() const;

    // Pending timers. Includes the mailbox, so the cost depends on its content.
    [[nodiscard]] std::size_t pending();
    [[nodiscard]] TimerStatistics statistics();

    // Between these two calls, no other thread is inside the service: around fork(), so that the child gets it in a
    // consistent state. Every driver must rest or wait meanwhile; TimerThread has its own pair, which calls these. An
    // executor must have no tasks of the service: the child has no threads for them, and ~TimerService would wait.
    void before_fork();
    void after_fork();

    [[nodiscard]] const TimerClock& clock() const { return clock_; }
    [[nodiscard]] std::chrono::nanoseconds tick() const { return tick_; }

  private:
    friend class CalendarTriggers;
    friend class EmbeddedTimer;
    friend class SystemTimer;
    friend class TimerThread;
    friend class WatchdogLease;
    friend struct TimerServiceProbe;  // for tests

    template <class Callable>
    Result<Timeout> schedule(Tick deadline, Callable&& callable) {
        NewNode node(*this);
        node.task().emplace(std::forward<Callable>(callable));
        return std::move(node).arm(deadline);
    }

    // A node from the pool that returns there unless it is scheduled.
    class NewNode {
      public:
        explicit NewNode(TimerService& service);
        NewNode(const NewNode&) = delete;
        NewNode& operator=(const NewNode&) = delete;
        ~NewNode();
        TimerTask& task() { return node_->task; }
        Result<Timeout> arm(Tick deadline, std::uint32_t flags = 0) &&;

      private:
        friend class TimerService;
        TimerService& service_;
        TimerNode* node_;
    };

    Result<Timeout> repeat(TimerRepeat&& repeat, TimerTask&& task);
    // For timers that read the wall clock themselves: they follow it whatever WallJump is, and may be scheduled again.
    Result<Timeout> schedule_at_wall(Instant wall, TimerTask task);
    // From the task of such a timer: schedules it again, unless it is cancelled, and keeps its slot in max_pending.
    static void again_at(Instant wall);
    // From the task of one with a fixed delay: its next run comes this long after the end of this one.
    static void again_after(std::chrono::nanoseconds delay);
    // Ends the sleep of the driver, for a caller that has already prepared what it will find.
    void wake_driver();
    Tick tick_of(TimerInstant deadline) const;
    Tick tick_after_now(std::chrono::nanoseconds delay) const;

    const TimerClock& clock_;
    const std::chrono::nanoseconds tick_;
    const std::unique_ptr<TimerCore> core_;
};

}  // namespace duewheel
