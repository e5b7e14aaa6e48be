// The ready messages of one queue in delivery order: by priority, then due time, then id, which rises with the sequence
// of the put.
//
// When many wait, after an hour without consumers or without a server, that order would make messages that become due
// now wait for all of them. So there are two streams then, which alternate between messages of the same
// priority:
//
//     late    due longer ago than `fresh_ms`   ████████████████████████  ──┐
//                                                                          ├──►  late, fresh, late, fresh, ...
//     fresh   all others                       ██  ────────────────────────┘
//
// Fresh messages that are not delivered in time become late. Removal is lazy (lazy_heap.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/core/lazy_heap.h"
#include "store/store.h"

namespace duewheel {

// After every message: nothing is on disk.
inline constexpr DuePosition kNoBacklog{std::numeric_limits<DueMs>::max(), std::numeric_limits<MessageId>::max()};

struct ReadyKey {
    std::int32_t priority = 0;
    EntryNumber entry = kNoEntry;
    DuePosition position;

    bool operator<(const ReadyKey& other) const {
        return priority != other.priority ? priority < other.priority : position < other.position;
    }
};

class ReadyList {
  public:
    // Amortised O(log n), like the others.
    void push(const ReadyKey& key) { fresh_.push(key); }

    bool is_empty() const { return late_.is_empty() && fresh_.is_empty(); }
    // The next message; null if is_live() accepts none. `live_count` bounds the garbage. Messages due before
    // `late_before_ms` are late. `shares`: many wait, and both streams alternate.
    template <class IsLive>
    const ReadyKey* first(std::size_t live_count, DueMs late_before_ms, bool shares, const IsLive& is_live) {
        const ReadyKey* fresh = fresh_.top(live_count, is_live);
        for (; fresh != nullptr && fresh->position.due_ms < late_before_ms; fresh = fresh_.top(live_count, is_live)) {
            late_.push(*fresh);
            fresh_.pop();
        }
        const ReadyKey* late = late_.top(live_count, is_live);
        if (late == nullptr || fresh == nullptr) {
            first_is_fresh_ = late == nullptr;
        } else if (shares && late->priority == fresh->priority) {
            first_is_fresh_ = fresh_is_next_;
        } else {
            first_is_fresh_ = *fresh < *late;
        }
        return first_is_fresh_ ? fresh : late;
    }
    // The first `count` keys of each stream, without removing them; outdated ones are among them. O(count log count).
    template <class Visit>
    void visit_first(std::size_t count, const Visit& visit) const {
        late_.visit_first(count, visit);
        fresh_.visit_first(count, visit);
    }
    // Removes the message that first() returned.
    void pop_first() {
        (first_is_fresh_ ? fresh_ : late_).pop();
        fresh_is_next_ = !first_is_fresh_;
    }

  private:
    LazyHeap<ReadyKey> late_;
    LazyHeap<ReadyKey> fresh_;
    bool first_is_fresh_ = true;
    bool fresh_is_next_ = false;
};

}  // namespace duewheel
