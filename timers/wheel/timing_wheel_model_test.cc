// The wheels against an obvious model, over random histories: jumps of all sizes, deadlines at the edges of levels and
// near the last tick, budgets that stop in the middle, and sinks that schedule, cancel and reschedule. The checker runs
// after every step. All fronts live through the same histories, those without handles behind an adapter that makes
// some.
//
// A failure prints its seed; DUEWHEEL_SEED=<seed> in the environment runs that history alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include "wheel/front_queues.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {
namespace {

// What a history is made of; drawn by the seed, so that some histories never stop early and some do nothing but.
struct Workload {
    Tick start = 0;
    std::size_t timers_max = 0;
    bool budgets = false;
    bool busy_sinks = false;
    bool far_deadlines = false;
};

// Times at which wheels break, near a given one: the edges of every level, and one tick beside them.
Tick edge_near(Random& random, Tick now) {
    const auto shift = static_cast<unsigned>(6 * random.below(11));
    const Tick edge = ((now >> shift) + 1 + random.below(3)) << shift;
    return edge + random.below(3) - 1;
}

template <class Front>
class History {
  public:
    History(std::uint64_t seed, Workload workload) : random_(seed), workload_(workload), wheel_(workload.start) {
        now_ = wheel_.now();
    }

    void step() {
        if (random_.below(4) == 0) {
            advance();
        } else {
            change_one();
        }
        compare();
    }

    // Everything comes out in the end, in a number of calls that the promised cost bounds.
    void drain() {
        if (testing::Test::HasFatalFailure()) return;
        workload_.busy_sinks = false;
        // Two entries for each, which go down ten levels at most.
        const std::size_t touched_max = workload_.timers_max * 24 + 24;
        std::size_t calls = 0;
        do {
            advance_to(kNever, 3);
            compare();
            ASSERT_LE(++calls, touched_max);
        } while (!testing::Test::HasFailure() && (!wheel_.caught_up() || !by_turn_.empty()));
        for (const auto& [id, timer] : timers_) EXPECT_EQ(timer.deadline, kNever);
    }

  private:
    struct Timer {
        TimerHandle handle;
        Tick deadline = 0;
        Tick turn = 0;  // the tick it counts as due at: that of a late one is the time when it was armed
        bool late = false;
        std::uint64_t armed_in_call = 0;
    };
    using Id = std::uint64_t;

    Tick draw_deadline() {
        switch (random_.below(workload_.far_deadlines ? 9 : 6)) {
            case 0:
                return now_ - std::min(now_, random_.below(100));
            case 1:
                return later(random_.below(4));
            case 2:
                return later(random_.below(64));
            case 3:
                return later(random_.below(5000));
            case 4:
                return edge_near(random_, now_);
            case 5:
                return timers_.empty() ? now_ : timers_.begin()->second.deadline;
            case 6:
                return later(random_.next() >> random_.below(64));
            case 7:
                return kNever - random_.below(4);
            default:
                return random_.next();
        }
    }

    Tick draw_time() {
        const Tick next = wheel_.next_expiry();
        switch (random_.below(workload_.far_deadlines ? 9 : 8)) {
            case 0:
                return now_;
            case 1:
                return now_ - std::min(now_, random_.below(1000));
            case 2:
                return later(1);
            case 3:
                return later(random_.below(300));
            case 4:
                return next == kNever ? now_ : next;
            case 5:
                return next == kNever ? now_ : next - 1;
            case 6:
                return next == kNever ? now_ : next + random_.below(200);
            case 7:
                return random_.below(4) == 0 ? edge_near(random_, now_) : later(random_.below(5000));
            default:
                return random_.below(8) == 0 ? later(random_.next() >> random_.below(64)) : now_;
        }
    }

    Tick later(Tick delay) const { return delay > kNever - now_ ? kNever : now_ + delay; }

    void change_one() {
        const std::uint64_t kind = random_.below(10);
        if (kind < 5 && timers_.size() < workload_.timers_max) {
            schedule();
        } else if (kind < 7) {
            cancel();
        } else if (kind < 9) {
            reschedule();
        } else {
            refuse_a_dead_handle();
        }
    }

    void schedule() {
        const Tick deadline = draw_deadline();
        const Id id = ++last_id_;
        const TimerHandle handle = wheel_.schedule(deadline, id);
        arm(id, handle, deadline);
    }

