// Threads that run functions, each of which may block. They start as they are needed, up to a number, and end with the
// pool.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace duewheel::client {

class ThreadPool {
  public:
    explicit ThreadPool(std::size_t threads_max);
    // Runs what was posted, and waits for it; on one of its own threads, it does not wait for that one.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;

    // Runs a function on one of the threads. On any thread.
    void post(std::function<void()> function);

  private:
    struct State;

    const std::size_t threads_max_;
    std::shared_ptr<State> state_;      // shared with the threads: one of them may destroy the pool
    std::vector<std::thread> threads_;  // guarded by the lock of the state
};

}  // namespace duewheel::client
