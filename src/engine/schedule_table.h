// The schedules of a shard: all of them, by number and by name, and which run each waits for.
//
// They are complete in memory except for the content of their messages, which is read from the log when a run is
// created. A number is never reused, so a holder of a number can ask for a schedule that no longer exists. Names
// created by the batch in flight are present already, with revision 0.
//
// Single-threaded; it makes no decisions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/names_around.h"
#include "message/schedule_state.h"
#include "message/schedule_times.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

using ScheduleNumber = std::uint64_t;  // from 1

struct Schedule {
    ScheduleNumber number = 0;
    std::string name_space;
    std::string name;
    ScheduleState state;                 // revision 0: its first record is not durable yet
    std::optional<ScheduleTimes> times;  // none: its zone cannot be loaded any more
    Sequence log_position = 0;           // of its newest whole record
    std::uint32_t record_bytes = 0;
    std::uint64_t term = 0;  // of its newest record: its part of the digest
    TimerHandle timer;
    bool in_batch = false;
    bool is_due = false;                  // waits to create a run
    std::string_view blocked_by;          // why its run could not be created at the last try; a code
    std::optional<ScheduleTimes> coming;  // of the record in the batch, if that changes them

    bool exists() const { return state.revision != 0; }
    bool is_inactive() const { return state.paused || !times || state.has_ended(); }
    // When the run of a nominal time is due: that time plus the jitter, which depends only on the name and the time.
    DueMs due_of(DueMs nominal_ms) const;
};

// The lookup result for the newest run of a schedule, if memory does not know it and an overlap policy needs it.
struct NewestRun {
    MessageId id = 0;
    std::optional<bool> is_unfinished;
    std::uint64_t generation = 0;
};

class ScheduleTable {
  public:
    // Null if there is none; one with revision 0 does not exist for clients.
    Schedule* find(std::string_view name_space, std::string_view name) {
        const auto found = by_name_.find(Key{name_space, name});
        return found == by_name_.end() ? nullptr : by_number_.at(found->second).get();
    }
    const Schedule* find(std::string_view name_space, std::string_view name) const {
        const auto found = by_name_.find(Key{name_space, name});
        return found == by_name_.end() ? nullptr : by_number_.at(found->second).get();
    }
    Schedule* find(ScheduleNumber number) {
        const auto found = by_number_.find(number);
        return found == by_number_.end() ? nullptr : found->second.get();
    }
    // The name must be free.
    Schedule& add(std::string name_space, std::string name) {
        auto schedule = std::make_unique<Schedule>();
        schedule->number = ++newest_;
        schedule->name_space = std::move(name_space);
        schedule->name = std::move(name);
        Schedule& added = *schedule;
        by_name_.emplace(std::pair(added.name_space, added.name), added.number);
        by_number_.emplace(added.number, std::move(schedule));
        return added;
    }
    void remove(const Schedule& schedule) {
        forget_waiting(schedule);
        by_name_.erase(std::pair(schedule.name_space, schedule.name));
        by_number_.erase(schedule.number);
    }
    // Those whose first record is not durable yet count.
    std::size_t size() const { return by_number_.size(); }

    // In the order of names, from the first one of the namespace after `after`; null if there is none.
    const Schedule* next_of(std::string_view name_space, std::string_view after) const {
        const auto found = by_name_.upper_bound(Key{name_space, after});
        if (found == by_name_.end() || found->first.first != name_space) return nullptr;
        return by_number_.at(found->second).get();
    }
    std::vector<std::string_view> names_around(std::string_view name_space, std::string_view name) const {
        return duewheel::names_around(by_name_, name_space, name,
                                      [this](ScheduleNumber number) { return by_number_.at(number)->exists(); });
    }
    template <class F>
    void for_each(F&& visit) const {
        for (const auto& [name, number] : by_name_) visit(*by_number_.at(number));
    }

    // The schedule waits for this run to end before it creates the next.
    void wait_for(MessageId run, const Schedule& schedule) { waiting_for_[run] = schedule.number; }
    void forget_waiting(const Schedule& schedule) {
        const auto found = waiting_for_.find(schedule.state.last_id);
        if (found != waiting_for_.end() && found->second == schedule.number) waiting_for_.erase(found);
    }
    bool awaits(MessageId run) const { return waiting_for_.contains(run); }
    // The schedule that waits for this run, which has ended; 0: none.
    ScheduleNumber ended(MessageId run) {
        if (waiting_for_.empty()) return 0;
        const auto found = waiting_for_.find(run);
        if (found == waiting_for_.end()) return 0;
        const ScheduleNumber number = found->second;
        waiting_for_.erase(found);
        return number;
    }

  private:
    using Key = std::pair<std::string_view, std::string_view>;
    struct Less {
        using is_transparent = void;
        template <class L, class R>
        bool operator()(const L& left, const R& right) const {
            return Key(left.first, left.second) < Key(right.first, right.second);
        }
    };

    std::map<std::pair<std::string, std::string>, ScheduleNumber, Less> by_name_;
    std::unordered_map<ScheduleNumber, std::unique_ptr<Schedule>> by_number_;
    std::unordered_map<MessageId, ScheduleNumber> waiting_for_;
    ScheduleNumber newest_ = 0;
};

}  // namespace duewheel
