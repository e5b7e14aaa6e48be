// The implementation of a TimerService: the wheel and the access to it.
//
// The baton guards the wheel, the list of timers at wall clock times, the statistics and the stopped state. The word of
// a node determines who owns it (duewheel/timer_node.h); the mailbox passes commands of threads without the baton to
// the wheel. A node that is not `posted` and not on the wheel belongs to the thread that changed its status last.
//
// The order before sleeping. The driver takes the baton, empties the mailbox, announces until when it will sleep, and
// checks the mailbox again before it releases the baton; a thread that posts checks how long the driver sleeps only
// after posting. Both are sequentially consistent, so at least one of the two sees the other.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/baton.h"
#include "runtime/mailbox.h"
#include "runtime/running_task.h"
#include "runtime/timer_repeat.h"
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timer_service.h>

namespace duewheel {

class TimerCore {
  public:
    TimerCore(TimerOptions options, const TimerClock& clock);
    TimerCore(const TimerCore&) = delete;
    TimerCore& operator=(const TimerCore&) = delete;
    ~TimerCore();

    // ---- any thread ----

    enum class Refusal : std::uint8_t { none, full, stopped };

    // For a node that is idle or done, with this many references (for the service and for a handle); `flags` are kept.
    // Unless it is refused, an embedded node may be destroyed afterwards.
    Refusal arm(TimerNode& node, Tick deadline, std::uint32_t references, std::uint32_t flags = 0);
    // For an embedded node, like EmbeddedTimer::arm_soon().
    bool arm_soon(TimerNode& node);
    CancelOutcome cancel(TimerNode& node);
    // The word of a timer that only the service and one handle know, without other checks.
    static constexpr std::uint32_t kPendingAlone =
        2 * TimerNode::kReference | static_cast<std::uint32_t>(TimerStatus::pending);
    // The same in the short way: on the favoured driver's thread, for a timer that only the caller's handle refers to.
    // False if that is not the case, and nothing was done.
    bool cancel_alone(TimerNode& node);
    bool reschedule(TimerNode& node, Tick deadline);
    bool reschedule_repeating(TimerNode& node, TimerInstant deadline);
    bool set_period(TimerNode& node, std::chrono::nanoseconds period);
    // For an embedded node: afterwards it is not scheduled and not referenced. False if its task was taken to be run.
    bool withdraw(TimerNode& node);

    std::vector<Timeout> stop();
    std::size_t shutdown();
    bool stopped() const { return mailbox_.is_closed(); }
    std::size_t pending();
    TimerStatistics statistics();
    // The sleeping driver must wake up now. Timers scheduled meanwhile do not undo it; a driver that is awake rests
    // only after this, and sees the reason itself.
    void wake_driver() { wake(after(0)); }
    void before_fork();
    void after_fork();

    // ---- the driver ----

    std::size_t advance(TimerInstant now);
    TimerInstant next_expiry();
    void set_alarm(TimerAlarm* alarm);
    TimerInstant rest();

    // ---- time ----

    TimerInstant now() const { return clock_.now(); }
    std::size_t max_pending() const { return options_.max_pending; }
    std::chrono::nanoseconds tick() const { return options_.tick; }

    Tick tick_at(TimerInstant now) const;
    Tick tick_of(TimerInstant deadline) const;
    Tick tick_after_now(std::chrono::nanoseconds delay) const;
    Tick tick_of_wall(TimerRepeat& repeat) const;
    void watch_wall();
    TimerInstant instant_of(Tick tick) const;

    static void drop(TimerNode& node);
    void dispatch(TimerTask task);

  private:
    friend struct TimerServiceProbe;
    class Handed;
    class HandedRun;
    class HandedTask;

    bool on_driver_thread() const { return driver_.load(std::memory_order_relaxed) == this_thread_number(); }

    // The driver may be favoured, from any call.
    void take_baton() { on_driver_thread() ? baton_.lock_by_driver() : baton_.lock(); }

    // Slots of max_pending. arm_soon() takes one even beyond the limit.
    bool enter();
    void leave() {
        if (options_.max_pending != TimerOptions::kUnlimited) places_.fetch_sub(1, std::memory_order_relaxed);
    }

    // The mailbox.
    bool post(TimerNode& node);
    void empty_mailbox();
    TimerNode* drain();
    void receive(TimerNode& node, TimerNode*& dead);
    void receive_cancelled(TimerNode& node, TimerNode*& dead);
    static void bury(TimerNode* dead);
    // The sleeping driver must wake up by then.
    void wake_if_earlier(Tick deadline) {
        const Tick by = after(deadline);
        interleaving_point();
        if (by < sleeps_until_.load(std::memory_order_seq_cst)) [[unlikely]]
            wake(by);
    }
    void wake(Tick by);
    // The form of a tick in sleeps_until_, so that the first tick of all can be slept until.
    static constexpr Tick after(Tick tick) { return tick == kNever ? kNever : tick + 1; }

