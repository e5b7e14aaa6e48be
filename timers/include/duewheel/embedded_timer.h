// A timer of a TimerService that is a member of another object, such as a coroutine's frame: it needs no memory of its
// own and no handle. coroutine.h uses it; for callbacks use TimerService::schedule_after().
//
// Its task is short, runs on the driver's thread even if the service has an executor, and may destroy the timer. It
// runs once each time the timer is scheduled, unless it is removed before: when it is due, and when the service is
// stopped.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <duewheel/timer_node.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// One thread at a time, except fire_now() and reschedule_at(), which any thread may call while the timer exists, but
// not at the same time as scheduling or withdraw().
class EmbeddedTimer {
  public:
    enum class Arming : std::uint8_t { armed, full, stopped };

    EmbeddedTimer() = default;
    EmbeddedTimer(const EmbeddedTimer&) = delete;
    EmbeddedTimer& operator=(const EmbeddedTimer&) = delete;
    ~EmbeddedTimer() {
        if (node_.word.load(std::memory_order_relaxed) != 0) withdraw();
    }

    // For a timer that is not scheduled. Unless it is refused, its task may run, and the timer be destroyed, before
    // this returns. O(1), no allocation for callables of up to 48 bytes.
    template <std::invocable Callable>
    Arming arm_at(TimerService& service, TimerInstant deadline, Callable&& task) {
        node_.task.reset();
        node_.task.emplace(std::forward<Callable>(task));
        return arm(service, service.tick_of(deadline));
    }
    template <std::invocable Callable>
    Arming arm_after(TimerService& service, std::chrono::nanoseconds delay, Callable&& task) {
        node_.task.reset();
        node_.task.emplace(std::forward<Callable>(task));
        return arm(service, service.tick_after_now(delay));
    }

    // Runs the task on the driving thread as soon as possible, even if the service has max_pending timers, and if it
    // was stopped but a thread still drives it. False: it was stopped, and no thread drives it.
    template <std::invocable Callable>
    bool arm_soon(TimerService& service, Callable&& task) {
        node_.task.reset();
        node_.task.emplace(std::forward<Callable>(task));
        return arm_soon(service);
    }

    // Afterwards it is not scheduled and its task does not run; false if the task already runs on another thread. O(1).
    bool withdraw();

    // Makes it due now, or then. False if it is not scheduled (any more).
    bool fire_now();
    bool reschedule_at(TimerInstant deadline);

    // For a thread that waits for a task that runs on another thread.
    static void wait_a_moment();

    // In the task and after it: it was run because the service was stopped.
    [[nodiscard]] bool stopped() const {
        return (node_.word.load(std::memory_order_acquire) & TimerNode::kStopped) != 0;
    }

  private:
    Arming arm(TimerService& service, Tick deadline);
    bool arm_soon(TimerService& service);

    TimerNode node_;
};

}  // namespace duewheel
