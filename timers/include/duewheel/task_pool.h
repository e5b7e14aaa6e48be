// A fixed number of threads that run tasks in the order in which they came: an executor for a TimerService whose tasks
// can take long.
//
// Example:
//     #include <duewheel/timer_thread.h>
//     TaskPool pool(4);
//     TimerService service({.executor = pool.executor()});
//     TimerThread thread(service);
//     assert(service.submit_after(1ms, [] { return 7; }).value().get() == 7);
//
// Choose it if tasks may block and the program has no pool yet; otherwise pass a callable for your own pool. Drawbacks,
// on purpose: no priorities, no stealing, no growth.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <duewheel/timer_service.h>

namespace duewheel {

class TaskPool {
  public:
    // Throws std::invalid_argument for zero threads, std::system_error if the system has no more of them.
    explicit TaskPool(std::size_t threads);
    TaskPool(const TaskPool&) = delete;
    TaskPool& operator=(const TaskPool&) = delete;
    // Waits for running tasks and destroys waiting ones without running them. Not from one of its tasks.
    ~TaskPool();

    // Any thread. Throws std::invalid_argument for an empty task. An exception from a task ends the program, as with
    // any thread; TimerService catches them before.
    void post(TimerTask task);

    // Valid while the pool exists.
    [[nodiscard]] TimerExecutor executor() {
        return [this](TimerTask task) { post(std::move(task)); };
    }

  private:
    void run();
    void end();

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<TimerTask> waiting_;  // guarded by mutex_
    bool ends_ = false;              // guarded by mutex_
    std::vector<std::thread> threads_;
};

}  // namespace duewheel
