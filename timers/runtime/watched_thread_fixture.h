// A thread of a test that waits for something, and is observed to wait: so the test releases it neither too early, when
// a thread that does not wait would look like one that does, nor after a delay, which would be a sleep.
//
// It observes that the thread sleeps, not why; a thread that sleeps for another reason is not detected.
#pragma once

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace duewheel {

class WatchedThread {
  public:
    explicit WatchedThread(std::function<void()> work)
        : thread_([this, work = std::move(work)] {
              id_ = ::gettid();
              work();
              returned_ = true;
          }) {}
    WatchedThread(const WatchedThread&) = delete;
    WatchedThread& operator=(const WatchedThread&) = delete;
    ~WatchedThread() { thread_.join(); }

    // Returns when the thread sleeps, true, or has done its work.
    bool comes_to_wait() const {
        while (!returned_) {
            if (id_ != 0 && is_asleep()) return true;
            std::this_thread::yield();
        }
        return false;
    }

  private:
    // As the system tells: the letter after the name, which is in brackets.
    bool is_asleep() const {
        std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
        std::string line;
        std::getline(file, line);
        const std::size_t name_end = line.rfind(')');
        return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
    }

    std::atomic<pid_t> id_{0};
    std::atomic<bool> returned_{false};
    std::thread thread_;
};

}  // namespace duewheel
