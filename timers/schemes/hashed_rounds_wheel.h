// A hashed wheel with rounds: the ring of the simple wheel, where each timer says how often the hand is to come by
// before it is its turn.
//
// Source: scheme 6 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; Netty's
// HashedWheelTimer, and with it Dubbo's and Redisson's timeouts.
//
// Example, 8 slots of one second, the hand at 0: a delay of 50 s lies in slot 50 mod 8 = 2 with 6 rounds. The hand is
// there at 2, 10, 18, 26, 34 and 42 s and takes one round off each time; at 50 s none is left, and it fires.
//
// Costs: schedule and cancel O(1); a tick O(b), as every timer in the hand's slot is touched although most of them only
// lose a round; next_expiry O(n). Right for very many timeouts that are nearly all cancelled in time, with a coarse
// tick. Drawback: work for timers that are far away, once a turn each, and any cheap answer to "when next?",
// which is why its users let it tick.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class HashedRoundsWheel : public Scheme<HashedRoundsWheel> {
  public:
    explicit HashedRoundsWheel(Tick now = 0, std::size_t slots = 512) : Scheme(now), slots_(slots), hand_(this->now()) {
        assert(slots > 0);
    }

    std::vector<Row> rows() const { return {Row{"wheel", slots_.size(), hand_ % slots_.size()}}; }

  private:
    friend Scheme<HashedRoundsWheel>;
    friend struct SchemeProbe;

    // The hand's own slot comes up after a whole turn, so a delay of one turn is no round.
    void file(Timer& timer) {
        rounds(timer) = (timer.deadline - hand_ - 1) / slots_.size();
        slot_at(timer.deadline).push_back(timer);
    }

    bool collect(Tick limit) {
        while (hand_ < limit) {
            const Tick turn_end = hand_ + std::min<Tick>(slots_.size(), limit - hand_);
            while (hand_ < turn_end) {
                visit(slot_at(++hand_));
                if (has_due()) return true;
            }
            if (hand_ < limit) skip_turns(std::min(limit, earliest() - 1));
        }
        return false;
    }

    void visit(TimerList& slot) {
        for (auto at = slot.begin(); at != slot.end();) {
            Timer& timer = *at++;
            if (rounds(timer) == 0) {
                make_due(timer);
            } else {
                --rounds(timer);
            }
        }
    }

    // Goes on by whole turns, as far as they lead up to `last`, until when nothing is due: each takes one round off
    // every timer. Without this, a jump of a week would be a visit to each of its ticks.
    void skip_turns(Tick last) {
        const Tick turns = (last - hand_) / slots_.size();
        hand_ += turns * slots_.size();
        for (TimerList& slot : slots_) {
            for (Timer& timer : slot) rounds(timer) -= turns;
        }
    }

    Tick earliest() const {
        Tick earliest = kNever;
        for (const TimerList& slot : slots_) earliest = std::min(earliest, earliest_in(slot));
        return earliest;
    }

    static std::uint64_t& rounds(Timer& timer) { return timer.note; }

    TimerList& slot_at(Tick tick) { return slots_[tick % slots_.size()]; }
    const TimerList& slot_at(Tick tick) const { return slots_[tick % slots_.size()]; }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (const TimerList& slot : slots_) {
            filed += check_list(slot, [&](const Timer& timer) {
                require(timer.deadline > hand_ && timer.deadline < kNever, "the hand has not passed a timer");
                require(&slot_at(timer.deadline) == &slot, "a timer lies in the slot of its tick");
                require(timer.note == (timer.deadline - hand_ - 1) / slots_.size(),
                        "a timer's rounds are the turns that the hand still has to make");
            });
        }
        return filed;
    }

    Place locate(const Timer& timer) const { return Place{0, timer.deadline % slots_.size(), timer.note}; }

    std::vector<TimerList> slots_;
    Tick hand_;  // the tick worked up to
};

}  // namespace duewheel
