// The number of messages of a queue in each state, exact and cheap: each record contains the state before and after, so
// the counts follow from the record alone.
//
// The sealer stores them in the index as of the newest table, replay updates them to the end of the log, and the engine
// continues from there. So a restart knows them without scanning the queue.
#pragma once

#include <cstdint>

#include "message/state.h"

namespace duewheel {

struct QueueCounts {
    std::uint64_t pending = 0;  // unfinished, including held and prepared messages
    std::uint64_t held = 0;
    std::uint64_t dead = 0;
    std::uint64_t prepared = 0;

    bool empty() const { return pending == 0 && dead == 0; }

    // A message of the queue enters or leaves this durable state. Sums wrap, so that differences can be added in any
    // order.
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
