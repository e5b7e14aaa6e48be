// A thread that runs jobs in sequence, for steps that block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace duewheel {

class Worker {
  public:
    // `name` is shown by system tools; up to 15 characters.
    explicit Worker(const std::string& name);
    // Runs the queued jobs and ends the thread.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Any thread. Jobs run in the order of this call.
    void run(std::function<void()> job);

    // Waits on the worker's own thread until `seconds` have passed or the worker must end; false if it must end.
    // For a job that tries again later.
    bool pause(int seconds);

  private:
    void loop();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;  // guarded by mutex_
    bool ending_ = false;                     // guarded by mutex_
    std::thread thread_;
};

}  // namespace duewheel
