#include <algorithm>
#include <utility>

#include <duewheel/task_pool.h>

namespace duewheel {

TaskPool::TaskPool(std::size_t threads) {
    threads_.reserve(std::max<std::size_t>(1, threads));
    try {
        while (threads_.size() < threads_.capacity()) threads_.emplace_back([this] { run(); });
    } catch (...) {
        end();
        throw;
    }
}

TaskPool::~TaskPool() {
    end();
}

void TaskPool::end() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void TaskPool::post(TimerTask task) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(task));
    }
    arrived_.notify_one();
}

void TaskPool::run() {
    for (;;) {
        TimerTask task;
        {
            std::unique_lock lock(mutex_);
            arrived_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (ends_) return;
            task = std::move(waiting_.front());
            waiting_.pop_front();
        }
        task();
    }
}

}  // namespace duewheel
