// The namespaces of a shard: their limits, and the use of each limit.
//
// A namespace exists here while it has settings or content, so there are no more of them than queues, schedules,
// watchdogs and settings together. The counts are sums over its queues, updated with each change of one, so that a
// limit is checked in O(1), and a restart knows the sums from those of the queues. What the batch in construction adds
// counts too, until that batch is applied.
//
// Single-threaded; it reads no clock and decides nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dynamic_threshold.h"
#include "message/records/record.h"
#include "resource/namespace_settings.h"

namespace duewheel {

// The settings of a namespace and their log position.
struct NamespaceConf {
    NamespaceSettings settings;
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
};

// The number of puts allowed now: `rate` per second, and after a pause of a second or more as many at once. In exact
// thousandths of a put, so that no rate drifts.
class PutAllowance {
  public:
    // Whether one more is allowed at `now`. A rate of 0 is no limit.
    bool has_room(std::uint64_t rate, DueMs now) {
        if (rate == 0) return rate_ = 0, true;
        // A bucket that was never used, or whose rate was changed, is full.
        if (rate != rate_ || now - filled_ms_ >= kBurstMs) {
            level_ = rate * kWhole;
        } else if (now > filled_ms_) {
            level_ = std::min(level_ + static_cast<std::uint64_t>(now - filled_ms_) * rate, rate * kWhole);
        }
        rate_ = rate;
        filled_ms_ = std::max(filled_ms_, now);
        return level_ >= kWhole;
    }
    // Takes one; has_room() has just returned true.
    void take() {
        if (rate_ != 0) level_ -= kWhole;
    }

  private:
    static constexpr std::uint64_t kWhole = 1'000;  // thousandths; a rate a second is as many of them a millisecond
    static constexpr DueMs kBurstMs = 1'000;

    std::uint64_t rate_ = 0;
    std::uint64_t level_ = 0;
    DueMs filled_ms_ = 0;
};

struct Namespace {
    const std::string* name = nullptr;
    std::unique_ptr<NamespaceConf> conf;             // null: it has no settings, and so no limits
    std::optional<NamespaceSettings> next_settings;  // by the batch that is being built or in flight

    std::uint64_t pending = 0;  // unfinished messages of its queues, as their counts say
    std::uint64_t queues = 0;   // queues in the list of names
    std::uint64_t schedules = 0;
    std::uint64_t watchdogs = 0;
    std::uint64_t leased = 0;
    // Bytes of the records of its messages that were put or changed since the start and have not ended.
    std::uint64_t log_bytes = 0;

    // By the batch that is being built or in flight.
    bool in_batch = false;
    std::uint64_t puts_in_batch = 0;
    std::set<std::string, std::less<>> queues_in_batch;  // new names of the batch

    PutAllowance puts;      // of clients, and of rules
    PutAllowance catch_up;  // of rules that are behind

    const NamespaceSettings& settings() const {
        static constexpr NamespaceSettings kNone;
        return conf ? conf->settings : kNone;
    }
    // Whether this many more messages exceed its limit.
    bool is_full(std::uint64_t more) const {
        const std::uint64_t most = settings().pending_max;
        return most != 0 && pending + puts_in_batch + more > most;
    }
    // Whether it has settings or content. What is on its way to the disk does not count.
    bool is_there() const { return conf || pending != 0 || queues != 0 || schedules != 0 || watchdogs != 0; }
    bool is_idle() const { return !is_there() && !next_settings && !in_batch; }
};

class NamespaceTable {
  public:
    // Null if it is unknown. O(log n).
    Namespace* find(std::string_view name) {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : &found->second;
    }
    const Namespace* find(std::string_view name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : &found->second;
    }
    // Whether another namespace has settings or content beside the first.
    bool are_several() const { return by_name_.size() > 1; }
    // Whether the namespace `name`, which uses `own` of a limit of the whole server, may use one more, if all together
    // use `all` of `max`. A server that uses only the default namespace gives it everything.
    bool may_use_one(std::string_view name, std::uint64_t own, std::uint64_t all, std::uint64_t max) const {
        const bool is_alone = name == kDefaultNamespace && !are_several() &&
                              (by_name_.empty() || by_name_.begin()->first == kDefaultNamespace);
        return is_alone ? all < max : may_take_one(own, all, max);
    }
    // Its address is stable until it is dropped. O(log n).
    Namespace& at(std::string_view name) {
        const auto found = by_name_.find(name);
        if (found != by_name_.end()) return found->second;
        const auto added = by_name_.try_emplace(std::string(name)).first;
        added->second.name = &added->first;
        return added->second;
    }
    // Removes it if it has neither settings nor content.
    void drop_if_idle(Namespace& space) {
        if (space.is_idle()) by_name_.erase(by_name_.find(*space.name));
    }
    // One of what `what` counts is gone.
    void count_out(std::string_view name, std::uint64_t Namespace::*what) {
        Namespace& space = at(name);
        --(space.*what);
        drop_if_idle(space);
    }
    // The batch that is being built adds to it.
    void note_in_batch(Namespace& space) {
        if (space.in_batch) return;
        space.in_batch = true;
        in_batch_.push_back(&space);
    }
    // It also creates a queue in the namespace.
    void begin_queue(Namespace& space, const std::string& queue) {
        note_in_batch(space);
        if (space.queues_in_batch.insert(queue).second) ++queues_in_batch_;
    }
    // The queue exists now. Returns whether the batch creates it too.
    bool has_begun(Namespace& space, const std::string& queue) {
        const std::size_t begun = space.queues_in_batch.erase(queue);
        queues_in_batch_ -= begun;
        return begun != 0;
    }
    // The number of queues that it creates, in all namespaces.
    std::uint64_t queues_in_batch() const { return queues_in_batch_; }
    // Another batch starts; the additions of the previous one have been counted.
    void begin_batch() {
        for (Namespace* space : in_batch_) {
            space->in_batch = false;
            space->puts_in_batch = 0;
            space->queues_in_batch.clear();
            drop_if_idle(*space);
        }
        in_batch_.clear();
        queues_in_batch_ = 0;
    }

    // Those with settings. While there are none, no limit needs to be checked.
    std::uint64_t with_settings = 0;

    // In the order of names, the first one after `after`; null if there is none.
    const Namespace* next(std::string_view after) const {
        const auto found = by_name_.upper_bound(after);
        return found == by_name_.end() ? nullptr : &found->second;
    }
    template <class F>
    void for_each(F&& visit) const {
        for (const auto& [name, space] : by_name_) visit(space);
    }

  private:
    std::map<std::string, Namespace, std::less<>> by_name_;
    std::vector<Namespace*> in_batch_;
    std::uint64_t queues_in_batch_ = 0;
};

}  // namespace duewheel
