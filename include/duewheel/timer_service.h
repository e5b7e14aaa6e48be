// Timers that run callbacks: a timing wheel (duewheel/intrusive_timing_wheel.h) that any thread may use, with handles,
// periods, executors and figures about itself.
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
// Choose it for callbacks at times, from any number of threads; where one thread turns a wheel and makes of it what it
// likes, timing_wheel.h alone is faster. What it gives up: an order within a tick, and what the process gives up when
// it ends: nothing is on disk.
//
// The service is passive: it is told the time by whoever drives it, and one thread at a time does. Drivers are
//
//     a thread of its own                    TimerThread             duewheel/timer_thread.h
//     your loop                              advance(), next_expiry()
//     poll, epoll and their kin              TimerDescriptor         duewheel/timer_descriptor.h
//     Boost.Asio                             WheelTimer              duewheel/asio.h
//     coroutines, on any of these            sleep_for(), ...        duewheel/coroutine.h
//
// Time. A timer fires at the first tick at or after its deadline, never before: deadlines are rounded up to ticks, now
// is rounded down. A delay of zero or less is due now and fires in the driver's next pass, which is also what a task
// gets that schedules its like again without delay: others have their turn. A delay beyond the end of time waits for
// ever. While nothing is due the driver sleeps, however many timers wait: no tick wakes it.
//
// Threads. The driver's thread, which is where tasks run inline, works on the wheel itself. Other threads put what they
// want into a mailbox, without a lock, and wake the driver only when it would sleep too long for it. A cancelled timer
// that the driver has not been told of is garbage, 128 bytes, for what its task held is gone; the mailbox holds at most
// 1,024 entries, and who finds it full empties it in place of the driver, so that bound holds also while the driver
// sleeps or is not there.
//
// Whose code runs where. Only the driver and the executor run tasks. What a task holds is destroyed after its run, or
// by who cancels it, before cancel() returns. So no call runs or destroys anything of another timer, but a driver's and
// stop(): the others may be made with a lock held that other tasks, or the destructors of what they hold, take.
//
// Tasks run with no lock held and may do anything: cancel any timer, schedule, stop the service. One that throws
// disturbs nobody; the exception goes to `on_error`. One that blocks holds up the tasks behind it, unless there is an
// executor. Of one timer no two runs overlap. Tasks of one tick run in no promised order, those of an earlier tick
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

// Runs a task once, sometime, here or elsewhere: `[&](TimerTask task) { pool.post(std::move(task)); }`. It is called by
// the driver's thread, and by who calls dispatch(). It may drop a task instead, or throw, which goes to on_error and
// drops it, too: a timer has been cancelled then, and what is built on it ends with it (a retry gives up, a trigger
// makes no further firing), so an executor that drops is one for tasks that may be dropped. Let it destroy what it
// drops with no lock held that a task may want.
using TimerExecutor = std::function<void(TimerTask)>;

// What a fixed rate does about periods that have passed when a run ends, because the run began late or took long.
enum class MissedPeriods : std::uint8_t {
    burst,  // runs them all, one after the other, until it has caught up
    skip,   // goes on at the next instant of the old grid
    delay,  // goes on a period after the late run began, or at once if that has passed: a new grid
};

// The nominal instant of the run after one that was due at `nominal`, began at `begun` and has `ended`.
TimerInstant next_nominal(MissedPeriods missed, std::chrono::nanoseconds period, TimerInstant nominal,
                          TimerInstant begun, TimerInstant ended);

// What becomes of timers at wall instants when somebody sets the wall clock.
enum class WallJump : std::uint8_t {
    fire_now,  // the instant counts: what the jump passed over is due at once, and a step back waits again
    shift,     // the distance counts: they fire after the time that was left when they were scheduled
    skip,      // what the jump passed over does not happen: one-shots are cancelled, schedules go on with what is next
};

