// The handle of a timer that a TimerService runs: cancel it, move it, ask what became of it.
//
// Choose to keep it where a timer may have to be cancelled; a timer fires as well without. What it gives up: a handle
// knows the timer's fate and not its result, which submit_after()'s future does.
//
// Example:
//     #include <duewheel/timer_service.h>
//     TimerService service;
//     Timeout timeout = service.schedule_after(2s, [] { std::abort(); }).value();
//     assert(timeout.is_pending() && timeout.remaining() <= 2001ms);
//     assert(timeout.reschedule_after(1h));
//     assert(timeout.cancel() == CancelOutcome::removed);  // it has not run and never will
//     assert(timeout.is_cancelled() && !timeout.is_expired());
//
// A value that is cheap to copy: a pointer and a count. All functions may be called by any thread, also from the
// timer's own task, and copies in several threads may race each other and the firing: each call is told what really
// happened. One handle is, as any value, for one thread at a time unless all only ask: give each thread a copy.
// Dropping the last handle changes nothing for the timer. A handle may outlive its service; the service must not be
// destroyed while a call on one of its handles is under way.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <duewheel/timer_clock.h>
#include <duewheel/timer_node.h>

namespace duewheel {

enum class CancelOutcome : std::uint8_t {
    removed,            // it was pending, this call cancelled it, and its task never runs (again)
    running_elsewhere,  // its task runs on another thread just now; a periodic timer has no further period
    running_here,       // this is its own task; a periodic timer has no further period
    already_done,       // it has run, or was cancelled before
};

class Timeout {
  public:
    // Names no timer: done, neither expired nor cancelled.
    Timeout() = default;
    Timeout(const Timeout& other) : node_(other.node_) { hold(); }
    Timeout(Timeout&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Timeout& operator=(Timeout other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Timeout() {
        if (node_ != nullptr) drop(*node_);
    }

    explicit operator bool() const { return node_ != nullptr; }
    friend bool operator==(const Timeout&, const Timeout&) = default;

    // O(1), never blocks. When it has removed the timer, what the task holds has been destroyed as it returns, unless
    // an executor has the task already, which then destroys it.
    CancelOutcome cancel();

    // The same, and when the task runs on another thread, returns after it has. It cannot deadlock by itself: from the
    // timer's own task it does not wait, and of tasks that would wait for each other in a ring, the one that would
    // close the ring returns at once, both times with the outcome of cancel(). It does wait for what the task waits
    // for; do not call it with a lock that the task takes.
    CancelOutcome cancel_and_wait();

    // Another deadline, earlier or later, for a timer that is pending; a periodic one goes on from there. From its own
    // task a timer runs again then, also one that was to run once. False when it is done, at an instant of the wall,
    // or with an executor, or while its task runs on another thread; and when a timer that was to run once finds no
    // place among max_pending, or its service takes no more.
    //
    // A timer that is to be armed again at any time after it has fired is one with an endless period:
    //     Timeout idle = service.schedule_with_fixed_delay(30s, kForever, [] { close(); }).value();
    //     idle.reschedule_after(30s);                      // as often as wanted, before and after it fires
    [[nodiscard]] bool reschedule_at(TimerInstant deadline);
    [[nodiscard]] bool reschedule_after(std::chrono::nanoseconds delay);

    // Another period, or fixed delay, of a periodic timer: between the next run and the one after; from its own task,
    // between this run and the next. False as above, and when the timer is not periodic. Throws std::invalid_argument
    // where the period is less than a tick of the service.
    [[nodiscard]] bool set_period(std::chrono::nanoseconds period);

    // Its task has begun (and will not begin again); it was cancelled, also by stop(). Neither: it is pending.
    [[nodiscard]] bool is_expired() const;
    [[nodiscard]] bool is_cancelled() const;
    [[nodiscard]] bool is_pending() const;

    // How long until it is due, zero when it is due or done. A tick more at most.
    [[nodiscard]] std::chrono::nanoseconds remaining() const;

  private:
    friend class TimerService;
    friend class TimerCore;

    struct Adopt {};
    Timeout(TimerNode& node, Adopt) : node_(&node) {}  // with a reference that is counted already

    void hold() const {
        if (node_ != nullptr) node_->word.fetch_add(TimerNode::kReference, std::memory_order_relaxed);
    }
    static void drop(TimerNode& node);
    TimerCore* core() const;

    TimerNode* node_ = nullptr;
};

}  // namespace duewheel