    // The wheel.
    void file(TimerNode& node, Tick deadline) {
        wheel_.schedule(node, deadline);
        if (repeats(node) && node.repeat->is_at_wall()) link_at_wall(node);
    }
    void unlink(TimerNode& node);
    bool cancel_here(TimerNode& node);
    void post_cancelled(TimerNode& node);
    bool withdraw_stopping(TimerNode& node);
    template <class Change>
    bool change_repeating(TimerNode& node, Change change);
    bool reschedule_own(TimerNode& node, Tick deadline);
    void end_unseen(TimerNode& node, TimerNode*& dead);
    void add_stopping(TimerNode& node);
    void run_stopping(bool ends_driving);

    // Firing.
    void fire(TimerNode& node);
    void start(TimerNode& node);
    template <class Work>
    void hand(Work work);
    void run_embedded(TimerNode& node);
    void run(TimerNode& node);
    void call(TimerTask& task);
    void note_duration(TimerInstant begun, const char* name);
    void report(std::exception_ptr problem, const char* name);
    void finish(TimerNode& node);
    void finish_repeating(TimerNode& node);
    bool arm_again(TimerNode& node, Tick deadline);
    void end_handed(TimerNode& node);
    void end(TimerNode& node, TimerStatus status);

    // The wall.
    void link_at_wall(TimerNode& node);
    void unlink_at_wall(TimerNode& node);
    bool is_before_its_wall(TimerNode& node);
    void look_at_wall(TimerNode*& dead);
    void follow_wall(TimerNode& node, std::chrono::milliseconds ahead, Instant wall_now, TimerNode*& dead);

    static bool repeats(const TimerNode& node) { return node.repeats(); }
    // Fires repeatedly, by itself or at the request of its task.
    static bool is_periodic(const TimerNode& node) {
        return repeats(node) && (node.repeat->kind != TimerRepeat::Kind::wall || node.repeat->keeps_to_wall);
    }
    static void take_apart(TimerNode& node);
    static void forget_repeat(TimerNode& node);
    static void destroy_last(TimerNode& node);

    const TimerOptions options_;
    const TimerClock& clock_;
    const std::int64_t tick_ns_;

    alignas(64) Mailbox mailbox_;
    // The tick after the one until which the driver sleeps. 0: it is awake, and checks the mailbox before it sleeps.
    std::atomic<Tick> sleeps_until_{0};
    std::atomic<std::uint64_t> wakes_{0};
    std::atomic<bool> refuses_{false};  // for new timers: it was shut down or stopped; written with the baton

    alignas(64) std::atomic<std::size_t> places_{0};  // taken, where max_pending is set
    std::atomic<std::size_t> handed_{0};              // passed to the executor, and not yet run or dropped
    std::atomic<std::uint32_t> driver_{0};            // the number of the last thread that drove it

    std::mutex alarm_mutex_;
    TimerAlarm* alarm_ = nullptr;            // guarded by alarm_mutex_
    std::atomic<bool> watches_wall_{false};  // the alarm does; written with alarm_mutex_
    std::atomic<bool> uses_wall_{false};     // there has been a timer at a wall clock time

    alignas(64) Baton baton_;  // guards everything below
    IntrusiveTimingWheel<TimerNode> wheel_;
    TimerNode* at_wall_ = nullptr;
    std::chrono::milliseconds wall_ahead_{0};  // of the clock, when the list was last checked
    bool wall_moved_ = false;                  // one in the list was converted with another one
    bool stopped_ = false;
    bool driven_ = false;
    std::vector<TimerNode*> stopping_;  // embedded ones that stop() has still to run; `wanted` is their index here
    std::uint64_t fired_ = 0;
    std::uint64_t fired_in_vain_ = 0;  // of these, those that the executor had and did not run
    std::uint64_t cancelled_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t slow_ = 0;
    std::uint64_t passes_ = 0;
    std::array<std::uint64_t, 65> lateness_{};
    std::vector<TimerStatistics::SlowTask> slow_tasks_;
};

// The two references are those of the service and of the handle of this call. No other thread can change the word then:
// the service does it with the baton, and one handle is used by one call at a time. So it need not be changed
// atomically, which would wait for all pending stores.
inline bool TimerCore::cancel_alone(TimerNode& node) {
    constexpr std::uint32_t kGone = TimerNode::kReference | static_cast<std::uint32_t>(TimerStatus::cancelled);
    interleaving_point();
    if (!baton_.slip_in()) return false;
    if (node.word.load(std::memory_order_relaxed) != kPendingAlone) [[unlikely]]
        return baton_.slip_out(), false;
    node.word.store(kGone, std::memory_order_release);
    wheel_.cancel(node);
    ++cancelled_;
    baton_.slip_out();
    leave();
    destroy_last(node);
    return true;
}

// Called by the thread that cancels, with only its handle to keep the node: the task may contain that handle, and its
// destructor may get this very node for another timer. So the node is released first.
inline void TimerCore::destroy_last(TimerNode& node) {
    if (!node.task.has_destructor()) return node.task.reset();
    const TimerTask task = std::move(node.task);
}

}  // namespace duewheel
