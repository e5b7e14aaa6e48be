// The driver's side of a timer service: passes that fire due timers, running tasks, and the steps after a run.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <exception>
#include <utility>

#include "runtime/node_pool.h"
#include "runtime/timer_core.h"

namespace duewheel {
namespace {

using Word = std::uint32_t;

// How many timers the wheel touches before others may have the baton.
constexpr std::size_t kTouchedAtOnce = 1024;

void print_problem(const std::exception_ptr& problem, const char* name) {
    const char* const task = name == nullptr ? "(unnamed)" : name;
    try {
        std::rethrow_exception(problem);
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "duewheel: the timer task %s threw: %s. Set TimerOptions::on_error to handle it.\n", task,
                     thrown.what());
    } catch (...) {
        std::fprintf(stderr,
                     "duewheel: the timer task %s threw something that is no std::exception. Set "
                     "TimerOptions::on_error to handle it.\n",
                     task);
    }
}

}  // namespace

// A function given to an executor. The destructor of the service waits for all of them, so the thread that runs one
// moves it into a local variable: an executor may keep functions that it has run.
class TimerCore::Handed {
  public:
    explicit Handed(TimerCore& core) : core_(&core) { core.handed_.fetch_add(1, std::memory_order_relaxed); }
    Handed(Handed&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    Handed& operator=(Handed&&) = delete;
    // The last use of the service: it may be destroyed afterwards.
    ~Handed() {
        if (core_ != nullptr) core_->handed_.fetch_sub(1, std::memory_order_release);
    }

  protected:
    TimerCore* core_;
};

// Runs the timer's task, or ends the timer as cancelled if the executor drops it.
class TimerCore::HandedRun : public Handed {
  public:
    HandedRun(TimerCore& core, TimerNode& node) : Handed(core), node_(&node) {}
    HandedRun(HandedRun&& other) noexcept : Handed(std::move(other)), node_(std::exchange(other.node_, nullptr)) {}
    HandedRun& operator=(HandedRun&&) = delete;
    ~HandedRun() {
        if (node_ != nullptr) core_->end_handed(*node_);
    }

    void operator()() {
        HandedRun mine(std::move(*this));
        mine.node_->runner.store(this_thread_number(), std::memory_order_relaxed);
        Word word = mine.node_->word.load(std::memory_order_acquire);
        do {
            if (TimerNode::status_of(word) != TimerStatus::handed) return;  // and is ended
        } while (!mine.node_->word.compare_exchange_weak(word, TimerNode::with_status(word, TimerStatus::running)));
        mine.core_->run(*std::exchange(mine.node_, nullptr));
    }

  private:
    TimerNode* node_;
};

class TimerCore::HandedTask : public Handed {
  public:
    HandedTask(TimerCore& core, TimerTask task) : Handed(core), task_(std::move(task)) {}

    void operator()() {
        HandedTask mine(std::move(*this));
        mine.core_->call(mine.task_);
    }