    void cancel() {
        const std::optional<Id> id = draw_id();
        if (!id) return;
        const Timer timer = timers_.at(*id);
        if (random_.below(4) == 0) {
            wheel_.cancel_posted(timer.handle);
            posted_ = true;
        } else {
            ASSERT_TRUE(wheel_.cancel(timer.handle));
            ASSERT_FALSE(wheel_.cancel(timer.handle));
            dead_.push_back(timer.handle);
        }
        disarm(*id);
    }

    void reschedule() {
        const std::optional<Id> id = draw_id();
        if (!id) return;
        const TimerHandle handle = timers_.at(*id).handle;
        const Tick deadline = draw_deadline();
        ASSERT_TRUE(wheel_.reschedule(handle, deadline));
        disarm(*id);
        arm(*id, handle, deadline);
    }

    void refuse_a_dead_handle() {
        if (dead_.empty()) return;
        const TimerHandle handle = dead_[random_.below(dead_.size())];
        ASSERT_FALSE(wheel_.cancel(handle));
        ASSERT_FALSE(wheel_.reschedule(handle, draw_deadline()));
        ASSERT_EQ(wheel_.deadline_of(handle), std::nullopt);
    }

    std::optional<Id> draw_id() {
        if (timers_.empty()) return std::nullopt;
        const auto found = timers_.lower_bound(1 + random_.below(last_id_));
        return (found == timers_.end() ? timers_.begin() : found)->first;
    }

    void arm(Id id, TimerHandle handle, Tick deadline) {
        const bool late = deadline <= now_;
        const Tick turn = late ? now_ : deadline;
        timers_[id] = Timer{handle, deadline, turn, late, call_};
        if (deadline != kNever) by_turn_.emplace(turn, id);
    }