struct TimerOptions {
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    std::chrono::nanoseconds tick = std::chrono::milliseconds(1);  // at least 1 ns
    std::size_t max_pending = kUnlimited;                          // more are refused: timers_full
    TimerExecutor executor{};                                      // none: inline, on the driver's thread
    // Gets what a task threw, on the thread that ran it, and the task's name or nullptr. None: a line on stderr. It
    // must not throw.
    std::function<void(std::exception_ptr, const char* name)> on_error{};
    std::chrono::nanoseconds slow_task{0};  // tasks that take longer are counted and named; zero: nobody measures
    WallJump wall_jump = WallJump::fire_now;
};

// What the service has done so far, consistent in itself.
struct TimerStatistics {
    struct SlowTask {
        const char* name;  // of named(); "(unnamed)" for all others together
        std::uint64_t count;
        std::chrono::nanoseconds longest;
    };

    std::size_t pending = 0;              // cancelled ones not included
    std::uint64_t fired = 0;              // runs of tasks, each period one; from when the executor has them on
    std::uint64_t cancelled = 0;          // also by stop(), by WallJump::skip, and by an executor that drops them
    std::uint64_t failed = 0;             // runs, and executors, that threw
    std::uint64_t slow = 0;               // runs that took longer than slow_task
    std::uint64_t wakes = 0;              // times a thread had to wake the driver
    std::uint64_t passes = 0;             // times the driver looked
    std::chrono::nanoseconds overdue{0};  // how long the oldest timer that is due has been waiting
    // Runs, also those that an executor drops, by how late the driver came to them: [0] on their tick, [n] from 2^(n-1)
    // to 2^n - 1 ticks late.
    std::array<std::uint64_t, 65> lateness_ticks{};
    std::vector<SlowTask> slow_tasks;  // most often first
};

class TimerService {
  public:
    // Neither driver nor user of a passive service has a thread of it. `clock` outlives the service. Throws
    // std::invalid_argument for a tick of nothing or less, and for a negative slow_task.
    explicit TimerService(TimerOptions options = {}, const TimerClock& clock = monotonic_clock());
    TimerService(const TimerService&) = delete;
    TimerService& operator=(const TimerService&) = delete;
    // Stops, and waits for all that the executor has been given; so the executor outlives the service. Drivers must be
    // gone, and no call on the service or on a pending timer's handle may be under way. Not from a task, also of yours
    // on the only thread of the executor's pool, nor from a coroutine that the service has resumed.
    ~TimerService();

    // ---- schedule: any thread ----
    // Codes: timers_full (max_pending), timers_stopped (also after shutdown()). O(1), and no allocation for callables
    // of up to 48 bytes once there have been as many timers before. Throws std::bad_alloc, std::invalid_argument where
    // there is nothing to call (a null pointer, an empty std::function), and what moving the callable throws; then
    // nothing is scheduled.

    template <std::invocable Callable>
    Result<Timeout> schedule_at(TimerInstant deadline, Callable&& callable) {
        return schedule(tick_of(deadline), std::forward<Callable>(callable));
    }
    template <std::invocable Callable>
    Result<Timeout> schedule_after(std::chrono::nanoseconds delay, Callable&& callable) {
        return schedule(tick_after_now(delay), std::forward<Callable>(callable));
    }
    // At an instant of the wall clock; see WallJump. Allocates.
    Result<Timeout> schedule_at(Instant wall, TimerTask task);

    // Again and again until it is cancelled (Timeout can move the next run, and change the period): a period counted
    // from the nominal start, from the end of the task, or as a calendar says. Throw std::invalid_argument where the
    // period is less than a tick, or the delay is nothing or less. They allocate once.
    Result<Timeout> schedule_at_fixed_rate(std::chrono::nanoseconds first_after, std::chrono::nanoseconds period,
                                           TimerTask task, MissedPeriods missed = MissedPeriods::burst);
    Result<Timeout> schedule_with_fixed_delay(std::chrono::nanoseconds first_after, std::chrono::nanoseconds delay,
                                              TimerTask task);
    // Refused when the schedule never fires again: never_fires. Ends by itself after the last firing.
    Result<Timeout> schedule_cron(CronSchedule schedule, TimerTask task);

