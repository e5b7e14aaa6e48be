// How many messages of a queue stand where, kept exactly and cheaply: each record says what stood before it and what
// stands after, so a count moves by what the record alone says.
//
// The sealer keeps them in the index as of the last table, a replay moves them on to the log's end, and the engine from
// there: so a restart knows them without walking the queue.
#pragma once

#include <cstdint>

#include "message/state.h"

namespace duewheel {

struct QueueCounts {
    std::uint64_t pending = 0;  // unfinished, the held and the prepared ones among them
    std::uint64_t held = 0;
    std::uint64_t dead = 0;
    std::uint64_t prepared = 0;

    bool empty() const { return pending == 0 && dead == 0; }

    // A message of the queue stands in this durable state from now on, or does so no more. Sums wrap, so that
    // differences may be added up in any order.
    void enter(State state) { move(state, 1); }
    void leave(State state) { move(state, ~std::uint64_t{0}); }
    void add(const QueueCounts& other) {
        pending += other.pending;
        held += other.held;
        dead += other.dead;
        prepared += other.prepared;
    }

    bool operator==(const QueueCounts&) const = default;

  private:
    void move(State state, std::uint64_t by) {
        if (state == State::dead) {
            dead += by;
        } else if (!is_ended(state)) {
            pending += by;
            if (state == State::held) held += by;
            if (state == State::prepared) prepared += by;
        }
    }
};

}  // namespace duewheel
