#include "thread_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace duewheel::client {

struct ThreadPool::State {
    std::mutex mutex;
    std::condition_variable posted;
    std::deque<std::function<void()>> functions;  // guarded by mutex, as the others
    std::size_t idle = 0;                         // threads that wait
    bool waking = false;                          // whether one of them is being woken
    bool closing = false;

    // Wakes one thread if there is something for it. That one wakes the next: where functions are short, few are woken.
    void wake_one() {
        if (waking || idle == 0 || functions.empty()) return;
        waking = true;
        posted.notify_one();
    }

    void run() {
        std::unique_lock lock(mutex);
        while (true) {
            ++idle;
            posted.wait(lock, [this] { return closing || !functions.empty(); });
            --idle;
            waking = false;
            if (functions.empty()) return;
            std::function<void()> function = std::move(functions.front());
            functions.pop_front();
            wake_one();
            lock.unlock();
            function();
            function = nullptr;  // what it holds ends without the lock
            lock.lock();
        }
    }
};

ThreadPool::ThreadPool(std::size_t threads_max) : threads_max_(threads_max), state_(std::make_shared<State>()) {}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->closing = true;
    }
    state_->posted.notify_all();
    for (std::thread& thread : threads_) {
        thread.get_id() == std::this_thread::get_id() ? thread.detach() : thread.join();
    }
}

void ThreadPool::post(std::function<void()> function) {
    const std::lock_guard lock(state_->mutex);
    state_->functions.push_back(std::move(function));
    state_->wake_one();
    if (state_->functions.size() > state_->idle && threads_.size() < threads_max_) {
        threads_.emplace_back([state = state_] { state->run(); });
    }
}

}  // namespace duewheel::client
