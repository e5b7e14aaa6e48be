#include <stdexcept>
#include <utility>

#include <duewheel/task_pool.h>

namespace duewheel {

TaskPool::TaskPool(std::size_t threads) {
    if (threads == 0) throw std::invalid_argument("TaskPool: no threads would run nothing. Give it at least one.");
    threads_.reserve(threads);
    try {
        while (threads_.size() < threads_.capacity()) threads_.emplace_back([this] { run(); });
    } catch (...) {
        end();
        throw;
    }
}

TaskPool::~TaskPool() {
    end();
    // One by one, because each may post others, which are dropped at once.
    while (!waiting_.empty()) {
        const TimerTask dropped = std::move(waiting_.front());
        waiting_.pop_front();
    }
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
    if (!task) refuse_empty_task();
    {
        const std::lock_guard lock(mutex_);
        if (ends_) return;
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
