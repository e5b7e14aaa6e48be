// What a message in memory waits for, and what it can wait for next.
//
//     none ─┬─► command                                 held, or a dead letter
//           │
//           ├─► lease                                   an earlier run leased it
//           │
//           ├─► due ─┬─► turn ◄──► consumer ◄──► lease   scheduled or retrying, then ready, then leased
//           │        ├─► occurrence                     a recurring message
//           │        └─► outcome                        a prepared message
//           │
//           └─► used_up, lease_lost, cancelled, expired  its end
//
// It begins with `none`, and each record that changes it leads back there; the engine then decides where it belongs. A
// message that is due already skips `due`, and one that an earlier run leased is leased at once. Each one but those
// that wait for an occurrence can expire, and one that is leased does so when its lease ends. Memory keeps a message
// from `occurrence` on until its next record is durable.
#pragma once

#include <cstdint>

namespace duewheel {

enum class WaitsFor : std::uint8_t {
    none,        // nothing: its newest record was just applied, or only a purge can follow
    command,     // a command, or its expiry
    due,         // its due time, the deadline of its producer, or its expiry
    turn,        // earlier messages of its order key; it is due
    consumer,    // ready
    lease,       // the end of its lease
    occurrence,  // the record of an occurrence; it is recurring and due
    outcome,     // the record of a check or of the default; it is prepared and past its deadline
    used_up,     // the record of its end: its rule allows no further attempt
    lease_lost,  // the same, and its last attempt ended with its lease
    cancelled,   // the record of its end: its cancel was requested while it was leased
    expired,     // the record of its end: it has expired
};

bool is_legal_move(WaitsFor from, WaitsFor to);

// The engine writes the next record about it.
constexpr bool is_to_be_written(WaitsFor waits_for) {
    return waits_for >= WaitsFor::occurrence;
}

// That record is its end.
constexpr bool is_ending(WaitsFor waits_for) {
    return waits_for >= WaitsFor::used_up;
}

// It is due and unfinished, and only the cursor of its queue finds it after a restart.
constexpr bool bounds_cursor(WaitsFor waits_for) {
    using enum WaitsFor;
    return waits_for == consumer || waits_for == lease || waits_for == occurrence || waits_for == used_up ||
           waits_for == lease_lost || waits_for == cancelled;
}

}  // namespace duewheel
