#include "schemes/history_trial.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

#include "schemes/any_timer_queue.h"

namespace duewheel {
namespace {

class HistoryTrial {
  public:
    HistoryTrial(const TestedScheme& scheme, const History& history)
        : history_(history), queue_(scheme.make(history.start)), now_(queue_.now()), settled_(now_) {}

    // Throws Disagreement.
    void run() {
        for (const TimerOperation& step : history_.steps) {
            carry_out(step);
            compare();
        }
        drain();
    }

  private:
    using Id = std::uint64_t;
    static constexpr std::size_t kTimersMax = 64;
    static constexpr Tick kLastTick = kNever - 1;

    struct Timer {
        TimerHandle handle;
        Tick deadline = 0;
        Tick turn = 0;      // fires not before: its deadline, or the tick at which it was armed late
        Tick turn_end = 0;  // fires not after, unless the queue is stopped
        bool late = false;
        std::uint64_t armed_in_call = 0;
    };

    static void expect(bool holds, const char* what) {
        if (!holds) throw Disagreement(what);
    }

    // Near and far, at the edges of slots of every size in use, and at the end of time.
    Tick draw_time(const TimerOperation& operation) const {
        static constexpr Tick kSlotSizes[] = {3,
                                              4,
                                              8,
                                              9,
                                              12,
                                              20,
                                              27,
                                              60,
                                              64,
                                              256,
                                              400,
                                              512,
                                              3600,
                                              4096,
                                              8000,
                                              86'400,
                                              1 << 18,
                                              604'800,
                                              2'592'000,
                                              Tick{1} << 32,
                                              Tick{1} << 60,
                                              31'536'000};
        const Tick amount = operation.amount;
        switch (operation.shape % TimerOperation::kShapes) {
            case 0:
                return now_ - std::min(now_, amount % 100);
            case 1:
                return later(amount % 4);
            case 2:
                return later(amount % 70);
            case 3:
                return later(amount % 5000);
            case 4: {
                const Tick size = kSlotSizes[amount % std::size(kSlotSizes)];
                const Tick edge = now_ - now_ % size + (1 + amount / 64 % 3) * size;
                return edge < now_ ? kNever : edge + amount / 256 % 3 - 1;
            }
            case 5:
                return judged_.empty() ? now_ : pick(amount)->second.deadline;
            case 6:
                return later(amount >> (operation.which % 64));
            case 7:
                return kNever - amount % 4;
            case 8:
                return later(amount % 100'000'000);
            case 9: {
                // The last that a wheel of one turn takes, and one tick beside it.
                const Tick latest = queue_.latest_deadline();
                return latest == kLastTick ? later(amount % 300) : latest + amount % 3 - 1;
            }
            default:
                return amount;
        }
    }

    Tick later(Tick delay) const { return delay > kNever - now_ ? kNever : now_ + delay; }

    std::map<Id, Timer>::const_iterator pick(std::uint64_t which) const {
        return std::next(judged_.begin(), static_cast<std::ptrdiff_t>(which % judged_.size()));
    }

    void carry_out(const TimerOperation& operation) {
        using Kind = TimerOperation::Kind;
        switch (operation.kind) {
            case Kind::schedule:
                return schedule(draw_time(operation));
            case Kind::cancel:
                if (!judged_.empty()) cancel(pick(operation.which)->first);
                return;
            case Kind::reschedule_firing:
                if (firing_ != 0) return reschedule_firing(draw_time(operation));
                [[fallthrough]];
            case Kind::reschedule:
                if (!judged_.empty()) reschedule(pick(operation.which)->first, draw_time(operation));
                return;
            case Kind::refuse_dead_handle:
                return refuse_dead_handle(operation);
            case Kind::clear:
                // Seldom, or no history would come far.
                if (operation.which % 8 == 0) clear();
                return;
            default:
                if (firing_ == 0) pass_time(operation);
                return;
        }
    }

    void pass_time(const TimerOperation& operation) {
        if (operation.kind == TimerOperation::Kind::advance_to_next) {
            advance_to_next();
        } else if (operation.kind == TimerOperation::Kind::advance_with_budget) {
            advance(draw_time(operation), operation.which % 6);
        } else {
            advance(draw_time(operation), AnyTimerQueue::kUnlimited);
        }
    }

