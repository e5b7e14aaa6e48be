// A hashed wheel with sorted slots: the ring of the simple wheel, where a slot also takes timers of later turns, each
// in its place by deadline.
//
// Source: scheme 5 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987. The tick modulo the
// number of slots is a hash; a slot is a chain of the hash table, and the hand needs to look at the chain's head only.
//
//            8 slots, hand at 10:     slot 3: 11 -> 19 -> 43        slot 4: 12        slot 2: 18 -> 50
//
// Costs: schedule O(b) with b timers in the slot, as for an ordered list; cancel O(1); a tick O(1) beside firing;
// next_expiry O(slots). Right where there are more slots than timers, and a tick has to be short however many wait.
// Drawback: with few slots it is the ordered list again.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class HashedSortedWheel : public Scheme<HashedSortedWheel> {
  public:
    explicit HashedSortedWheel(Tick now = 0, std::size_t slots = 1024)
        : Scheme(now), slots_(slots), hand_(this->now()) {
        assert(slots > 0);
    }

    std::vector<Row> rows() const { return {Row{"wheel", slots_.size(), hand_ % slots_.size()}}; }

  private:
    friend Scheme<HashedSortedWheel>;
    friend struct SchemeProbe;

    void file(Timer& timer) { slot_at(timer.deadline).insert_sorted(timer); }

    bool collect(Tick limit) {
        while (hand_ < limit) {
            const Tick turn_end = hand_ + std::min<Tick>(slots_.size(), limit - hand_);
            while (hand_ < turn_end) {
                TimerList& slot = slot_at(++hand_);
                while (!slot.empty() && slot.front().deadline == hand_) make_due(slot.front());
                if (has_due()) return true;
            }
            // A whole turn had nothing due: on to just before what is next.
            if (hand_ < limit) hand_ = std::min(limit, earliest() - 1);
        }
        return false;
    }

    Tick earliest() const {
        Tick earliest = kNever;
        for (const TimerList& slot : slots_) {
            if (!slot.empty()) earliest = std::min(earliest, slot.front().deadline);
        }
        return earliest;
    }

    TimerList& slot_at(Tick tick) { return slots_[tick % slots_.size()]; }
    const TimerList& slot_at(Tick tick) const { return slots_[tick % slots_.size()]; }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (const TimerList& slot : slots_) {
            Tick before = hand_ + 1;
            filed += check_list(slot, [&](const Timer& timer) {
                require(timer.deadline >= before && timer.deadline < kNever,
                        "a slot is in order, and holds nothing that the hand has passed");
                require(&slot_at(timer.deadline) == &slot, "a timer lies in the slot of its tick");
                before = timer.deadline;
            });
        }
        return filed;
    }

    Place locate(const Timer& timer) const {
        return Place{0, timer.deadline % slots_.size(), (timer.deadline - hand_ - 1) / slots_.size()};
    }

    std::vector<TimerList> slots_;
    Tick hand_;  // the tick worked up to
};

}  // namespace duewheel
