// A timer of a TimerService that is a member of another object, of a coroutine's frame above all: it needs no memory of
// its own and no handle. What coroutine.h is made of; for callbacks take TimerService::schedule_after().
//
// Its task is short, runs on the driver's thread whatever executor the service has, and may destroy the timer. It runs
// once for each arming, unless the timer is withdrawn before: when it is due, and when the service is stopped.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <duewheel/timer_node.h>
#include <duewheel/timer_service.h>

namespace duewheel {

// One thread at a time, but for fire_now() and reschedule_at(), which any thread may call while the timer lives, though
// not beside an arming or a withdraw().
class EmbeddedTimer {
  public:
    enum class Arming : std::uint8_t { armed, full, stopped };

    EmbeddedTimer() = default;
    EmbeddedTimer(const EmbeddedTimer&) = delete;
    EmbeddedTimer& operator=(const EmbeddedTimer&) = delete;
    ~EmbeddedTimer() {
        if (node_.word.load(std::memory_order_relaxed) != 0) withdraw();
    }

    // Of a timer that is not armed. Unless it is refused, its task may run, and the timer be gone, before this returns.
    // O(1), no allocation for callables of up to 48 bytes.
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

    // Runs the task on the thread that drives, as soon as it can, also where the service holds max_pending timers, and
    // where it has been stopped and somebody drives it still. False: it has been stopped, and nobody drives it.
    template <std::invocable Callable>
    bool arm_soon(TimerService& service, Callable&& task) {
        node_.task.reset();
        node_.task.emplace(std::forward<Callable>(task));
        return arm_soon(service);
    }

    // Afterwards it is not armed and its task does not run; false when the task runs already, on another thread. O(1).
    bool withdraw();

    // Makes it due now, or then. False when it is not armed (any more).
    bool fire_now();
    bool reschedule_at(TimerInstant deadline);

    // For who waits for a task that runs on another thread.
    static void wait_a_moment();

    // In the task and after it: it was run because the service has been stopped.
    [[nodiscard]] bool stopped() const {
        return (node_.word.load(std::memory_order_acquire) & TimerNode::kStopped) != 0;
    }

  private:
    Arming arm(TimerService& service, Tick deadline);
    bool arm_soon(TimerService& service);

    TimerNode node_;
};

}  // namespace duewheel
