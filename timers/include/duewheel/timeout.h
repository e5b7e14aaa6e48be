// The handle of a timer of a TimerService: cancel it, move it, query its state.
//
// Choose to keep it if the timer may have to be cancelled; a timer also fires without. Drawback: a handle knows the
// state of the timer but not its result, which the future of submit_after() has.
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
// A value that is cheap to copy: a pointer and a counter. Any thread may call all functions, also from the timer's own
// task, and copies in several threads may race each other and the firing: each call returns what really happened. One
// handle object is, like any value, for one thread at a time unless all calls are const: give each thread a copy.
// Dropping the last handle does not affect the timer. A handle may outlive its service; the service must not be
// destroyed during a call on one of its handles.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <duewheel/timer_clock.h>
#include <duewheel/timer_node.h>

namespace duewheel {

enum class CancelOutcome : std::uint8_t {
    removed,            // it was pending, this call cancelled it, and its task never runs (again)
    running_elsewhere,  // its task is running on another thread; a periodic timer has no further period
    running_here,       // this is its own task; a periodic timer has no further period
    already_done,       // it has run, or was cancelled earlier
};

class Timeout {
  public:
    // Refers to no timer: done, neither expired nor cancelled.
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

    // O(1), never blocks. If it has removed the timer, the content of the task is destroyed when it returns, unless an
    // executor has the task already, which then destroys it.
    CancelOutcome cancel();

    // The same, and if the task runs on another thread, returns after it. It cannot deadlock by itself: in the timer's
    // own task it does not wait, and if tasks would wait for each other in a cycle, the one that would close the cycle
    // returns at once, both with the outcome of cancel(). It does wait for whatever the task waits for: do not call it
    // with a lock that the task takes.
    CancelOutcome cancel_and_wait();

    // Another deadline, earlier or later, for a pending timer; a periodic one continues from there. In its own task, a
    // timer runs again then, even a one-shot timer. False if it is done, at a wall clock time, or with an executor, or
    // while its task runs on another thread; and if a one-shot timer exceeds max_pending, or its service accepts no
    // more.
    //
    // For a timer that can be scheduled again at any time after it has fired, use an endless period:
    //     Timeout idle = service.schedule_with_fixed_delay(30s, kForever, [] { close(); }).value();
    //     idle.reschedule_after(30s);                      // any number of times, before and after it fires
    [[nodiscard]] bool reschedule_at(TimerInstant deadline);
    [[nodiscard]] bool reschedule_after(std::chrono::nanoseconds delay);

    // Another period, or fixed delay, of a periodic timer: between the next run and the one after; in its own task,
    // between this run and the next. False as above, and if the timer is not periodic. Throws std::invalid_argument if
    // the period is less than a tick of the service.
    [[nodiscard]] bool set_period(std::chrono::nanoseconds period);

    // Its task has started (and will not start again); it was cancelled, also by stop(). Neither: it is pending.
    [[nodiscard]] bool is_expired() const;
    [[nodiscard]] bool is_cancelled() const;
    [[nodiscard]] bool is_pending() const;

    // Time until it is due, zero if it is due or done. Up to a tick more.
    [[nodiscard]] std::chrono::nanoseconds remaining() const;

  private:
    friend class TimerService;
    friend class TimerCore;

    struct Adopt {};
    Timeout(TimerNode& node, Adopt) : node_(&node) {}  // with a reference that is already counted

    void hold() const {
        if (node_ != nullptr) node_->word.fetch_add(TimerNode::kReference, std::memory_order_relaxed);
    }
    static void drop(TimerNode& node);
    TimerCore* core() const;

    TimerNode* node_ = nullptr;
};

}  // namespace duewheel
