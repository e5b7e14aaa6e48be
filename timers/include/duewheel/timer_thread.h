// A dedicated thread for a TimerService: sleeps until something is due, runs it, sleeps again. It does not wake up
// while nothing is due.
//
// Example:
//     TimerService service;
//     TimerThread thread(service);
//     assert(service.submit_after(1ms, [] { return 7; }).value().get() == 7);
//     static_cast<void>(service.schedule_after(1h, [] {}));
//     assert(thread.stop().size() == 1);                   // the pending timers
//
// Choose it unless the program has a loop that can drive the service (timer_descriptor.h, asio.h). Drawbacks: it takes
// a thread, and tasks run in parallel to the rest of the program.
//
// Tasks run on this thread unless the service has an executor. Several services need several threads, because one
// blocking task would delay all of them; an executor for the tasks is the alternative.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <duewheel/timer_service.h>

namespace duewheel {

class TimerThread {
  public:
    // Creates a thread for a function. The default creates a std::thread; another may name it, pin it or count it.
    using Factory = std::function<std::thread(std::function<void()>)>;

    // The service must outlive the thread, and must have no other driver meanwhile. Throws std::system_error if the
    // system has no more threads or alarms, std::invalid_argument if the factory returns none.
    explicit TimerThread(TimerService& service, const Factory& factory = {});
    TimerThread(const TimerThread&) = delete;
    TimerThread& operator=(const TimerThread&) = delete;
    // Like stop(); not from a task that this thread runs.
    ~TimerThread();

    // Stops the service, waits for the running task, and ends the thread. Returns the timers that were pending. In a
    // task of this thread it does not wait: the thread ends after the task. The second call returns nothing, and waits
    // like the first.
    std::vector<Timeout> stop();

    // Gradual end: TimerService::shutdown(), and when the last one-shot timer has run, the thread stops the service and
    // ends. In a task of this thread it does not wait; otherwise it returns when the thread has ended.
    void finish();

    // Around fork(): the thread pauses between two tasks, and none of its locks is held. Afterwards both processes call
    // after_fork_in_...(); the child gets its own thread, with all timers. Not from a task of this thread, nor while an
    // executor has tasks of the service, because the child does not have its threads.
    void before_fork();
    void after_fork_in_parent();
    void after_fork_in_child();

    // The number of wake-ups so far.
    [[nodiscard]] std::uint64_t wakeups() const { return wakeups_.load(std::memory_order_relaxed); }

  private:
    void begin();
    void end();
    void wait_for_end();
    void run();

    TimerService& service_;
    Factory factory_;
    std::unique_ptr<TimerAlarm> alarm_;  // the owner of the thread while it lives
    std::atomic<bool> ends_{false};
    std::atomic<bool> finishes_{false};
    std::atomic<std::uint64_t> wakeups_{0};
    std::atomic<std::thread::id> id_{};
    std::mutex joining_;
    std::thread thread_;
};

}  // namespace duewheel
