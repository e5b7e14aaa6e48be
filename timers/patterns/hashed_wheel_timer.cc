#include <atomic>
#include <bit>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <duewheel/patterns/hashed_wheel_timer.h>

namespace duewheel {
namespace {

std::atomic<std::size_t> instance_count{0};
std::atomic<bool> many_were_reported{false};

TimerOptions options_of(HashedWheelTimerOptions& options) {
    TimerOptions service;
    service.tick = options.tick;
    service.max_pending = options.max_pending_timeouts;
    service.executor = std::move(options.executor);
    service.on_error = std::move(options.on_error);
    return service;
}

std::size_t checked_wheel(std::size_t ticks) {
    constexpr std::size_t kMax = std::size_t{1} << 30;
    if (ticks >= 1 && ticks <= kMax) return std::bit_ceil(ticks);
    throw std::invalid_argument("HashedWheelTimer: a wheel of " + std::to_string(ticks) +
                                " ticks. Set ticks_per_wheel from 1 to " + std::to_string(kMax) + ".");
}

}  // namespace

HashedWheelTimer::HashedWheelTimer(HashedWheelTimerOptions options, const TimerClock& clock)
    : ticks_per_wheel_(checked_wheel(options.ticks_per_wheel)),
      thread_factory_(std::move(options.thread_factory)),
      on_misuse_(std::move(options.on_misuse)),
      service_(options_of(options), clock) {
    if (instance_count.fetch_add(1) + 1 > kInstancesMax && !many_were_reported.exchange(true)) {
        report("There are more than " + std::to_string(kInstancesMax) +
               " instances of HashedWheelTimer, each with a thread. Share one: it serves any number of time-outs.");
    }
}

HashedWheelTimer::~HashedWheelTimer() {
    bool was_left_running = false;
    {
        const std::lock_guard lock(mutex_);
        was_left_running = thread_ != nullptr && !is_stopped_;
    }
    if (was_left_running) {
        const std::size_t left = stop().size();
        report("A HashedWheelTimer was destroyed without stop(), with " + std::to_string(left) +
               " time-outs pending, which never run. Stop it, and look at what stop() returns.");
    }
    instance_count.fetch_sub(1);
}

void HashedWheelTimer::start() {
    const std::lock_guard lock(mutex_);
    if (thread_ == nullptr && !is_stopped_) thread_ = std::make_unique<TimerThread>(service_, thread_factory_);
}

std::vector<Timeout> HashedWheelTimer::stop() {
    TimerThread* thread = nullptr;
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        thread = thread_.get();
    }
    return thread != nullptr ? thread->stop() : service_.stop();
}

std::uint64_t HashedWheelTimer::wakeups() const {
    const std::lock_guard lock(mutex_);
    return thread_ == nullptr ? 0 : thread_->wakeups();
}

std::size_t HashedWheelTimer::instances() {
    return instance_count.load();
}

void HashedWheelTimer::report(std::string_view misuse) const {
    if (on_misuse_) return on_misuse_(misuse);
    std::fprintf(stderr, "duewheel: %.*s\n", static_cast<int>(misuse.size()), misuse.data());
}

}  // namespace duewheel
