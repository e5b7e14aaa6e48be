// An unordered list: a timer is appended, and each look at the time goes over all of them.
//
// Source: scheme 1 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987. There each timer
// counts down at every tick; here it keeps its deadline, so that one look serves for any number of ticks.
//
// Costs: schedule O(1), cancel O(1), advance_to O(n) for each tick that has something due and once for seeing that
// nothing more has. Right for a handful of timers: nothing is simpler, and nothing moves.
#pragma once

#include <cstddef>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class UnorderedList : public Scheme<UnorderedList> {
  public:
    explicit UnorderedList(Tick now = 0) : Scheme(now) {}

    std::vector<Row> rows() const { return {Row{"list", timers_.length(), std::nullopt}}; }

  private:
    friend Scheme<UnorderedList>;
    friend struct SchemeProbe;

    void file(Timer& timer) { timers_.push_back(timer); }

    bool collect(Tick limit) {
        const Tick next = earliest();
        if (next > limit) return false;
        for (auto at = timers_.begin(); at != timers_.end();) {
            Timer& timer = *at++;
            if (timer.deadline == next) make_due(timer);
        }
        return true;
    }

    Tick earliest() const { return earliest_in(timers_); }

    std::size_t check_filed() const {
        return check_list(timers_,
                          [](const Timer& timer) { require(timer.deadline < kNever, "a timer in the list can fire"); });
    }

    Place locate(const Timer& timer) const { return Place{0, timers_.position_of(timer)}; }

    TimerList timers_;
};

}  // namespace duewheel