    bool is_taken(Tick deadline) const {
        return deadline == kNever || deadline <= now_ || deadline <= queue_.latest_deadline();
    }

    void schedule(Tick deadline) {
        if (judged_.size() >= kTimersMax) return;
        const bool taken = is_taken(deadline);
        const Id id = ++last_id_;
        const TimerHandle handle = queue_.schedule(deadline, id);
        expect(static_cast<bool>(handle) == taken,
               "schedule() refused what it should take, or took what it cannot reach");
        if (taken) arm(id, handle, deadline);
    }

    void cancel(Id id) {
        const TimerHandle handle = judged_.at(id).handle;
        expect(queue_.cancel(handle), "a pending timer could not be cancelled");
        expect(!queue_.cancel(handle), "a cancelled timer could be cancelled again");
        judged_.erase(id);
        dead_.push_back(handle);
        if (id == firing_) firing_ended_ = true;
    }

    void reschedule(Id id, Tick deadline) {
        const TimerHandle handle = judged_.at(id).handle;
        const bool taken = is_taken(deadline);
        expect(queue_.reschedule(handle, deadline) == taken, "a pending timer could not be given a deadline");
        if (taken) arm(id, handle, deadline);
    }

    void reschedule_firing(Tick deadline) {
        if (firing_ended_) {
            expect(!queue_.reschedule(firing_handle_, deadline), "a timer came back that its sink had ended");
            return;
        }
        const bool taken = is_taken(deadline);
        expect(queue_.reschedule(firing_handle_, deadline) == taken, "a timer could not be armed again by its sink");
        if (taken) arm(firing_, firing_handle_, deadline);
    }

    void refuse_dead_handle(const TimerOperation& operation) {
        if (dead_.empty()) return;
        const TimerHandle handle = dead_[operation.which % dead_.size()];
        expect(!queue_.cancel(handle), "the handle of a timer that has ended could be cancelled");
        expect(!queue_.reschedule(handle, draw_time(operation)),
               "the handle of a timer that has ended was rescheduled");
        expect(!queue_.deadline_of(handle), "the handle of a timer that has ended has a deadline");
    }

    void clear() {
        queue_.clear();
        for (const auto& [id, timer] : judged_) dead_.push_back(timer.handle);
        judged_.clear();
        firing_ended_ = true;
    }

    // How late a scheme may be counts from the tick it has worked up to, which is now() only if it is caught up.
    void arm(Id id, TimerHandle handle, Tick deadline) {
        Timer timer{handle, deadline, deadline, deadline, deadline <= now_, call_};
        if (timer.late) {
            timer.turn = timer.turn_end = now_;
        } else {
            const Tick lateness = queue_.lateness_max(deadline - settled_);
            timer.turn_end = deadline > kNever - lateness ? kNever : deadline + lateness;
        }
        judged_[id] = timer;
    }

    // Nothing may fire before the next expiry, and something must fire then.
    void advance_to_next() {
        if (!queue_.caught_up()) {
            advance(now_, AnyTimerQueue::kUnlimited);
            return;
        }
        const Tick next = queue_.next_expiry();
        if (next == kNever) return;
        if (next > now_)
            expect(advance(next - 1, AnyTimerQueue::kUnlimited) == 0, "something fired before the next expiry");
        expect(queue_.next_expiry() == next, "the next expiry is another, although nothing has changed");
        expect(advance(next, AnyTimerQueue::kUnlimited) > 0, "nothing fired at the next expiry");
    }

