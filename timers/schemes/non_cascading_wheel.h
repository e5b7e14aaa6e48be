// A wheel without cascades: a timer stays in the slot it was put in until it fires. The farther it is away, the coarser
// its slot, and it fires when the slot's time is up: never early, and late by less than an eighth of its delay.
//
// Source: Linux since 4.8, kernel/time/timer.c (T. Gleixner, "timers: Switch to a non-cascading wheel", 2016). There
// the observation is that of long timeouts hardly any fires, and that one which fires need not do so to the
// millisecond.
//
//     level   slots of   for delays of            late by at most
//     0       1 tick     1 to 63 ticks            0
//     1       8          64 to 511                7
//     2       64         512 to 4,095             63
//     3       512        4,096 to 32,767          511
//     k       8^k        64 * 8^(k-1) and more    8^k - 1, which is less than 12.5 % of the delay
//
// Example, at tick 0 a delay of 100: level 1, whose slots end at 8, 16, ... 96, 104. It fires at 104.
//
// A level takes the delays up to 64 of its slots; as the hand stands somewhere inside a slot, rounding up may lead one
// slot farther, and so there are 65. (Linux has 64 slots, ends the range one slot earlier, and is late by up to 8/63.)
// Here the levels cover all of 64 bits; Linux has 9 and cuts off what is longer.
//
// Costs: schedule O(levels), cancel O(1), a tick O(1) on the average, no timer is ever moved; next_expiry and crossing
// idle time O(levels * slots). Right for timeouts: mostly cancelled, and the exact tick does not matter. Drawbacks: no
// exactness, so the order of deadlines that are closer to each other than their slots is lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class NonCascadingWheel : public Scheme<NonCascadingWheel> {
  public:
    explicit NonCascadingWheel(Tick now = 0) : Scheme(now), hand_(this->now()) {}

    // Bounds a timer that is armed `delay` ahead when the wheel is caught up.
    static constexpr Tick lateness_max(Tick delay) { return slot_ticks(level_for(delay)) - 1; }

    // The levels up to the highest one in use, at least three.
    std::vector<Row> rows() const {
        std::size_t count = kLevelCount;
        while (count > 3 && is_empty(count - 1)) --count;
        std::vector<Row> rows;
        for (std::size_t level = 0; level < count; ++level) {
            rows.push_back(Row{"slots of " + std::to_string(slot_ticks(level)), kSlotCount,
                               hand_ / slot_ticks(level) % kSlotCount});
        }
        return rows;
    }

  private:
    friend Scheme<NonCascadingWheel>;
    friend struct SchemeProbe;

    static constexpr unsigned kGrowthBits = 3;  // a level's slots are 8 times those of the level below
    static constexpr Tick kRangeSlots = 64;     // how far a level reaches, in its slots
    static constexpr std::size_t kSlotCount = kRangeSlots + 1;
    static constexpr std::size_t kLevelCount = 21;  // 64 * 8^20 is more than 2^64

    static constexpr Tick slot_ticks(std::size_t level) { return Tick{1} << (kGrowthBits * level); }

    static constexpr std::size_t level_for(Tick delay) {
        std::size_t level = 0;
        while (delay / slot_ticks(level) >= kRangeSlots) ++level;
        return level;
    }

    // The first moment at or after the deadline at which the level's hand moves on, counted in slots since tick 0.
    static Tick slot_number(std::size_t level, Tick deadline) {
        const Tick ticks = slot_ticks(level);
        return deadline / ticks + (deadline % ticks == 0 ? 0 : 1);
    }

    void file(Timer& timer) {
        const std::size_t level = level_for(timer.deadline - hand_);
        const Tick number = slot_number(level, timer.deadline);
        timer.note = level;
        if (number > kLastTick / slot_ticks(level)) {
            put_to_sleep(timer);  // rounded up to after the end of time
        } else {
            slots_[level][number % kSlotCount].push_back(timer);
        }
    }

    bool collect(Tick limit) {
        while (hand_ < limit) {
            const Tick turn_end = hand_ + std::min<Tick>(kSlotCount, limit - hand_);
            while (hand_ < turn_end) {
                ++hand_;
                collect_slots();
                if (has_due()) return true;
            }
            // A whole turn had nothing due: on to just before what is next.
            if (hand_ < limit) hand_ = std::min(limit, earliest() - 1);
        }
        return false;
    }

    // The slots whose time is up at the hand's tick: one of the lowest level, every 8 ticks one of the next, and so on.
    void collect_slots() {
        for (std::size_t level = 0; level < kLevelCount && hand_ % slot_ticks(level) == 0; ++level) {
            TimerList& slot = slots_[level][hand_ / slot_ticks(level) % kSlotCount];
            while (!slot.empty()) make_due(slot.front());
        }
    }

    Tick earliest() const {
        Tick earliest = kNever;
        for (std::size_t level = 0; level < kLevelCount; ++level) {
            for (Tick ahead = 1; ahead <= kSlotCount; ++ahead) {
                const Tick number = hand_ / slot_ticks(level) + ahead;
                if (slots_[level][number % kSlotCount].empty()) continue;
                earliest = std::min(earliest, number * slot_ticks(level));
                break;
            }
        }
        return earliest;
    }

    bool is_empty(std::size_t level) const {
        return std::all_of(slots_[level].begin(), slots_[level].end(), [](const auto& slot) { return slot.empty(); });
    }

    std::size_t check_filed() const {
        std::size_t filed = 0;
        for (std::size_t level = 0; level < kLevelCount; ++level) {
            for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
                filed += check_list(slots_[level][slot], [&](const Timer& timer) {
                    const Tick number = slot_number(level, timer.deadline);
                    require(timer.note == level, "a timer knows its level");
                    require(number % kSlotCount == slot, "a timer lies in the slot that ends at or after its deadline");
                    const Tick hand_number = hand_ / slot_ticks(level);
                    require(number > hand_number && number - hand_number <= kSlotCount,
                            "a timer's slot comes within the hand's next turn");
                });
            }
        }
        return filed;
    }

    Place locate(const Timer& timer) const {
        const auto level = static_cast<std::size_t>(timer.note);
        return Place{level, slot_number(level, timer.deadline) % kSlotCount};
    }

    std::array<std::array<TimerList, kSlotCount>, kLevelCount> slots_;
    Tick hand_;  // the tick worked up to
};

}  // namespace duewheel
