// The number of messages that become due in each minute, for forecasts. Exact and cheap, because each record contains
// the state before and after.
//
// The index has the counts of each queue and of each namespace as of its newest table (sealer.h), and the recent tier
// the changes by each segment that has not been swept. Together they are those of the log.
//
// Worked example: the index, built through segment 4, counts 10 messages of a queue in one minute. Segment 5 has the
// cancel of one of them and three puts, so its change is +2, and the forecast says 12. After the table of segment 5 was
// added the index counts 12, and the change of segment 5 is not needed any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "message/message.h"
#include "store/queue_names.h"

namespace duewheel {

// What becomes due.
enum class FallsDue : std::uint8_t { scheduled, retrying, loop };
// What a message in this durable state is; nothing if no delivery starts at its due time.
inline std::optional<FallsDue> falls_due(State durable, bool is_recurring) {
    if (!waits_for_due(durable)) return std::nullopt;
    if (is_recurring) return FallsDue::loop;
    return durable == State::retrying ? FallsDue::retrying : FallsDue::scheduled;
}

// By what becomes due. Sums wrap, so that changes can be added in any order.
struct DueCounts {
    std::array<std::uint32_t, 3> by_kind{};

    std::uint32_t& of(FallsDue what) { return by_kind[static_cast<std::size_t>(what)]; }
    void add(const DueCounts& other) {
        for (std::size_t kind = 0; kind < by_kind.size(); ++kind) by_kind[kind] += other.by_kind[kind];
    }
    bool operator==(const DueCounts&) const = default;
};

// A minute of a queue.
struct DueMinute {
    static constexpr DueMs kMs = 60'000;

    QueueNumber queue = 0;
    std::uint32_t number = 0;  // since 1970, until the year 10000

    static DueMinute at(QueueNumber queue, DueMs due_ms) { return {queue, static_cast<std::uint32_t>(due_ms / kMs)}; }
    DueMs start_ms() const { return number * kMs; }
    auto operator<=>(const DueMinute&) const = default;
};
inline std::size_t hash_value(const DueMinute& minute) {
    return boost::hash<std::uint64_t>()(std::uint64_t{minute.queue} << 32 | minute.number);
}

// Changes of counts: 20 bytes for each minute of a queue in which one changes.
class DueChanges {
  public:
    // A message of the queue enters or leaves this durable state with this due time. Average O(1).
    void enter(QueueNumber queue, DueMs due_ms, State state, bool is_recurring) {
        change(queue, due_ms, falls_due(state, is_recurring), 1);
    }
    void leave(QueueNumber queue, DueMs due_ms, State state, bool is_recurring) {
        change(queue, due_ms, falls_due(state, is_recurring), ~std::uint32_t{0});
    }
    // In no order; those that cancel each other out are 0.
    const boost::unordered_flat_map<DueMinute, DueCounts, boost::hash<DueMinute>>& all() const { return changes_; }
    std::size_t bytes() const { return changes_.bucket_count() * (sizeof(DueMinute) + sizeof(DueCounts)); }

  private:
    void change(QueueNumber queue, DueMs due_ms, std::optional<FallsDue> what, std::uint32_t by) {
        if (what) changes_[DueMinute::at(queue, due_ms)].of(*what) += by;
    }

    boost::unordered_flat_map<DueMinute, DueCounts, boost::hash<DueMinute>> changes_;
};

}  // namespace duewheel
