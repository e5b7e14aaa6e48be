#include <thread>

#include "runtime/interleaving_point.h"
#include "runtime/timer_core.h"
#include <duewheel/embedded_timer.h>

namespace duewheel {

EmbeddedTimer::Arming EmbeddedTimer::arm(TimerService& service, Tick deadline) {
    switch (service.core_->arm(node_, deadline, 1, TimerNode::kEmbedded)) {
        case TimerCore::Refusal::none:
            return Arming::armed;
        case TimerCore::Refusal::full:
            return Arming::full;
        case TimerCore::Refusal::stopped:
            return Arming::stopped;
    }
    return Arming::stopped;
}

bool EmbeddedTimer::arm_soon(TimerService& service) {
    return service.core_->arm_soon(node_);
}

bool EmbeddedTimer::withdraw() {
    // After the timer has run, its service may be destroyed.
    const TimerStatus status = node_.status();
    if (status == TimerStatus::running) return false;
    return status == TimerStatus::idle || node_.core->withdraw(node_);
}

void EmbeddedTimer::wait_a_moment() {
    if (kInterleavingsExplored) {
        interleaving_wait();
    } else {
        std::this_thread::yield();
    }
}

bool EmbeddedTimer::fire_now() {
    if (node_.status() != TimerStatus::pending) return false;
    TimerCore& core = *node_.core;
    return core.reschedule(node_, core.tick_at(core.now()));
}

bool EmbeddedTimer::reschedule_at(TimerInstant deadline) {
    if (node_.status() != TimerStatus::pending) return false;
    return node_.core->reschedule(node_, node_.core->tick_of(deadline));
}

}  // namespace duewheel
