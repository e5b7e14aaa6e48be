// The life of a message: its states and the legal transitions between them.
//
//                          put / spawn (a put may ask for held, too)
//               (in a transaction) |  (plain)
//                    +-------------+-------------+
//                    v                           v
//                prepared --commit-------->  scheduled <----------------------+
//                ^   |                       |   ^   ^                        |
//          check +---| rollback          due |   |   | reschedule, release    | reschedule
//                    |                       v   |   | with delay             |
//                    |        +----------> ready-+   |                        |
//                    |        |              |       |                        |
//                    |        | lease lost,  | lease |                        |
//                    |        | release      v       |                        |
//                    |        +----------- leased ---+------ fail -------> retrying
//                    |        |              |       |                    |   |
//                    |        | kick         | ack   | attempts used up   |   | due
//                    |        |              v       v                    |   +--> ready
//                    |      held           done    dead -- redrive --> scheduled
//                    v        ^
//                cancelled    +-- hold: from scheduled, ready, leased, retrying
//
//                done:    from scheduled too: a recurring message after its last occurrence
//                expired: from prepared, scheduled, ready, retrying, held when its time is over; from dead at the end
//                         of dead-letter retention
//                cancelled: from prepared, scheduled, ready, retrying, held; from leased if that was requested, when
//                its
//                         lease ends without an ack; from dead when it is discarded
//                dead:    from scheduled and retrying too, if a crash ended the last lease that its rule allows
//
// Durable states are prepared, scheduled, retrying, held and the ended states. Ready and leased exist only in memory:
// after a crash a due message is due again. Ended are done, cancelled, expired and dead; of these only dead can be left
// again, by a redrive or a kick, unless it is discarded first.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

// The numbers are part of the formats of journal and index: never change or reuse one.
enum class State : std::uint8_t {
    prepared = 1,   // in a transaction: waits for commit or rollback
    scheduled = 2,  // waits for its due time
    ready = 3,      // due, waits for a consumer
    leased = 4,     // leased by a consumer, until the lease ends
    retrying = 5,   // failed, waits for its next attempt
    held = 6,       // not delivered until it is kicked
    done = 7,
    cancelled = 8,
    expired = 9,
    dead = 10,  // attempts used up: kept with its body and a reason
};
inline constexpr int kStateCount = 10;

// The name in all interfaces: "scheduled", "ready", ...
std::string_view state_name(State state);

// Whether a message may go from one state to the other in one transition. Staying in the same state is legal only if
// the drawing has it: scheduled to scheduled (rescheduled).
bool is_legal_move(State from, State to);

// done, cancelled, expired, dead: no delivery will start unless a dead letter is redriven.
bool is_ended(State state);

// The states that a record may contain: all but ready and leased.
bool is_durable(State state);

// scheduled and retrying: only time moves it on.
bool waits_for_due(State state);

// These and prepared: something happens at its due time. For a prepared message it is the producer's deadline.
bool is_timed(State state);

}  // namespace duewheel