    std::size_t advance(Tick to, std::size_t budget) {
        now_ = std::max(now_, std::min(to, kLastTick));
        ++call_;
        std::size_t fired = 0;
        const std::size_t told = queue_.advance_to(
            to,
            [&](std::uint64_t id, Tick deadline) {
                ++fired;
                fire(id, deadline);
            },
            budget);
        expect(told == fired, "the queue counted another number than it fired");
        expect(fired <= budget, "more fired than the budget allows");
        expect(budget != AnyTimerQueue::kUnlimited || queue_.caught_up(), "a call without a budget did not finish");
        if (queue_.caught_up()) {
            settled_ = now_;
            for (const auto& [id, timer] : judged_) {
                const bool waits = timer.late && timer.armed_in_call == call_;
                expect(timer.turn_end > now_ || waits, "a due timer was left behind");
            }
        }
        stopped_ = !queue_.caught_up();
        return fired;
    }

    void fire(Id id, Tick deadline) {
        const auto found = judged_.find(id);
        expect(found != judged_.end(), "a timer fired that is not pending");
        const Timer timer = found->second;
        expect(deadline == timer.deadline, "a timer fired with another deadline");
        expect(timer.turn <= now_, "a timer fired early");
        expect(!timer.late || timer.armed_in_call < call_, "a timer fired in the call that armed it late");
        // After a stop, late ones may come ahead of what the stop left; nothing else is ever out of turn.
        if (!timer.late || !stopped_) expect_turn_of(timer);
        judged_.erase(found);

        firing_ = id;
        firing_handle_ = timer.handle;
        firing_ended_ = false;
        queue_.check();
        expect(!queue_.cancel(timer.handle), "a timer could be cancelled while it fired");
        expect(!queue_.deadline_of(timer.handle), "a timer was pending while it fired");
        if (firings_ < history_.sinks.size()) {
            for (const TimerOperation& operation : history_.sinks[firings_]) {
                carry_out(operation);
                queue_.check();
            }
        }
        ++firings_;
        if (!judged_.contains(id)) dead_.push_back(timer.handle);
        firing_ = 0;
    }

    // That nothing is pending which should have fired in an earlier tick.
    void expect_turn_of(const Timer& timer) const {
        for (const auto& [id, other] : judged_) {
            const bool waits = other.late && other.armed_in_call == call_;
            expect(other.turn_end >= timer.turn || waits, "a timer fired out of turn");
        }
    }

    void compare() const {
        queue_.check();
        expect(queue_.now() == now_, "the queue has another time");
        expect(queue_.size() == judged_.size(), "the queue has another number of pending timers");
        Tick earliest = kNever;
        Tick latest = kNever;
        for (const auto& [id, timer] : judged_) {
            expect(queue_.deadline_of(timer.handle) == timer.deadline, "a deadline is another");
            earliest = std::min(earliest, timer.turn);
            latest = std::min(latest, timer.turn_end);
        }
        const Tick next = queue_.next_expiry();
        if (queue_.caught_up()) {
            expect(next >= std::max(now_, earliest), "the next expiry comes too early");
            expect(next <= std::max(now_, latest), "the next expiry comes too late");
        } else {
            expect(next == now_, "there is work left, and the next expiry is not now");
        }
    }

    // Everything comes out in the end, a few at a time, but for what cannot fire before time ends.
    void drain() {
        const std::size_t calls_max = 1000 + history_.sinks.size();
        for (std::size_t calls = 0; calls < calls_max; ++calls) {
            advance(kNever, 3);
            compare();
            const bool done = std::all_of(judged_.begin(), judged_.end(),
                                          [](const auto& entry) { return entry.second.turn_end == kNever; });
            if (queue_.caught_up() && done) return;
        }
        throw Disagreement("the queue never finishes");
    }

    const History& history_;
    AnyTimerQueue queue_;
    Tick now_;
    Tick settled_;            // the latest time at which the queue was caught up
    std::uint64_t call_ = 1;  // of advance_to()
    bool stopped_ = false;    // the call before this one did not finish
    std::size_t firings_ = 0;
    Id firing_ = 0;  // whose sink runs; 0 if none does
    TimerHandle firing_handle_;
    bool firing_ended_ = false;  // cancelled or cleared, after being armed again or not
    Id last_id_ = 0;
    std::map<Id, Timer> judged_;
    std::vector<TimerHandle> dead_;
};

}  // namespace

void try_history(const TestedScheme& scheme, const History& history) {
    HistoryTrial(scheme, history).run();
}

}  // namespace duewheel
