// A lane for each duration: timers that are armed with the same delay fall due in the order in which they were armed,
// so a plain list keeps them sorted.
//
// Source: libevent's common timeouts (event_base_init_common_timeout, N. Mathewson, 2010); Redis Cluster, Seastar and
// many proxies do the same by hand. The heads of the lanes stand in an order of their own, as libevent has each lane's
// head in its heap.
//
// Example, at tick 0 delays of 30, 5, 30; at tick 3 again 5:
//
//     lane of 5    5 -> 8            next: 5
//     lane of 30   30 -> 30
//
// Costs, with d different durations among the pending timers: schedule, cancel and firing O(log d), next_expiry O(1). A
// lane is made with its first timer and goes with its last. Right where a program has a dozen timeouts by
// configuration and a million timers. Drawback: with as many durations as timers it is a search tree, and not
// a good one.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schemes/scheme.h"

namespace duewheel {

class DurationLanes : public Scheme<DurationLanes> {
  public:
    explicit DurationLanes(Tick now = 0) : Scheme(now) {}

    std::vector<Row> rows() const {
        std::vector<Row> rows;
        for (const auto& [duration, lane] : lanes_) {
            rows.push_back(Row{"lane of " + std::to_string(duration), lane.length(), std::nullopt});
        }
        return rows;
    }

  private:
    friend Scheme<DurationLanes>;
    friend struct SchemeProbe;

    // The deadline of a lane's first timer, and the lane.
    using Head = std::pair<Tick, Tick>;

    void file(Timer& timer) {
        const Tick duration = timer.deadline - now();
        TimerList& lane = lanes_[duration];
        if (lane.empty()) heads_.emplace(timer.deadline, duration);
        timer.note = duration;
        lane.push_back(timer);
    }

    void unfile(Timer& timer) {
        const auto lane = lanes_.find(timer.note);
        if (&lane->second.front() != &timer) {
            TimerList::unlink(timer);
            return;
        }
        heads_.erase(Head{timer.deadline, timer.note});
        TimerList::unlink(timer);
        if (lane->second.empty()) {
            lanes_.erase(lane);
        } else {
            heads_.emplace(lane->second.front().deadline, lane->first);
        }
    }

    bool collect(Tick limit) {
        const Tick next = earliest();
        if (next > limit) return false;
        while (earliest() == next) {
            Timer& timer = lanes_.at(heads_.begin()->second).front();
            unfile(timer);
            make_due(timer);
        }
        return true;
    }

    Tick earliest() const { return heads_.empty() ? kNever : heads_.begin()->first; }

    std::size_t check_filed() const {
        require(heads_.size() == lanes_.size(), "each lane has one head");
        std::size_t filed = 0;
        for (const auto& entry : lanes_) {
            const Tick duration = entry.first;
            const TimerList& lane = entry.second;
            require(!lane.empty(), "there is no lane without timers");
            require(heads_.contains(Head{lane.front().deadline, duration}), "a lane's head is its first timer");
            Tick before = 0;
            filed += check_list(lane, [&](const Timer& timer) {
                require(timer.note == duration, "a timer knows its lane");
                require(timer.deadline >= before && timer.deadline < kNever, "a lane is in order");
                before = timer.deadline;
            });
        }
        return filed;
    }

    Place locate(const Timer& timer) const {
        const auto lane = lanes_.find(timer.note);
        const auto row = static_cast<std::size_t>(std::distance(lanes_.begin(), lane));
        return Place{row, lane->second.position_of(timer)};
    }

    std::map<Tick, TimerList> lanes_;
    std::set<Head> heads_;
};

}  // namespace duewheel
