// A thread of its own for a TimerService: sleeps until something is due, runs it, sleeps again. Where nothing is due it
// does not wake at all.
//
// Example:
//     TimerService service;
//     TimerThread thread(service);
//     assert(service.submit_after(1ms, [] { return 7; }).value().get() == 7);
//     static_cast<void>(service.schedule_after(1h, [] {}));
//     assert(thread.stop().size() == 1);                   // what was pending
//
// Choose it unless the program has a loop that can drive the service (timer_descriptor.h, asio.h). What it gives up: a
// thread, and tasks that run beside the rest of the program.
//
// Tasks run on this thread unless the service has an executor. Several services need several threads, as one blocking
// task would hold up all; an executor for the tasks is the other way out.
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
    // Makes a thread from what it shall run. The default makes a std::thread; another may name it, pin it or count it.
    using Factory = std::function<std::thread(std::function<void()>)>;

    // The service outlives the thread, and has no other driver meanwhile. Throws std::system_error where the system has
    // no more threads or alarms, std::invalid_argument where the factory makes none.
    explicit TimerThread(TimerService& service, const Factory& factory = {});
    TimerThread(const TimerThread&) = delete;
    TimerThread& operator=(const TimerThread&) = delete;
    // As stop(); not from a task that this thread runs.
    ~TimerThread();

    // Stops the service, lets the task that runs end, and ends the thread. Returns what was pending. From a task of
    // this thread it does not wait: the thread ends after the task. The second call returns nothing, and waits as the
    // first.
    std::vector<Timeout> stop();

    // An orderly end: TimerService::shutdown(), and when the last timer that waits has run, the thread stops the
    // service and ends. From a task of this thread it does not wait; otherwise it returns when the thread has ended.
    void finish();

    // Around fork(): the thread rests between two tasks, and none of its locks is held. Afterwards both processes call
    // after_fork_in_...(); the child gets a thread of its own, with all timers. Not from a task of this thread, nor
    // while an executor has tasks of the service, whose threads the child does not have.
    void before_fork();
    void after_fork_in_parent();
    void after_fork_in_child();

    // How often it has woken from its sleep: for those who count wake-ups.
    [[nodiscard]] std::uint64_t wakeups() const { return wakeups_.load(std::memory_order_relaxed); }

  private:
    void begin();
    void end();
    void wait_for_end();
    void run();

    TimerService& service_;
    Factory factory_;
    std::unique_ptr<TimerAlarm> alarm_;  // while the thread lives, whose it is
    std::atomic<bool> ends_{false};
    std::atomic<bool> finishes_{false};
    std::atomic<std::uint64_t> wakeups_{0};
    std::atomic<std::thread::id> id_{};
    std::mutex joining_;
    std::thread thread_;
};

}  // namespace duewheel
