// Wheels that are made when they are needed, and a queue of their slots in the order of time, which says where to go
// next: time passes from one slot in use to the next, and an hour without timers is no step at all.
//
// Source: Apache Kafka's kafka.utils.timer.TimingWheel and SystemTimer (Y. Matsuda, "Apache Kafka, Purgatory, and
// Hierarchical Timing Wheels", 2015). Its words: a wheel has a tick, a wheel size, an interval (tick * wheel size), a
// current time, which is the time rounded down to its tick, and an overflow wheel, whose tick is this wheel's interval.
//
// With a wheel size of 3 and a tick of 1, from time c on (c a multiple of 9), the slots of each wheel stand for
//
//     at c     wheel 1   [c, c]          [c + 1, c + 1]     [c + 2, c + 2]
//              wheel 2   [c, c + 2]      [c + 3, c + 5]     [c + 6, c + 8]
//              wheel 3   [c, c + 8]      [c + 9, c + 17]    [c + 18, c + 26]
//     at c + 1 wheel 1   [c + 1, c + 1]  [c + 2, c + 2]     [c + 3, c + 3]       the others as they were
//     at c + 3 wheel 1   [c + 3, c + 3]  [c + 4, c + 4]     [c + 5, c + 5]
//              wheel 2   [c + 3, c + 5]  [c + 6, c + 8]     [c + 9, c + 11]      wheel 3 as it was
//
// A timer lies on the lowest wheel that reaches so far. When the time comes to a slot, what is due fires, and the rest
// is filed again, which brings it to a lower wheel (demotion). A slot that the time has passed stands for a later span
// from then on, without being rebuilt.
//
// Costs: schedule O(levels), and O(log slots in use) when its slot comes into use; cancel O(1), and O(log slots in use)
// when its slot falls out of use, so that a slot without timers causes no wakeup (Kafka leaves it in the queue); a tick
// without timers nothing at all; next_expiry O(levels * timers of a slot). Right for a broker's many timeouts of some
// seconds on a loop that sleeps. Drawback: a slot of a higher wheel is taken down all at once, which the budget
// does not bound.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class OverflowWheel : public Scheme<OverflowWheel> {
  public:
    explicit OverflowWheel(Tick now = 0, std::size_t wheel_size = 20)
        : Scheme(now), wheel_size_(wheel_size), hand_(this->now()) {
        assert(wheel_size >= 2);
        add_wheel(1);
    }

    std::vector<Row> rows() const {
        std::vector<Row> rows;
        for (const Wheel& wheel : wheels_) {
            rows.push_back(
                Row{"slots of " + std::to_string(wheel.tick), wheel_size_, hand_ / wheel.tick % wheel_size_});
        }
        return rows;
    }

    // The first tick that each slot of the wheel stands for, from its current time on.
    std::vector<Tick> slot_starts(std::size_t level) const {
        std::vector<Tick> starts;
        const Wheel& wheel = wheels_.at(level);
        for (std::size_t ahead = 0; ahead < wheel_size_; ++ahead) {
            starts.push_back(current_time(wheel) + ahead * wheel.tick);
        }
        return starts;
    }

  private:
    friend Scheme<OverflowWheel>;
    friend struct SchemeProbe;

    struct Wheel {
        Wheel(Tick wheel_tick, Tick wheel_interval, std::size_t size)
            : tick(wheel_tick), interval(wheel_interval), slots(size) {}

        Tick tick;
        Tick interval;
        std::vector<TimerList> slots;
    };

    // A slot in use, by the first tick it stands for. Where slots of two wheels begin together, the lower is first.
    struct SlotKey {
        Tick start;
        std::size_t level;

        friend auto operator<=>(const SlotKey&, const SlotKey&) = default;
    };

    Tick current_time(const Wheel& wheel) const { return hand_ - hand_ % wheel.tick; }

    static SlotKey key_of(const Wheel& wheel, std::size_t level, Tick deadline) {
        return SlotKey{deadline - deadline % wheel.tick, level};
    }

    // The last wheel's interval may be all of time.
    void add_wheel(Tick tick) {
        const Tick interval = tick > kNever / wheel_size_ ? kNever : tick * wheel_size_;
        wheels_.emplace_back(tick, interval, wheel_size_);
    }

    void file(Timer& timer) {
        std::size_t level = 0;
        while (timer.deadline - current_time(wheels_[level]) >= wheels_[level].interval) {
            if (++level == wheels_.size()) add_wheel(wheels_.back().interval);
        }
        Wheel& wheel = wheels_[level];
        TimerList& slot = wheel.slots[timer.deadline / wheel.tick % wheel_size_];
        if (slot.empty()) slots_in_use_.emplace(key_of(wheel, level, timer.deadline), &slot);
        timer.note = level;
        slot.push_back(timer);
    }

    void unfile(Timer& timer) {
        const auto level = static_cast<std::size_t>(timer.note);
        const Wheel& wheel = wheels_[level];
        TimerList::unlink(timer);
        if (wheel.slots[timer.deadline / wheel.tick % wheel_size_].empty()) {
            slots_in_use_.erase(key_of(wheel, level, timer.deadline));
        }
    }

    bool collect(Tick limit) {
        while (next_start() <= limit) {
            hand_ = next_start();
            while (next_start() == hand_) {
                TimerList* const slot = slots_in_use_.begin()->second;
                slots_in_use_.erase(slots_in_use_.begin());
                take_down(*slot, hand_);
            }
            if (has_due()) return true;
        }
        hand_ = limit;
        return false;
    }

    Tick next_start() const { return slots_in_use_.empty() ? kNever : slots_in_use_.begin()->first.start; }

    // In the first slots of the queue, as long as they begin before what was found: a high slot may have begun, and
    // hold timers for after a lower one.
    Tick earliest() const {
        Tick earliest = kNever;
        for (const auto& [key, slot] : slots_in_use_) {
            if (key.start >= earliest) break;
            earliest = std::min(earliest, earliest_in(*slot));
        }
        return earliest;
    }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        std::size_t in_use = 0;
        for (std::size_t level = 0; level < wheels_.size(); ++level) {
            const Wheel& wheel = wheels_[level];
            for (const TimerList& slot : wheel.slots) {
                if (slot.empty()) continue;
                ++in_use;
                const SlotKey key = key_of(wheel, level, slot.front().deadline);
                const auto found = slots_in_use_.find(key);
                require(found != slots_in_use_.end() && found->second == &slot, "the queue knows each slot in use");
                filed += check_list(slot, [&](const Timer& timer) {
                    require(timer.note == level, "a timer knows its wheel");
                    require(timer.deadline > hand_ && timer.deadline < kNever, "the time has not passed a timer");
                    require(&wheel.slots[timer.deadline / wheel.tick % wheel_size_] == &slot &&
                                key_of(wheel, level, timer.deadline) == key,
                            "all timers of a slot belong to one span");
                    require(timer.deadline - current_time(wheel) < wheel.interval,
                            "a timer is due within its wheel's interval");
                });
            }
        }
        require(in_use == slots_in_use_.size(), "the queue holds no slot without timers");
        return filed;
    }

    Place locate(const Timer& timer) const {
        const auto level = static_cast<std::size_t>(timer.note);
        return Place{level, timer.deadline / wheels_[level].tick % wheel_size_};
    }

    std::size_t wheel_size_;
    std::deque<Wheel> wheels_;  // each is the overflow wheel of the one before it
    std::map<SlotKey, TimerList*> slots_in_use_;
    Tick hand_;  // the tick worked up to
};

}  // namespace duewheel
