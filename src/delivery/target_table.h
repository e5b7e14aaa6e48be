// The targets of a pusher, by number and by the name of their queue. Each can be touched, because it may have something
// to do, and can have a time at which it is touched. So the work of a pusher is proportional to the events, not to the
// targets.
//
// A number is not used again: what is in progress refers to its target by it. O(1); by name and for a time O(log
// targets).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/commands/command.h"
#include "engine/commands/target_queue.h"

namespace duewheel {

using TargetNumber = std::uint64_t;

// The base of a target.
struct TargetEntry {
    QueueName name;
    DueMs wakes_at_ms = 0;  // 0: never
    bool is_touched = false;
    ReplyToken leasing = 0;  // its lease call; 0: none (lease_calls.h)
};

template <class Target>
class TargetTable {
  public:
    // The number of the queue's target, and whether it was added now.
    std::pair<TargetNumber, bool> add(const QueueName& name) {
        const auto [place, is_new] = by_name_.try_emplace({name.name_space, name.queue}, next_);
        if (is_new) targets_[next_++].name = name;
        return {place->second, is_new};
    }
    void erase(TargetNumber number) {
        const auto found = targets_.find(number);
        const Target& target = found->second;
        if (target.wakes_at_ms != 0) wakes_.erase({target.wakes_at_ms, number});
        by_name_.erase({target.name.name_space, target.name.queue});
        targets_.erase(found);
    }

    Target& at(TargetNumber number) { return targets_.at(number); }
    const Target& at(TargetNumber number) const { return targets_.at(number); }
    const Target* find(const QueueName& name) const {
        const auto found = by_name_.find({name.name_space, name.queue});
        return found == by_name_.end() ? nullptr : &targets_.at(found->second);
    }
    std::unordered_map<TargetNumber, Target>& all() { return targets_; }

    void touch(TargetNumber number) {
        if (!std::exchange(at(number).is_touched, true)) touched_.push_back(number);
    }
    // In place of the time that was set before.
    void wake_at(TargetNumber number, DueMs at_ms) {
        Target& target = at(number);
        if (target.wakes_at_ms != 0) wakes_.erase({target.wakes_at_ms, number});
        target.wakes_at_ms = at_ms;
        wakes_.insert({at_ms, number});
    }
    // Touches those whose time has come.
    void touch_due(DueMs now) {
        while (!wakes_.empty() && wakes_.begin()->first <= now) {
            const TargetNumber number = wakes_.begin()->second;
            wakes_.erase(wakes_.begin());
            at(number).wakes_at_ms = 0;
            touch(number);
        }
    }
    // Calls `serve` with each that was touched, and has not been erased since. What is touched meanwhile waits for the
    // next call.
    template <class Serve>
    void serve_touched(Serve serve) {
        for (const TargetNumber number : std::exchange(touched_, {})) {
            const auto found = targets_.find(number);
            if (found == targets_.end()) continue;
            found->second.is_touched = false;
            serve(number);
        }
    }
    bool has_touched() const { return !touched_.empty(); }
    // The nearest time of a target; `never` if there is none.
    DueMs next_wakeup(DueMs never) const { return wakes_.empty() ? never : wakes_.begin()->first; }

  private:
    std::unordered_map<TargetNumber, Target> targets_;
    std::map<std::pair<std::string, std::string>, TargetNumber> by_name_;
    std::deque<TargetNumber> touched_;
    std::set<std::pair<DueMs, TargetNumber>> wakes_;
    TargetNumber next_ = 1;
};

}  // namespace duewheel
