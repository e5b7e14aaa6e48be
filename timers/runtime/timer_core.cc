#include "runtime/timer_core.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/node_pool.h"

namespace duewheel {
namespace {

using Word = std::uint32_t;

constexpr Word bits(TimerStatus status) {
    return static_cast<Word>(status);
}

}  // namespace

TimerCore::TimerCore(TimerOptions options, const TimerClock& clock)
    : options_(std::move(options)), clock_(clock), tick_ns_(options_.tick.count()), wheel_(tick_at(clock.now())) {}

TimerCore::~TimerCore() {
    // Tasks given to an executor return here.
    while (handed_.load(std::memory_order_acquire) != 0) {
        if (kInterleavingsExplored) {
            interleaving_wait();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
}

// ---- time ----

// Rounds down: now is never later than the clock.
Tick TimerCore::tick_at(TimerInstant now) const {
    return static_cast<Tick>(std::max<std::int64_t>(0, now.time_since_epoch().count()) / tick_ns_);
}

// Rounds up: no timer is early. A deadline before the start of the clock's axis is due now, also for the figures of
// lateness. A deadline beyond the clock's axis is never due, like its last tick.
Tick TimerCore::tick_of(TimerInstant deadline) const {
    const std::int64_t ns = deadline.time_since_epoch().count();
    if (ns <= 0) return tick_at(clock_.now());
    if (deadline == kNeverInstant) return kLastTick;
    return static_cast<Tick>((ns - 1) / tick_ns_ + 1);
}

Tick TimerCore::tick_after_now(std::chrono::nanoseconds delay) const {
    const TimerInstant now = clock_.now();
    return delay.count() <= 0 ? tick_at(now) : tick_of(instant_after(now, delay));
}

TimerInstant TimerCore::instant_of(Tick tick) const {
    const auto last = static_cast<Tick>(kNeverInstant.time_since_epoch().count() / tick_ns_);
    if (tick > last) return kNeverInstant;
    return TimerInstant(std::chrono::nanoseconds(static_cast<std::int64_t>(tick) * tick_ns_));
}

// ---- references and places ----

void TimerCore::take_apart(TimerNode& node) {
    node.task.reset();
    forget_repeat(node);
}

void TimerCore::forget_repeat(TimerNode& node) {
    if (repeats(node)) delete std::exchange(node.repeat, nullptr);
}

// The last reference returns a node to the pool. An embedded one belongs to its owner.
void TimerCore::drop(TimerNode& node) {
    Word word = node.word.load(std::memory_order_acquire);
    if ((word & ~(TimerNode::kReference - 1)) != TimerNode::kReference) {  // others hold it, or did until now
        interleaving_point();
        word = node.word.fetch_sub(TimerNode::kReference, std::memory_order_acq_rel);
        if ((word & ~(TimerNode::kReference - 1)) != TimerNode::kReference) return;
    }
    if ((word & TimerNode::kEmbedded) != 0) return;
    node.word.store(0, std::memory_order_relaxed);
    give_node(node);
}

bool TimerCore::enter() {
    if (options_.max_pending == TimerOptions::kUnlimited) return true;
    std::size_t taken = places_.load(std::memory_order_relaxed);
    do {  // a refused caller takes none, not even briefly
        if (taken >= options_.max_pending) return false;
    } while (!places_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
    return true;
}

// ---- arming ----

TimerCore::Refusal TimerCore::arm(TimerNode& node, Tick deadline, Word references, Word flags) {
    if (!enter()) return Refusal::full;
    const Word word = flags | references * TimerNode::kReference | bits(TimerStatus::pending);
    node.core = this;
    node.wanted.store(deadline, std::memory_order_relaxed);
    if (baton_.slip_in()) {
        const bool refuses = refuses_.load(std::memory_order_relaxed);
        if (!refuses) [[likely]] {
            node.word.store(word, std::memory_order_release);
            file(node, deadline);
        }
        baton_.slip_out();
        if (refuses) return leave(), Refusal::stopped;
    } else if (on_driver_thread()) {
        const DriverLock lock(baton_);
        if (refuses_.load(std::memory_order_relaxed)) return leave(), Refusal::stopped;
        node.word.store(word, std::memory_order_release);
        file(node, deadline);
    } else {
        if (refuses_.load(std::memory_order_relaxed)) return leave(), Refusal::stopped;
        node.word.store(word | TimerNode::kPosted, std::memory_order_relaxed);
        if (!post(node)) {
            node.word.store(flags, std::memory_order_relaxed);
            return leave(), Refusal::stopped;
        }
    }
    wake_if_earlier(deadline);
    return Refusal::none;
}

bool TimerCore::arm_soon(TimerNode& node) {
    const Tick now = tick_at(clock_.now());
    node.core = this;
    take_baton();
    if (!stopped_) {
        if (options_.max_pending != TimerOptions::kUnlimited) places_.fetch_add(1, std::memory_order_relaxed);
        node.word.store(TimerNode::kEmbedded | TimerNode::kReference | bits(TimerStatus::pending),
                        std::memory_order_release);
        file(node, now);
        baton_.unlock();
        wake_if_earlier(now);
        return true;
    }
    const bool is_driven = driven_;
    if (is_driven) {
        node.word.store(TimerNode::kEmbedded | TimerNode::kStopped | bits(TimerStatus::cancelled),
                        std::memory_order_release);
        add_stopping(node);
    }
    baton_.unlock();
    return is_driven;
}

void TimerCore::add_stopping(TimerNode& node) {
    node.wanted.store(stopping_.size(), std::memory_order_relaxed);
    stopping_.push_back(&node);
}

void TimerCore::unlink(TimerNode& node) {
    wheel_.cancel(node);
    if (repeats(node) && node.repeat->is_at_wall()) unlink_at_wall(node);
}

// Sets the alarm to the earliest time, whichever thread comes first.
void TimerCore::wake(Tick by) {
    Tick sleeps_until = sleeps_until_.load(std::memory_order_seq_cst);
    while (by < sleeps_until) {
        if (!sleeps_until_.compare_exchange_weak(sleeps_until, by, std::memory_order_seq_cst)) continue;
        wakes_.fetch_add(1, std::memory_order_relaxed);
        interleaving_point();
        const std::lock_guard lock(alarm_mutex_);
        const Tick earliest = sleeps_until_.load(std::memory_order_seq_cst);
        if (alarm_ != nullptr && earliest != 0) alarm_->set(instant_of(earliest - 1));
        return;
    }
}

// ---- the mailbox ----

// False when it is closed. The node is `posted`, and not in the mailbox.
bool TimerCore::post(TimerNode& node) {
    for (;;) {
        switch (mailbox_.push(node)) {
            case Mailbox::Push::done:
                return true;
            case Mailbox::Push::closed:
                return false;
            case Mailbox::Push::full:
                empty_mailbox();
        }
    }
}

// In place of a driver that sleeps, does not exist, or is slow.
void TimerCore::empty_mailbox() {
    take_baton();
    TimerNode* const dead = drain();
    baton_.unlock();
    bury(dead);
}

// With the baton. Returns the cancelled ones, to be buried without it.
TimerNode* TimerCore::drain() {
    TimerNode* dead = nullptr;
    for (TimerNode* node = mailbox_.take(); node != nullptr;) {
        TimerNode* const next = node->next_posted;
        receive(*node, dead);
        node = next;
    }
    return dead;
}

// The deadline is read after `posted` is cleared: a thread that changes it from now on posts the node again.
void TimerCore::receive(TimerNode& node, TimerNode*& dead) {
    const Word word = node.word.fetch_and(~TimerNode::kPosted, std::memory_order_acq_rel);
    if (TimerNode::status_of(word) != TimerStatus::pending) return receive_cancelled(node, dead);
    if (node.is_pending()) unlink(node);
    if (refuses_.load(std::memory_order_relaxed) && is_periodic(node)) return end_unseen(node, dead);
    file(node, node.wanted.load(std::memory_order_relaxed));
}

void TimerCore::receive_cancelled(TimerNode& node, TimerNode*& dead) {
    if (node.is_pending()) unlink(node);
    ++cancelled_;
    if ((node.word.load(std::memory_order_relaxed) & TimerNode::kEmbedded) != 0) {
        node.word.fetch_sub(TimerNode::kReference, std::memory_order_acq_rel);
    } else {
        node.next_posted = std::exchange(dead, &node);
    }
}

// Ends a pending one as cancelled, unless it is being cancelled now: one whose time the wall clock skipped and that
// does not repeat, or a periodic one of a service that is shut down.
void TimerCore::end_unseen(TimerNode& node, TimerNode*& dead) {
    Word word = node.word.load(std::memory_order_relaxed);
    if ((word & TimerNode::kPosted) != 0 ||
        !node.word.compare_exchange_strong(word,
                                           TimerNode::with_status(word, TimerStatus::cancelled) | TimerNode::kStopped,
                                           std::memory_order_acq_rel)) {
        return;
    }
    leave();
    receive_cancelled(node, dead);
}

void TimerCore::bury(TimerNode* dead) {
    while (dead != nullptr) {
        TimerNode& node = *std::exchange(dead, dead->next_posted);
        // The task of any other one belongs to the thread that cancelled it.
        if ((node.word.load(std::memory_order_relaxed) & TimerNode::kStopped) != 0) node.task.reset();
        forget_repeat(node);
        drop(node);
    }
}

// ---- cancelling ----

CancelOutcome TimerCore::cancel(TimerNode& node) {
    Word word = node.word.load(std::memory_order_acquire);
    for (;;) {
        interleaving_point();
        switch (TimerNode::status_of(word)) {
            case TimerStatus::pending:
                if ((word & TimerNode::kPosted) == 0 && on_driver_thread()) {
                    if (cancel_here(node)) return CancelOutcome::removed;
                    word = node.word.load(std::memory_order_acquire);
                    continue;
                }
                if (node.word.compare_exchange_weak(
                        word, TimerNode::with_status(word, TimerStatus::cancelled) | TimerNode::kPosted,
                        std::memory_order_acq_rel)) {
                    // Destroyed as this returns, and with it possibly the handle of this call: so the node is left
                    // first.
                    const TimerTask task = std::move(node.task);
                    leave();
                    if ((word & TimerNode::kPosted) == 0) post_cancelled(node);
                    return CancelOutcome::removed;
                }
                continue;
            case TimerStatus::handed:
                if (!node.word.compare_exchange_weak(word, TimerNode::with_status(word, TimerStatus::cancelled)))
                    continue;
                return CancelOutcome::removed;
            case TimerStatus::running: {
                const bool here = RunningTask::is_here(node);
                if (!node.word.compare_exchange_weak(word, word | TimerNode::kLast)) continue;
                return here ? CancelOutcome::running_here : CancelOutcome::running_elsewhere;
            }
            default:
                return CancelOutcome::already_done;
        }
    }
}

// On the driver's thread, which may use the wheel: removes the timer completely. False if it has changed.
bool TimerCore::cancel_here(TimerNode& node) {
    {
        const DriverLock lock(baton_);
        Word word = node.word.load(std::memory_order_relaxed);
        if (TimerNode::status_of(word) != TimerStatus::pending || (word & TimerNode::kPosted) != 0) return false;
        if (!node.word.compare_exchange_strong(
                word, TimerNode::with_status(word, TimerStatus::cancelled) - TimerNode::kReference,
                std::memory_order_acq_rel)) {
            return false;
        }
        unlink(node);
        ++cancelled_;
    }
    leave();
    forget_repeat(node);
    destroy_last(node);
    return true;
}

// For a cancelled one that no other thread will post to the mailbox.
void TimerCore::post_cancelled(TimerNode& node) {
    if (post(node)) {
        // A driver that waits for the last timers may have to wait no more.
        if (refuses_.load(std::memory_order_relaxed)) wake_driver();
        return;
    }
    // The service has stopped, and earlier cancelled nodes are left to this thread.
    TimerNode* dead = nullptr;
    take_baton();
    receive(node, dead);
    baton_.unlock();
    bury(dead);
}

bool TimerCore::reschedule(TimerNode& node, Tick deadline) {
    Word word = node.word.load(std::memory_order_acquire);
    for (;;) {
        interleaving_point();
        if (TimerNode::status_of(word) == TimerStatus::running) return reschedule_own(node, deadline);
        if (TimerNode::status_of(word) != TimerStatus::pending) return false;
        if ((word & TimerNode::kPosted) != 0) {
            // It is in the mailbox. The thread that takes it out reads the deadline afterwards; if it was taken out
            // meanwhile, the deadline may have been read too early.
            node.wanted.store(deadline, std::memory_order_seq_cst);
            if (!node.word.compare_exchange_weak(word, word, std::memory_order_acq_rel)) continue;
            break;
        }
        if (on_driver_thread()) {
            const DriverLock lock(baton_);
            word = node.word.load(std::memory_order_relaxed);
            if (TimerNode::status_of(word) != TimerStatus::pending || (word & TimerNode::kPosted) != 0) continue;
            node.wanted.store(deadline, std::memory_order_relaxed);
            wheel_.schedule(node, deadline);
            break;
        }
        if (!node.word.compare_exchange_weak(word, word | TimerNode::kPosted, std::memory_order_acq_rel)) continue;
        node.wanted.store(deadline, std::memory_order_relaxed);
        if (!post(node)) {
            word = node.word.fetch_and(~TimerNode::kPosted, std::memory_order_acq_rel);
            // A thread that cancelled it meanwhile found it posted, and left everything except the task to this thread;
            // a node that stop() ended belongs to stop().
            const bool is_ours = TimerNode::status_of(word) == TimerStatus::cancelled;
            if (is_ours && (word & TimerNode::kStopped) == 0) post_cancelled(node);
            return false;
        }
        // A thread that set an earlier one while it was being posted may have woken the driver before the node was in
        // the mailbox.
        deadline = std::min(deadline, node.wanted.load(std::memory_order_seq_cst));
        break;
    }
    wake_if_earlier(deadline);
    return true;
}

// From the task of one that was to run once: it is armed again as the task returns, and takes its place for that here.
bool TimerCore::reschedule_own(TimerNode& node, Tick deadline) {
    const Word word = node.word.load(std::memory_order_relaxed);
    if (!RunningTask::is_here(node) || (word & TimerNode::kLast) != 0) return false;
    if (refuses_.load(std::memory_order_relaxed)) return false;
    if ((word & TimerNode::kAgain) == 0 && !enter()) return false;
    node.wanted.store(deadline, std::memory_order_relaxed);
    node.word.fetch_or(TimerNode::kAgain, std::memory_order_acq_rel);
    return true;
}

bool TimerCore::reschedule_repeating(TimerNode& node, TimerInstant deadline) {
    const Tick tick = tick_of(deadline);
    const bool moved = change_repeating(node, [&](TimerRepeat& repeat, Word word) {
        if (TimerNode::status_of(word) == TimerStatus::running) {
            repeat.moved = deadline;
            return;
        }
        repeat.nominal = deadline;
        node.wanted.store(tick, std::memory_order_relaxed);
        // A posted node is scheduled by the thread that takes it from the mailbox, which needs the baton.
        if ((word & TimerNode::kPosted) == 0) wheel_.schedule(node, tick);
    });
    if (moved) wake_if_earlier(tick);
    return moved;
}

bool TimerCore::set_period(TimerNode& node, std::chrono::nanoseconds period) {
    return change_repeating(node, [period](TimerRepeat& repeat, Word) { repeat.period = period; });
}

// Changes a fixed rate or delay that is pending, or whose task is the caller. With the baton a pending one keeps its
// state: firing or ending it needs the baton, too; and arming it again finds a closed mailbox only after a stop.
template <class Change>
bool TimerCore::change_repeating(TimerNode& node, Change change) {
    Word word = node.word.load(std::memory_order_acquire);
    if ((word & TimerNode::kAtWall) != 0) return false;
    if (TimerNode::status_of(word) == TimerStatus::running) {
        if (!RunningTask::is_here(node) || (word & TimerNode::kLast) != 0) return false;
        change(*node.repeat, word);
        return true;
    }
    take_baton();
    const std::lock_guard lock(baton_, std::adopt_lock);
    word = node.word.load(std::memory_order_acquire);
    if (stopped_ || TimerNode::status_of(word) != TimerStatus::pending) return false;
    change(*node.repeat, word);
    return true;
}

bool TimerCore::withdraw(TimerNode& node) {
    Word word = node.word.load(std::memory_order_acquire);
    Word cancelled = 0;
    do {
        const TimerStatus status = TimerNode::status_of(word);
        if (status == TimerStatus::handed || status == TimerStatus::running) return false;
        if (status == TimerStatus::cancelled && (word & TimerNode::kStopped) != 0) return withdraw_stopping(node);
        if (status != TimerStatus::pending) return true;
        // A node in the mailbox loses its reference when it is taken out.
        cancelled = TimerNode::with_status(word, TimerStatus::cancelled);
        if ((word & TimerNode::kPosted) == 0) cancelled -= TimerNode::kReference;
    } while (!node.word.compare_exchange_weak(word, cancelled, std::memory_order_acq_rel));
    leave();
    TimerNode* dead = nullptr;
    take_baton();
    if ((word & TimerNode::kPosted) != 0) {
        dead = drain();
    } else {
        unlink(node);
        ++cancelled_;
    }
    baton_.unlock();
    bury(dead);
    return true;
}

// ---- the end, and figures ----

// The thread that changed a node from pending ends it: stop() those it finds pending, a canceller that finds a closed
// mailbox its own.
std::vector<Timeout> TimerCore::stop() {
    TimerNode* dead = nullptr;
    std::vector<TimerNode*> ended;
    bool goes_on_here = false;
    bool begins = false;  // to drive, for that
    const auto end_pending = [&](TimerNode& node) {
        Word word = node.word.load(std::memory_order_relaxed);
        do {
            if (TimerNode::status_of(word) != TimerStatus::pending) return;
        } while (!node.word.compare_exchange_weak(
            word, TimerNode::with_status(word, TimerStatus::cancelled) | TimerNode::kStopped,
            std::memory_order_acq_rel));
        ++cancelled_;
        leave();
        if ((word & TimerNode::kEmbedded) == 0) {
            ended.push_back(&node);
        } else {
            add_stopping(node);
        }
    };
    {
        take_baton();
        const std::lock_guard lock(baton_, std::adopt_lock);
        if (stopped_) return {};
        ended.reserve(wheel_.size() + Mailbox::kLengthMax);
        stopping_.reserve(wheel_.size() + Mailbox::kLengthMax);
        stopped_ = true;
        refuses_.store(true, std::memory_order_relaxed);
        for (TimerNode* node = mailbox_.close(); node != nullptr;) {
            TimerNode* const next = node->next_posted;
            const Word word = node->word.fetch_and(~TimerNode::kPosted, std::memory_order_acq_rel);
            if (TimerNode::status_of(word) == TimerStatus::pending) {
                if (node->is_pending()) unlink(*node);
                end_pending(*node);
            } else {
                receive_cancelled(*node, dead);
            }
            node = next;
        }
        wheel_.clear(end_pending);
        at_wall_ = nullptr;
        // Two threads must not run a coroutine and the timer it waits for: a thread that drives now does it itself.
        goes_on_here = !stopping_.empty() && (!driven_ || on_driver_thread());
        begins = goes_on_here && !driven_;
        driven_ |= begins;
    }
    bury(dead);
    std::vector<Timeout> unprocessed;
    unprocessed.reserve(ended.size());
    for (TimerNode* node : ended) {
        take_apart(*node);
        unprocessed.push_back(Timeout(*node, Timeout::Adopt{}));
    }
    if (goes_on_here) run_stopping(begins);
    return unprocessed;
}

// One-shot timers leave the wheel and return, because the wheel cannot be searched.
std::size_t TimerCore::shutdown() {
    TimerNode* dead = nullptr;
    std::size_t left = 0;
    {
        take_baton();
        const std::lock_guard lock(baton_, std::adopt_lock);
        if (stopped_) return 0;
        std::vector<TimerNode*> kept;
        kept.reserve(wheel_.size() + Mailbox::kLengthMax);
        refuses_.store(true, std::memory_order_relaxed);
        dead = drain();
        at_wall_ = nullptr;
        wheel_.clear([&](TimerNode& node) { is_periodic(node) ? end_unseen(node, dead) : kept.push_back(&node); });
        for (TimerNode* const node : kept) file(*node, node->deadline());
        left = wheel_.size();
    }
    bury(dead);
    return left;
}

// Called by the driver: ends embedded timers that were pending when the service stopped, or that were posted after it.
// One by one, because each may destroy others.
void TimerCore::run_stopping(bool ends_driving) {
    for (std::size_t place = 0;; ++place) {
        TimerNode* node = nullptr;
        {
            take_baton();
            const std::lock_guard lock(baton_, std::adopt_lock);
            if (place == stopping_.size()) {
                stopping_.clear();
                stopping_.shrink_to_fit();
                if (ends_driving) driven_ = false;
                return;
            }
            node = stopping_[place];
            if (node == nullptr) continue;
            node->word.store(TimerNode::kEmbedded | TimerNode::kStopped | bits(TimerStatus::running));
        }
        run_embedded(*node);
    }
}

bool TimerCore::withdraw_stopping(TimerNode& node) {
    take_baton();
    const std::lock_guard lock(baton_, std::adopt_lock);
    if (node.status() == TimerStatus::running) return false;
    stopping_[node.wanted.load(std::memory_order_relaxed)] = nullptr;
    node.word.store(TimerNode::kEmbedded, std::memory_order_relaxed);
    return true;
}

std::size_t TimerCore::pending() {
    take_baton();
    TimerNode* const dead = drain();
    const std::size_t size = wheel_.size();
    baton_.unlock();
    bury(dead);
    return size;
}

TimerStatistics TimerCore::statistics() {
    TimerStatistics all;
    const Tick now = tick_at(clock_.now());
    take_baton();
    TimerNode* const dead = drain();
    all.pending = wheel_.size();
    all.fired = fired_ - fired_in_vain_;
    all.cancelled = cancelled_;
    all.failed = failed_;
    all.slow = slow_;
    all.wakes = wakes_.load(std::memory_order_relaxed);
    all.passes = passes_;
    const Tick earliest = wheel_.empty() ? kNever : wheel_.next_expiry();
    if (earliest < now) all.overdue = std::chrono::nanoseconds(static_cast<std::int64_t>(now - earliest) * tick_ns_);
    all.lateness_ticks = lateness_;
    all.slow_tasks = slow_tasks_;
    baton_.unlock();
    bury(dead);
    std::stable_sort(all.slow_tasks.begin(), all.slow_tasks.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    return all;
}

void TimerCore::before_fork() {
    alarm_mutex_.lock();
    take_baton();
}

void TimerCore::after_fork() {
    baton_.unlock();
    alarm_mutex_.unlock();
}

}  // namespace duewheel
