// The schedules or the watchdogs of a shard: all of them, by number and by name.
//
// They are complete in memory except for the content of their messages, which is read from the log when one is created.
// There can be a million watchdogs, so each rule is in the node of its name, some 450 bytes with its timer. A number is
// a slot and its number of uses, so a holder of a number can look up a rule that no longer exists. Names created by the
// batch in flight are present already, with revision 0.
//
// Single-threaded; it makes no decisions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/views/names_around.h"
#include "store/store.h"
#include <duewheel/timing_wheel.h>

namespace duewheel {

using RuleNumber = std::uint64_t;
// The number of bits of a number.
inline constexpr unsigned kRuleNumberBits = 60;

template <class OfState>
struct NamedRule {
    using State = OfState;

    RuleNumber number = 0;
    const std::pair<std::string, std::string>* key = nullptr;  // its namespace and its name
    State state;                                               // revision 0: its first record is not durable yet
    std::unique_ptr<State> next;                               // by the batch that is being built or in flight
    Sequence log_position = 0;                                 // of its newest whole record
    std::uint64_t term = 0;                                    // of its newest record: its part of the digest
    TimerHandle timer;
    std::uint32_t record_bytes = 0;
    bool is_due = false;                     // waits to create a message
    ErrorCode blocked_by = ErrorCode::none;  // why its message could not be created at the last try

    const std::string& name_space() const { return key->first; }
    const std::string& name() const { return key->second; }
    bool exists() const { return state.revision != 0; }
    bool in_batch() const { return next != nullptr; }
};

template <class Rule>
class RuleTable {
  public:
    // Null if there is none; one with revision 0 does not exist for clients. O(log n).
    Rule* find(std::string_view name_space, std::string_view name) {
        const auto found = by_name_.find(Key{name_space, name});
        return found == by_name_.end() ? nullptr : &found->second;
    }
    const Rule* find(std::string_view name_space, std::string_view name) const {
        const auto found = by_name_.find(Key{name_space, name});
        return found == by_name_.end() ? nullptr : &found->second;
    }
    // O(1).
    Rule* find(RuleNumber number) {
        const std::size_t slot = number & kSlotBits;
        if (slot >= slots_.size() || slots_[slot].taken != number >> kSlotShift) return nullptr;
        return slots_[slot].rule;
    }
    // The name must be free.
    Rule& add(std::string name_space, std::string name) {
        const auto added = by_name_.try_emplace({std::move(name_space), std::move(name)}).first;
        if (free_.empty()) {
            free_.push_back(slots_.size());
            slots_.emplace_back();
        }
        const std::size_t slot = free_.back();
        free_.pop_back();
        Rule& rule = added->second;
        rule.key = &added->first;
        rule.number = slots_[slot].taken << kSlotShift | slot;
        slots_[slot].rule = &rule;
        return rule;
    }
    void remove(const Rule& rule) {
        Slot& slot = slots_[rule.number & kSlotBits];
        slot.rule = nullptr;
        slot.taken = (slot.taken + 1) & (kNumbers >> kSlotShift);
        free_.push_back(rule.number & kSlotBits);
        by_name_.erase(by_name_.find(*rule.key));
    }
    // Those whose first record is not durable yet count.
    std::size_t size() const { return by_name_.size(); }

    // In the order of names, from the first one of the namespace after `after`; null if there is none.
    const Rule* next_of(std::string_view name_space, std::string_view after) const {
        const auto found = by_name_.upper_bound(Key{name_space, after});
        return found == by_name_.end() || found->first.first != name_space ? nullptr : &found->second;
    }
    std::vector<std::string_view> names_around(std::string_view name_space, std::string_view name) const {
        return duewheel::names_around(by_name_, name_space, name, [](const Rule& rule) { return rule.exists(); });
    }
    template <class F>
    void for_each(F&& visit) {
        for (auto& [key, rule] : by_name_) visit(rule);
    }
    template <class F>
    void for_each(F&& visit) const {
        for (const auto& [key, rule] : by_name_) visit(rule);
    }

  private:
    static constexpr unsigned kSlotShift = 32;
    static constexpr std::uint64_t kSlotBits = (std::uint64_t{1} << kSlotShift) - 1;
    static constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kRuleNumberBits) - 1;

    using Key = std::pair<std::string_view, std::string_view>;
    struct Less {
        using is_transparent = void;
        template <class L, class R>
        bool operator()(const L& left, const R& right) const {
            return Key(left.first, left.second) < Key(right.first, right.second);
        }
    };
    struct Slot {
        Rule* rule = nullptr;
        std::uint64_t taken = 0;
    };

    std::map<std::pair<std::string, std::string>, Rule, Less> by_name_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> free_;
};

}  // namespace duewheel
