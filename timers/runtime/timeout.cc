#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/timer_core.h"
#include <duewheel/timeout.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// The service pointer of a node that is done is invalid: its status is checked first, because the service may be
// destroyed.
TimerCore* Timeout::core() const {
    if (node_ == nullptr) return nullptr;
    const TimerStatus status = node_->status();
    const bool lives =
        status == TimerStatus::pending || status == TimerStatus::handed || status == TimerStatus::running;
    return lives ? node_->core : nullptr;
}

void Timeout::drop(TimerNode& node) {
    TimerCore::drop(node);
}

CancelOutcome Timeout::cancel() {
    if (node_ == nullptr) return CancelOutcome::already_done;
    const bool is_alone = node_->word.load(std::memory_order_acquire) == TimerCore::kPendingAlone;
    if (is_alone && node_->core->cancel_alone(*node_)) [[likely]]
        return CancelOutcome::removed;
    TimerCore* const service = core();
    return service == nullptr ? CancelOutcome::already_done : service->cancel(*node_);
}

CancelOutcome Timeout::cancel_and_wait() {
    const CancelOutcome outcome = cancel();
    if (outcome == CancelOutcome::running_elsewhere) wait_until_returned(*node_);
    return outcome;
}

bool Timeout::reschedule_at(TimerInstant deadline) {
    TimerCore* const service = core();
    if (service == nullptr) return false;
    return node_->repeats() ? service->reschedule_repeating(*node_, deadline)
                            : service->reschedule(*node_, service->tick_of(deadline));
}

bool Timeout::reschedule_after(std::chrono::nanoseconds delay) {
    TimerCore* const service = core();
    if (service == nullptr) return false;
    if (!node_->repeats()) return service->reschedule(*node_, service->tick_after_now(delay));
    return service->reschedule_repeating(*node_,
                                         instant_after(service->now(), std::max(delay, std::chrono::nanoseconds(0))));
}

bool Timeout::set_period(std::chrono::nanoseconds period) {
    TimerCore* const service = core();
    if (service == nullptr || !node_->repeats()) return false;
    if (period < service->tick()) {
        throw std::invalid_argument("Timeout: a period of " + std::to_string(period.count()) +
                                    " ns. Take at least a tick of the service, which is " +
                                    std::to_string(service->tick().count()) + " ns.");
    }
    return service->set_period(*node_, period);
}

bool Timeout::is_expired() const {
    if (node_ == nullptr) return false;
    const TimerStatus status = node_->status();
    return status == TimerStatus::expired || status == TimerStatus::running;
}

bool Timeout::is_cancelled() const {
    return node_ != nullptr && node_->status() == TimerStatus::cancelled;
}

bool Timeout::is_pending() const {
    if (node_ == nullptr) return false;
    const TimerStatus status = node_->status();
    return status == TimerStatus::pending || status == TimerStatus::handed;
}

std::chrono::nanoseconds Timeout::remaining() const {
    constexpr std::chrono::nanoseconds kNone(0);
    if (!is_pending()) return kNone;
    const TimerCore* const service = core();
    if (service == nullptr) return kNone;
    const TimerInstant due = service->instant_of(node_->wanted.load(std::memory_order_relaxed));
    return due == kNeverInstant ? std::chrono::nanoseconds::max() : std::max(kNone, due - service->now());
}

}  // namespace duewheel