    void disarm(Id id) {
        const auto [begin, end] = by_turn_.equal_range(timers_.at(id).turn);
        const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second == id; });
        if (found != end) by_turn_.erase(found);
        timers_.erase(id);
    }

    void advance() {
        std::size_t budget = Front::kUnlimited;
        if (workload_.budgets && random_.below(4) != 0) budget = random_.below(12);
        advance_to(draw_time(), budget);
    }

    void advance_to(Tick now, std::size_t budget) {
        now_ = std::max(now_, std::min(now, kNever - 1));
        ++call_;
        std::size_t fired = 0;
        const std::size_t reported = wheel_.advance_to(
            now,
            [&](std::uint64_t id, Tick deadline) {
                ++fired;
                fire(id, deadline);
            },
            budget);
        ASSERT_EQ(reported, fired);
        ASSERT_LE(fired, budget);
        if (budget == Front::kUnlimited) {
            ASSERT_TRUE(wheel_.caught_up());
        }
        if (wheel_.caught_up()) expect_nothing_left();
        stopped_ = !wheel_.caught_up();
    }

    void fire(Id id, Tick deadline) {
        ASSERT_TRUE(timers_.contains(id)) << "fired, but not pending: " << id;
        const Timer timer = timers_.at(id);
        ASSERT_EQ(deadline, timer.deadline);
        ASSERT_LE(deadline, now_) << "early";
        if (timer.late) {
            ASSERT_LT(timer.armed_in_call, call_) << "armed late in this call";
        }
        // After a stop, late ones may come ahead of what the stop left; nothing else is ever out of turn.
        if (!timer.late || !stopped_) {
            ASSERT_EQ(timer.turn, by_turn_.begin()->first) << "out of turn";
        }
        disarm(id);
        wheel_.check();
        compare_in_sink();
        if (workload_.busy_sinks) act_in_sink(id, timer.handle);
        if (!timers_.contains(id)) dead_.push_back(timer.handle);
    }

    void act_in_sink(Id id, TimerHandle handle) {
        ASSERT_FALSE(wheel_.cancel(handle)) << "firing has won";
        for (std::uint64_t actions = random_.below(4); actions > 0; --actions) change_one();
        if (random_.below(3) == 0) {
            const Tick deadline = draw_deadline();
            ASSERT_TRUE(wheel_.reschedule(handle, deadline));
            arm(id, handle, deadline);
        }
        for (std::uint64_t actions = random_.below(3); actions > 0; --actions) change_one();
        wheel_.check();
        compare_in_sink();
    }

    // Exact when nothing is left to do; and something is left whenever a timer is due that this call has to fire.
    void compare_in_sink() {
        const Tick next = wheel_.next_expiry();
        const Tick earliest = by_turn_.empty() ? kNever : std::max(by_turn_.begin()->first, now_);
        if (wheel_.caught_up()) {
            expect_nothing_left();
            ASSERT_EQ(next, earliest);
        } else {
            ASSERT_EQ(next, now_);
        }
        wheel_.check();
    }

    // All that is due has fired, but for what was armed late in this very call.
    void expect_nothing_left() {
        for (auto entry = by_turn_.begin(); entry != by_turn_.end() && entry->first <= now_; ++entry) {
            const Timer& timer = timers_.at(entry->second);
            ASSERT_TRUE(timer.late && timer.armed_in_call == call_)
                << "left: " << entry->second << " at " << timer.turn;
        }
    }

    void compare() {
        wheel_.check();
        ASSERT_EQ(wheel_.now(), now_);
        // A posted cancel may wait for the next question, which a step ends with one time in two.
        const bool asks = !posted_ || random_.below(2) == 0;
        if (!asks) return;
        posted_ = false;
        static_cast<void>(wheel_.next_expiry());
        ASSERT_EQ(wheel_.size(), timers_.size());
        ASSERT_EQ(wheel_.empty(), timers_.empty());
        if (const std::optional<Id> id = draw_id()) {
            const Timer& timer = timers_.at(*id);
            ASSERT_EQ(wheel_.deadline_of(timer.handle), timer.deadline);
        }
        const Tick earliest = by_turn_.empty() ? kNever : std::max(by_turn_.begin()->first, now_);
        ASSERT_EQ(wheel_.next_expiry(), wheel_.caught_up() ? earliest : now_);
        ASSERT_LE(wheel_.next_work(), wheel_.next_expiry());
        ASSERT_GE(wheel_.next_work(), now_);
        if (random_.below(8) == 0) compare_pending();
    }

    void compare_pending() {
        std::vector<Tick> expected;
        for (const auto& [id, timer] : timers_) {
            if (timer.deadline != kNever) expected.push_back(timer.deadline);
        }
        std::sort(expected.begin(), expected.end());
        std::vector<Tick> told;
        for (const auto& timer : wheel_.pending()) {
            if (timer.deadline != kNever) told.push_back(timer.deadline);
        }
        ASSERT_EQ(told, expected);
    }

    Random random_;
    Workload workload_;
    Front wheel_;
    Tick now_ = 0;
    std::uint64_t call_ = 1;
    bool posted_ = false;   // a cancel was posted, and nothing asked since
    bool stopped_ = false;  // the call before this one did not finish
    Id last_id_ = 0;
    std::map<Id, Timer> timers_;
    std::multimap<Tick, Id> by_turn_;  // those that can fire
    std::vector<TimerHandle> dead_;
};

Workload draw_workload(Random& random) {
    constexpr Tick kStarts[] = {0, 1, 63, 4095, (Tick{1} << 32) - 100, Tick{1} << 60, kNever - 6000, kNever - 70};
    Workload workload;
    const std::uint64_t start = random.below(std::size(kStarts) + 2);
    workload.start = start < std::size(kStarts) ? kStarts[start] : random.next() >> random.below(64);
    workload.timers_max = std::size_t{1} << random.below(9);
    workload.budgets = random.below(2) == 0;
    workload.busy_sinks = random.below(2) == 0;
    workload.far_deadlines = random.below(2) == 0;
    return workload;
}

template <class Front>
void run_history(std::uint64_t seed) {
    SCOPED_TRACE(testing::Message() << "replay with DUEWHEEL_SEED=" << seed);
    Random random(seed);
    History<Front> history(random.next(), draw_workload(random));
    for (int step = 0; step < 1000 && !testing::Test::HasFatalFailure(); ++step) history.step();
    history.drain();
}

template <class Front>
class WheelModel : public testing::Test {};

using ModelFronts = testing::Types<TimingWheel, IdFront, IntrusiveFront>;
TYPED_TEST_SUITE(WheelModel, ModelFronts);

TYPED_TEST(WheelModel, agrees_over_random_histories) {
    if (const char* seed = std::getenv("DUEWHEEL_SEED")) {
        return run_history<TypeParam>(std::strtoull(seed, nullptr, 10));
    }
    for (std::uint64_t seed = 1; seed <= 150 && !this->HasFailure(); ++seed) run_history<TypeParam>(seed);
}

}  // namespace
}  // namespace duewheel
