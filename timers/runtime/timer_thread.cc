#include <stdexcept>
#include <utility>

#include <duewheel/timer_thread.h>

namespace duewheel {

TimerThread::TimerThread(TimerService& service, const Factory& factory) : service_(service), factory_(factory) {
    begin();
}

TimerThread::~TimerThread() {
    static_cast<void>(stop());
}

void TimerThread::begin() {
    alarm_ = service_.clock().make_alarm();
    service_.set_alarm(alarm_.get());
    ends_.store(false);
    thread_ = factory_ ? factory_([this] { run(); }) : std::thread([this] { run(); });
    if (thread_.joinable()) return;
    service_.set_alarm(nullptr);
    throw std::invalid_argument(
        "TimerThread: the factory made no thread that can be joined. Return one that runs what it is given.");
}

// The thread is woken after `ends_` is set, and checks it after it has announced its sleep: it cannot miss it.
void TimerThread::end() {
    ends_.store(true);
    wait_for_end();
}

void TimerThread::wait_for_end() {
    service_.wake_driver();
    if (id_.load() == std::this_thread::get_id()) return;
    const std::lock_guard lock(joining_);
    if (thread_.joinable()) thread_.join();
}

std::vector<Timeout> TimerThread::stop() {
    std::vector<Timeout> unprocessed = service_.stop();
    end();
    return unprocessed;
}

void TimerThread::finish() {
    static_cast<void>(service_.shutdown());
    finishes_.store(true);
    wait_for_end();
}

void TimerThread::run() {
    id_.store(std::this_thread::get_id());
    while (!ends_.load()) {
        service_.advance();
        const TimerInstant until = service_.rest();
        if (ends_.load()) break;
        if (finishes_.load() && service_.pending() == 0) {
            static_cast<void>(service_.stop());
            break;
        }
        if (until <= service_.clock().now()) continue;
        alarm_->wait();
        wakeups_.fetch_add(1, std::memory_order_relaxed);
    }
    // A thread that has ended must not own its clock: a manual clock would wait for it to sleep.
    service_.set_alarm(nullptr);
    alarm_.reset();
    id_.store(std::thread::id());
}

void TimerThread::before_fork() {
    end();
    service_.before_fork();
}

void TimerThread::after_fork_in_parent() {
    service_.after_fork();
    begin();
}

void TimerThread::after_fork_in_child() {
    service_.after_fork();
    begin();
}

}  // namespace duewheel
