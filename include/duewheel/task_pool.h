// A fixed number of threads that run tasks in the order in which they came: an executor for TimerService, where tasks
// may take long.
//
// Example:
//     #include <duewheel/timer_thread.h>
//     TaskPool pool(4);
//     TimerService service({.executor = pool.executor()});
//     TimerThread thread(service);
//     assert(service.submit_after(1ms, [] { return 7; }).value().get() == 7);
//
// Choose it where tasks may block and the program has no pool yet; whoever has one passes a callable of that one. What
// it gives up, on purpose: priorities, stealing, growth.
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
    // Throws std::invalid_argument for no thread at all, std::system_error where the system has no more of them.
    explicit TaskPool(std::size_t threads);
    TaskPool(const TaskPool&) = delete;
    TaskPool& operator=(const TaskPool&) = delete;
    // Lets what runs end and destroys what waits without running it. Not from one of its tasks.
    ~TaskPool();

    // Any thread. Throws std::invalid_argument for an empty task. What a task throws ends the program, as with any
    // thread; TimerService catches before.
    void post(TimerTask task);

    // To be used while the pool lives.
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
