// A simple timing wheel: a ring of slots, one for each of the next ticks, and a hand that goes round.
//
// Source: scheme 4 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; before it the event
// queues of logic simulators. A timer that is due d ticks from the hand lies d slots further on; what lies in the slot
// that the hand comes to is due, all of it.
//
//            hand at tick 10, 8 slots          0     1     2     3     4     5     6     7
//                                             16    17    18    11    12    13    14    15    the tick of each slot
//                                                          hand
//
// Costs: schedule, cancel and a tick are O(1); crossing idle time and next_expiry look at no more than each slot once.
// Drawback: a delay longer than the ring has no slot, and is refused. Right where the longest delay is known
// and small, as in drivers and simulators; every other wheel is a way around that limit.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class SimpleWheel : public Scheme<SimpleWheel> {
  public:
    explicit SimpleWheel(Tick now = 0, std::size_t slots = 1024) : Scheme(now), slots_(slots), hand_(this->now()) {
        assert(slots > 0);
    }

    // One turn ahead of the hand, which stands at now() when the wheel is caught up.
    Tick latest_deadline() const { return std::max(now(), turn_end()); }

    std::vector<Row> rows() const { return {Row{"wheel", slots_.size(), hand_ % slots_.size()}}; }

  private:
    friend Scheme<SimpleWheel>;
    friend struct SchemeProbe;

    void file(Timer& timer) { slot_at(timer.deadline).push_back(timer); }

    bool collect(Tick limit) {
        // Beyond one turn there is nothing.
        const Tick last = std::min(limit, turn_end());
        while (hand_ < last) {
            TimerList& slot = slot_at(++hand_);
            while (!slot.empty()) make_due(slot.front());
            if (has_due()) return true;
        }
        hand_ = limit;
        return false;
    }

    Tick earliest() const {
        for (Tick tick = hand_; tick < turn_end();) {
            if (!slot_at(++tick).empty()) return tick;
        }
        return kNever;
    }

    Tick turn_end() const { return hand_ + std::min<Tick>(slots_.size(), kLastTick - hand_); }

    TimerList& slot_at(Tick tick) { return slots_[tick % slots_.size()]; }
    const TimerList& slot_at(Tick tick) const { return slots_[tick % slots_.size()]; }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (const TimerList& slot : slots_) {
            filed += check_list(slot, [&](const Timer& timer) {
                require(timer.deadline > hand_ && timer.deadline <= turn_end(),
                        "a timer on the wheel is due within the hand's next turn");
                require(&slot_at(timer.deadline) == &slot, "a timer lies in the slot of its tick");
            });
        }
        return filed;
    }

    Place locate(const Timer& timer) const { return Place{0, timer.deadline % slots_.size()}; }

    std::vector<TimerList> slots_;
    Tick hand_;  // the tick worked up to
};

}  // namespace duewheel