    // The callable's result, or what it threw, comes through the future. Cancelled or stopped: std::future_error,
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

    // The timer whose task runs on this thread just now; one that names none outside of tasks.
    [[nodiscard]] static Timeout current();

    // Runs the task as those of timers are run: by the executor, which costs an allocation, or else here and now. What
    // it throws goes to on_error.
    void dispatch(TimerTask task);

    // ---- drive: one thread at a time ----

    // Runs (or hands to the executor) all that is due, and returns how many. Tasks that are scheduled meanwhile and due
    // already wait for the next call, so it ends. Called from a task, or while another thread is in it, it does nothing
    // and returns 0.
    std::size_t advance() { return advance(clock_.now()); }
    // The same for a driver who has just read the clock; instants before an earlier one count as that one.
    std::size_t advance(TimerInstant now);

    // When advance() next has something to do, by the wall as it is now: kNeverInstant if never. The moment after,
    // others may schedule something earlier, and somebody may set the wall; a driver that sleeps uses rest().
    [[nodiscard]] TimerInstant next_expiry();

    // For drivers: what rings when somebody schedules something before the instant that rest() returned. Set before the
    // first rest(), and set to nullptr before the alarm goes; any thread.
    void set_alarm(TimerAlarm* alarm);
    // The driver has nothing more to do now: sets the alarm to the next expiry, and returns it. Until the next
    // advance() whoever schedules something earlier sets it to that. While another thread is in advance() it does
    // nothing, as that one rests afterwards.
    TimerInstant rest();

    // ---- end and figures: any thread ----

    // An orderly end: from now on schedules are refused, and periodic timers are cancelled; timers that wait to run
    // once, and coroutines that sleep, still have their time, as long as there is a driver. Returns how many those are.
    // When pending() is 0, stop(); or before, to give up the rest. TimerThread::finish() does all of it. O(n).
    std::size_t shutdown();

    // From now on schedules are refused, and nothing that is pending fires. Returns the timers that were pending;
    // they count as cancelled. Tasks that run meanwhile, or that the executor has, are no longer pending and end in
    // their own time: it waits for none and may be called from one. Coroutines that sleep go on, before it returns or,
    // where another thread is in advance(), before that does. The second call returns nothing. A schedule that races it
    // is refused or is in the list.
    std::vector<Timeout> stop();
    [[nodiscard]] bool stopped() const;

    // Pending timers. Takes what lies in the mailbox into account, so it costs what is there.
    [[nodiscard]] std::size_t pending();
    [[nodiscard]] TimerStatistics statistics();

    // Between these two, no other thread is inside the service: around fork(), so that the child finds it whole. Every
    // driver must rest or wait meanwhile; TimerThread has its own pair, which calls these. An executor must have
    // nothing of the service: the child does not have its threads, and would wait in ~TimerService for what they had.
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
    friend struct TimerServiceProbe;  // lets the tests look

    template <class Callable>
    Result<Timeout> schedule(Tick deadline, Callable&& callable) {
        NewNode node(*this);
        node.task().emplace(std::forward<Callable>(callable));
        return std::move(node).arm(deadline);
    }

    // A node from the pool that goes back there unless it is armed.
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
    // For what reads the wall by itself: a timer that keeps to it whatever WallJump says, and that may come again.
    Result<Timeout> schedule_at_wall(Instant wall, TimerTask task);
    // From the task of such a timer: it comes again then, unless it is cancelled, and keeps its place meanwhile.
    static void again_at(Instant wall);
    // From the task of one with a fixed delay: its next run comes so long after the end of this one.
    static void again_after(std::chrono::nanoseconds delay);
    // Ends the sleep of the driver, for one who has said before what it is to find then.
    void wake_driver();
    Tick tick_of(TimerInstant deadline) const;
    Tick tick_after_now(std::chrono::nanoseconds delay) const;

    const TimerClock& clock_;
    const std::chrono::nanoseconds tick_;
    const std::unique_ptr<TimerCore> core_;
};

}  // namespace duewheel
