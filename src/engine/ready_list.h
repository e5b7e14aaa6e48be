// The messages of one queue that are ready, in the order in which they are handed out: by priority, then due time, then
// id, which rises with the sequence of the put.
//
// While many wait, after an hour without consumers or without a server, that order would let whatever falls due now
// wait for all that is behind. So there are two streams then, a message of each in turn where their priorities are the
// same:
//
//     late    due longer ago than `fresh_ms`   ████████████████████████  ──┐
//                                                                          ├──►  late, fresh, late, fresh, ...
//     fresh   all others                       ██  ────────────────────────┘
//
// What is fresh and not handed out in time is late then. Removal is lazy (lazy_heap.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/lazy_heap.h"
#include "store/store.h"

namespace duewheel {

struct ReadyKey {
    std::int32_t priority = 0;
    DuePosition position;
    EntryNumber entry = kNoEntry;

    bool operator<(const ReadyKey& other) const {
        return priority != other.priority ? priority < other.priority : position < other.position;
    }
};

class ReadyList {
  public:
    // Amortised O(log n), as are the others.
    void push(const ReadyKey& key) { fresh_.push(key); }

    // What comes next; null where nothing is left that is_live() accepts. `live_count` bounds the garbage. Due before
    // `late_before_ms` is late. `shares`: many wait, and both streams get their turn.
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
    // Takes away what first() has named.
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
