#include "server/shard/worker.h"

#include <chrono>
#include <utility>

#include <pthread.h>

namespace duewheel {

Worker::Worker(const std::string& name) : thread_([this] { loop(); }) {
    pthread_setname_np(thread_.native_handle(), name.c_str());
}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Worker::run(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
}

bool Worker::pause(int seconds) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return ending_; });
}

void Worker::loop() {
    for (;;) {
        std::function<void()> job;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        job();
    }
}

}  // namespace duewheel
