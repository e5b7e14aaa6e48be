// A hierarchical wheel: several rings, where one slot of a ring is a whole turn of the ring below. Each ring has a hand
// of its own. A hand that moves on takes what it finds down to the rings below, nearer to the end; on the lowest ring,
// what it finds is due.
//
// Source: scheme 7 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; the timers of Linux
// before 4.8; with two rings, the form in which message brokers explain their delayed messages.
//
// A slot of a higher ring holds the timers that are due within one turn of the ring below, counted from the moment when
// its hand comes there: those that ring can take, up to a whole turn. So a timer is taken down when its remaining time
// fits below, and not before.
//
// Example, three rings of 8 slots (8, 64 and 512 s), at second 12 a delay of 500 s:
//
//     second      remains   lies on
//     12          500 s     the third ring, slot 7
//     12 + 436    64 s      the second ring, slot 7
//     448 + 56    8 s       the first ring, slot 0, a whole turn ahead of its hand
//     504 + 8     0 s       fires
//
// On the highest ring a delay longer than its turn stays in its slot for as many turns as it takes.
//
// Costs: schedule O(levels); cancel O(1); a tick O(1) on the average, beside moving each timer down once a level; idle
// time and next_expiry O(levels * slots), and a walk over the earliest slots. Right when delays of all sizes are common
// and exactness matters. Drawback: a tick at which high hands move takes down whole slots at once, which the
// budget does not bound.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class HierarchicalWheel : public Scheme<HierarchicalWheel> {
  public:
    // The slots of each ring, the lowest first.
    explicit HierarchicalWheel(Tick now = 0, const std::vector<std::size_t>& slot_counts = {64, 64, 64, 64})
        : Scheme(now), hand_(this->now()) {
        Tick slot_ticks = 1;
        rings_.reserve(slot_counts.size());
        for (const std::size_t slots : slot_counts) {
            assert(slots > 0 && slot_ticks <= kNever / slots && "a turn of the highest ring is a number of ticks");
            rings_.emplace_back(slots, slot_ticks);
            slot_ticks *= slots;
        }
        assert(!rings_.empty());
    }

    std::vector<Row> rows() const {
        std::vector<Row> rows;
        for (const Ring& ring : rings_) {
            rows.push_back(Row{"slots of " + std::to_string(ring.slot_ticks), ring.slots.size(),
                               hand_ / ring.slot_ticks % ring.slots.size()});
        }
        return rows;
    }

  private:
    friend Scheme<HierarchicalWheel>;
    friend struct SchemeProbe;

    struct Ring {
        Ring(std::size_t slot_count, Tick ticks) : slots(slot_count), slot_ticks(ticks) {}

        std::vector<TimerList> slots;
        Tick slot_ticks;  // how long its hand stays on a slot
    };

    // Slots are counted through, from tick 0; which one of the ring it is, is the rest modulo the ring's slots. On the
    // lowest ring a deadline's slot is its tick. Above, the slot at which the hand stands from tick t takes what is due
    // after t: t + 1 to t + slot_ticks.
    static Tick slot_number(std::size_t level, const Ring& ring, Tick deadline) {
        return level == 0 ? deadline : (deadline - 1) / ring.slot_ticks;
    }

    // How many slots ahead of the ring's hand the deadline lies.
    Tick slots_ahead(std::size_t level, Tick deadline) const {
        const Ring& ring = rings_[level];
        return slot_number(level, ring, deadline) - hand_ / ring.slot_ticks;
    }

    TimerList& slot_at(std::size_t level, Tick number) {
        Ring& ring = rings_[level];
        return ring.slots[number % ring.slots.size()];
    }

    // On the lowest ring that reaches so far; on the highest in any case.
    void file(Timer& timer) {
        std::size_t level = 0;
        while (level + 1 < rings_.size() && slots_ahead(level, timer.deadline) > rings_[level].slots.size()) ++level;
        timer.note = level;
        slot_at(level, slot_number(level, rings_[level], timer.deadline)).push_back(timer);
    }

    bool collect(Tick limit) {
        while (hand_ < limit) {
            const Tick turn_end = hand_ + std::min<Tick>(rings_[0].slots.size(), limit - hand_);
            while (hand_ < turn_end) {
                turn_to(hand_ + 1);
                TimerList& slot = slot_at(0, hand_);
                for (auto at = slot.begin(); at != slot.end();) {
                    Timer& timer = *at++;
                    if (timer.deadline == hand_) make_due(timer);
                }
                if (has_due()) return true;
            }
            // A whole turn had nothing due: on to just before what is next.
            if (hand_ < limit) turn_to(std::min(limit, earliest() - 1));
        }
        return false;
    }

    // Moves all hands to where they stand at `tick`, before which nothing is due, and takes down what the higher ones
    // find, each timer past as many rings as it may. Slots that a long move skips are empty, for what lies in
    // them would have been due.
    void turn_to(Tick tick) {
        const Tick before = std::exchange(hand_, tick);
        for (std::size_t level = rings_.size(); --level > 0;) {
            const Tick number = hand_ / rings_[level].slot_ticks;
            if (number == before / rings_[level].slot_ticks) continue;
            TimerList taken;
            taken.take_all(slot_at(level, number));
            while (!taken.empty()) {
                Timer& timer = taken.front();
                TimerList::unlink(timer);
                file(timer);
            }
        }
    }

    Tick earliest() const {
        Tick earliest = kNever;
        for (std::size_t level = 0; level < rings_.size(); ++level) {
            earliest = std::min(earliest, earliest_on(level));
        }
        return earliest;
    }

    // Ahead of the hand the first slot with a timer holds the ring's earliest one, but for the highest ring, where the
    // timers of later turns are among them.
    Tick earliest_on(std::size_t level) const {
        const Ring& ring = rings_[level];
        const bool is_highest = level + 1 == rings_.size();
        Tick earliest = kNever;
        for (std::size_t ahead = 1; ahead <= ring.slots.size(); ++ahead) {
            const Tick number = hand_ / ring.slot_ticks + ahead;
            earliest = std::min(earliest, earliest_in(ring.slots[number % ring.slots.size()]));
            if (earliest < kNever && !is_highest) break;
        }
        return earliest;
    }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (std::size_t level = 0; level < rings_.size(); ++level) {
            const Ring& ring = rings_[level];
            for (std::size_t slot = 0; slot < ring.slots.size(); ++slot) {
                filed += check_list(ring.slots[slot], [&](const Timer& timer) {
                    require(timer.deadline > hand_ && timer.deadline < kNever, "the hand has not passed a timer");
                    require(timer.note == level, "a timer knows its ring");
                    require(slot_number(level, ring, timer.deadline) % ring.slots.size() == slot,
                            "a timer lies in the slot of its deadline");
                    const Tick ahead = slots_ahead(level, timer.deadline);
                    require(ahead >= 1, "the hand has not passed a timer's slot");
                    require(ahead <= ring.slots.size() || level + 1 == rings_.size(),
                            "only on the highest ring a timer waits for longer than a turn");
                });
            }
        }
        return filed;
    }

    Place locate(const Timer& timer) const {
        const auto level = static_cast<std::size_t>(timer.note);
        const Ring& ring = rings_[level];
        const Tick number = slot_number(level, ring, timer.deadline);
        return Place{level, number % ring.slots.size(), (slots_ahead(level, timer.deadline) - 1) / ring.slots.size()};
    }

    std::vector<Ring> rings_;
    Tick hand_;  // the tick worked up to; each ring's hand follows from it
};

}  // namespace duewheel