  private:
    TimerTask task_;
};

// ---- the driver ----

std::size_t TimerCore::advance(TimerInstant now) {
    baton_.lock_by_driver();
    if (driven_) return baton_.unlock(), 0;
    driven_ = true;
    driver_.store(this_thread_number(), std::memory_order_relaxed);
    sleeps_until_.store(0, std::memory_order_seq_cst);
    ++passes_;
    const std::uint64_t fired_before = fired_;
    const Tick tick = tick_at(now);
    const auto bury_without_baton = [this](TimerNode* dead) {
        if (dead == nullptr) return;
        baton_.unlock();
        bury(dead);
        baton_.lock_by_driver();
    };
    TimerNode* passed_over = drain();
    look_at_wall(passed_over);
    bury_without_baton(passed_over);
    // Timers that tasks arm without delay are late, and would be fired by the next iteration of this loop; so that the
    // call ends, it fires no more than the initial number.
    const std::uint64_t most = fired_ + wheel_.size();
    do {
        const auto budget = static_cast<std::size_t>(std::clamp<std::uint64_t>(most - fired_, 1, kTouchedAtOnce));
        wheel_.advance_to(
            tick, [this](TimerNode& node) { fire(node); }, budget);
        bury_without_baton(drain());
    } while (!wheel_.caught_up() && fired_ < most);
    const std::uint64_t fired = fired_ - fired_before;
    while (!stopping_.empty()) {  // another thread has stopped the service meanwhile
        baton_.unlock();
        run_stopping(false);
        baton_.lock_by_driver();
    }
    driven_ = false;
    baton_.unlock();
    return fired;
}

TimerInstant TimerCore::next_expiry() {
    take_baton();
    TimerNode* dead = drain();
    look_at_wall(dead);
    const Tick next = wheel_.next_expiry();
    baton_.unlock();
    bury(dead);
    return instant_of(next);
}

void TimerCore::set_alarm(TimerAlarm* alarm) {
    const std::lock_guard lock(alarm_mutex_);
    alarm_ = alarm;
    watches_wall_.store(false, std::memory_order_release);
}

TimerInstant TimerCore::rest() {
    TimerNode* dead = nullptr;
    if (uses_wall_.load(std::memory_order_relaxed)) watch_wall();
    baton_.lock_by_driver();
    if (driven_ && !on_driver_thread()) return baton_.unlock(), TimerInstant();  // the driver ends afterwards
    driver_.store(this_thread_number(), std::memory_order_relaxed);
    do {
        TimerNode* more_dead = drain();
        while (more_dead != nullptr) {
            TimerNode* const next = more_dead->next_posted;
            more_dead->next_posted = std::exchange(dead, more_dead);
            more_dead = next;
        }
        look_at_wall(dead);
        interleaving_point();
        sleeps_until_.store(after(wheel_.next_expiry()), std::memory_order_seq_cst);
        interleaving_point();
    } while (!mailbox_.is_empty());
    baton_.unlock();
    bury(dead);
    const std::lock_guard lock(alarm_mutex_);
    const Tick until = sleeps_until_.load(std::memory_order_seq_cst);
    if (until == 0) return {};  // another thread has started to drive, and will sleep
    if (alarm_ != nullptr) alarm_->set(instant_of(until - 1));
    return instant_of(until - 1);
}

// ---- firing ----

// With the baton, which is released while user code runs. The node is out of the wheel.
void TimerCore::fire(TimerNode& node) {
    interleaving_point();
    const bool at_wall = repeats(node) && node.repeat->is_at_wall();
    if (at_wall && is_before_its_wall(node)) return;
    // Before the status is `running`: a thread that waits for it reads which thread runs it.
    node.runner.store(this_thread_number(), std::memory_order_relaxed);
    Word word = node.word.load(std::memory_order_relaxed);
    Word taken = 0;
    do {
        // Posted: it was cancelled or has a new deadline, and is in the mailbox.
        if ((word & TimerNode::kPosted) != 0 || TimerNode::status_of(word) != TimerStatus::pending) {
            if (at_wall) unlink_at_wall(node);  // only for nodes in the wheel
            // One that is to be moved stays here, so that a stop() meanwhile finds it; it does not fire before its
            // move.
            if (TimerNode::status_of(word) == TimerStatus::pending) wheel_.schedule(node, kLastTick);
            return;
        }
        const bool hands_over = options_.executor && (word & TimerNode::kEmbedded) == 0;
        taken = TimerNode::with_status(word, hands_over ? TimerStatus::handed : TimerStatus::running);
    } while (!node.word.compare_exchange_weak(word, taken, std::memory_order_acq_rel));
    if (at_wall) unlink_at_wall(node);
    if (repeats(node)) node.repeat->begun = instant_of(wheel_.now());
    ++fired_;
    ++lateness_[static_cast<std::size_t>(std::bit_width(wheel_.now() - std::min(node.deadline(), wheel_.now())))];
    baton_.unlock();
    if ((word & TimerNode::kRepeats) == 0) leave();
    start(node);
    baton_.lock_by_driver();
}

void TimerCore::start(TimerNode& node) {
    if ((node.word.load(std::memory_order_relaxed) & TimerNode::kEmbedded) != 0) {
        run_embedded(node);
        return;
    }
    if (!options_.executor) {
        run(node);
        return;
    }
    hand(HandedRun(*this, node));
}

// The task may destroy the node, so all work on it is done before. It runs here regardless of an executor, and so does
// the coroutine that it resumes (coroutine.h explains why).
void TimerCore::run_embedded(TimerNode& node) {
    TimerTask task = std::move(node.task);
    const Word word = node.word.load(std::memory_order_relaxed);
    node.word.store(TimerNode::with_status(word & (TimerNode::kEmbedded | TimerNode::kStopped), TimerStatus::running),
                    std::memory_order_release);
    call(task);
}

void TimerCore::dispatch(TimerTask task) {
    if (!options_.executor) {
        call(task);
        return;
    }
    hand(HandedTask(*this, std::move(task)));
}

template <class Work>
void TimerCore::hand(Work work) {
    try {
        options_.executor(TimerTask(std::move(work)));
    } catch (...) {
        report(std::current_exception(), "(the executor)");
    }
}

void TimerCore::run(TimerNode& node) {
    {
        const RunningTask running(node);
        call(node.task);
    }
    if (repeats(node)) {
        finish_repeating(node);
    } else {
        finish(node);
    }
}

void TimerCore::call(TimerTask& task) {
    const bool measures = options_.slow_task.count() > 0;
    const char* const name = measures ? task.name() : nullptr;
    const TimerInstant begun = measures ? clock_.now() : TimerInstant();
    try {
        task();
    } catch (...) {
        report(std::current_exception(), task.name());
    }
    if (measures) note_duration(begun, name);
}

void TimerCore::note_duration(TimerInstant begun, const char* name) {
    const std::chrono::nanoseconds took = clock_.now() - begun;
    if (took <= options_.slow_task) return;
    const char* const shown = name == nullptr ? "(unnamed)" : name;
    take_baton();
    const std::lock_guard lock(baton_, std::adopt_lock);
    ++slow_;
    auto known = std::find_if(slow_tasks_.begin(), slow_tasks_.end(),
                              [shown](const TimerStatistics::SlowTask& task) { return task.name == shown; });
    if (known == slow_tasks_.end()) known = slow_tasks_.insert(known, TimerStatistics::SlowTask{shown, 0, {}});
    ++known->count;
    known->longest = std::max(known->longest, took);
}

void TimerCore::report(std::exception_ptr problem, const char* name) {
    {
        take_baton();
        const std::lock_guard lock(baton_, std::adopt_lock);
        ++failed_;
    }
    if (options_.on_error) {
        options_.on_error(std::move(problem), name);
    } else {
        print_problem(problem, name);
    }
}

// ---- after a run ----

void TimerCore::finish(TimerNode& node) {
    if ((node.word.load(std::memory_order_relaxed) & TimerNode::kAgain) != 0) [[unlikely]] {
        if (!arm_again(node, node.wanted.load(std::memory_order_relaxed))) end(node, TimerStatus::cancelled);
        return;
    }
    node.task.reset();
    interleaving_point();
    if (node.word.load(std::memory_order_acquire) ==
        TimerNode::with_status(TimerNode::kReference, TimerStatus::running)) {  // no other thread knows it
        node.word.store(0, std::memory_order_relaxed);
        give_node(node);
        return;
    }
    end(node, TimerStatus::expired);
}

void TimerCore::finish_repeating(TimerNode& node) {
    TimerRepeat& repeat = *node.repeat;
    if (!move_on(repeat, clock_.now(), repeat.is_at_wall() ? clock_.wall_now() : Instant())) {
        leave();
        end(node, TimerStatus::expired);
    } else if (!arm_again(node, repeat.is_at_wall() ? tick_of_wall(repeat) : tick_of(repeat.nominal))) {
        end(node, TimerStatus::cancelled);
    }
}

// Arms the next run of one that repeats, or is to run again. False if it was cancelled while it ran, or the service
// accepts no more; then it must be ended.
bool TimerCore::arm_again(TimerNode& node, Tick deadline) {
    const auto as_pending = [](Word word) {
        return TimerNode::with_status(word & ~TimerNode::kAgain, TimerStatus::pending);
    };
    node.wanted.store(deadline, std::memory_order_relaxed);
    Word word = node.word.load(std::memory_order_acquire);
    if (on_driver_thread()) {
        const DriverLock lock(baton_);
        do {
            const bool refuses = refuses_.load(std::memory_order_relaxed);
            if (refuses || (word & TimerNode::kLast) != 0) return leave(), false;
        } while (!node.word.compare_exchange_weak(word, as_pending(word)));
        file(node, deadline);
    } else {
        do {
            if ((word & TimerNode::kLast) != 0) return leave(), false;
        } while (!node.word.compare_exchange_weak(word, as_pending(word) | TimerNode::kPosted));
        if (!post(node)) {
            word = node.word.load(std::memory_order_acquire);
            do {  // a canceller finds it posted, and leaves everything except the task to this thread
                if (TimerNode::status_of(word) != TimerStatus::pending) return post_cancelled(node), true;
            } while (!node.word.compare_exchange_weak(
                word, TimerNode::with_status(word, TimerStatus::cancelled) & ~TimerNode::kPosted));
            return leave(), false;
        }
    }
    wake_if_earlier(deadline);
    return true;
}

// For one given to an executor: cancelled meanwhile, or dropped.
void TimerCore::end_handed(TimerNode& node) {
    take_baton();
    ++cancelled_;
    ++fired_in_vain_;
    baton_.unlock();
    if ((node.word.load(std::memory_order_relaxed) & TimerNode::kRepeats) != 0) leave();
    end(node, TimerStatus::cancelled);
}

// For one that neither the wheel nor another thread will use again.
void TimerCore::end(TimerNode& node, TimerStatus status) {
    take_apart(node);
    Word word = node.word.load(std::memory_order_acquire);
    interleaving_point();
    while (!node.word.compare_exchange_weak(word, TimerNode::with_status(word, status), std::memory_order_acq_rel)) {
    }
    if ((word & TimerNode::kWaited) != 0) node.word.notify_all();
    drop(node);
}

}  // namespace duewheel
