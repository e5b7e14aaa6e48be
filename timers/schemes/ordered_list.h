// A list ordered by deadline: a timer looks for its place from the end, and what is due stands at the front.
//
// Source: scheme 2 of G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; the timer queues of
// early Unix (callouts). Nothing about it can be misunderstood, so it judges all other schemes in the tests.
//
// Costs: schedule O(timers due later), at worst n; cancel O(1); advance_to O(1) beside firing; next_expiry O(1). Right
// where delays are nearly equal, so that a new timer belongs at the end; see DurationLanes for going further there.
#pragma once

#include <cstddef>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class OrderedList : public Scheme<OrderedList> {
  public:
    explicit OrderedList(Tick now = 0) : Scheme(now) {}

    std::vector<Row> rows() const { return {Row{"list", timers_.length(), std::nullopt}}; }

  private:
    friend Scheme<OrderedList>;
    friend struct SchemeProbe;

    void file(Timer& timer) { timers_.insert_sorted(timer); }

    bool collect(Tick limit) {
        const Tick next = earliest();
        if (next > limit) return false;
        while (earliest() == next) make_due(timers_.front());
        return true;
    }

    Tick earliest() const { return timers_.empty() ? kNever : timers_.front().deadline; }

    std::size_t check_filed() const {
        Tick before = 0;
        return check_list(timers_, [&](const Timer& timer) {
            require(timer.deadline >= before, "the list is in order");
            require(timer.deadline < kNever, "a timer in the list can fire");
            before = timer.deadline;
        });
    }

    Place locate(const Timer& timer) const { return Place{0, timers_.position_of(timer)}; }

    TimerList timers_;
};

}  // namespace duewheel
