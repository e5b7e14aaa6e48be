// The life of a message: its states, the legal moves between them, and nothing else.
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
//                done:    from scheduled too: a loop that has made its last occurrence
//                expired: from prepared, scheduled, ready, retrying, held when its time has passed; from dead when it
//                         has been kept for long enough
//                cancelled: from prepared, scheduled, ready, retrying, held; from dead when it is discarded
//                dead:    from scheduled and retrying too, where a crash ended the last lease that its rule allows
//
// Durable are prepared, scheduled, retrying, held and the ended states. Ready and leased live in memory alone: after a
// crash a due message is simply due again. Ended are done, cancelled, expired and dead; of these only dead may come
// back, by a redrive or a kick, unless somebody discards it first.
#pragma once

#include <cstdint>
#include <string_view>

namespace duewheel {

// The numbers stand in the journal and in the index: never change or re-use one.
enum class State : std::uint8_t {
    prepared = 1,   // half of a transaction: waits for commit or rollback
    scheduled = 2,  // waits for its due time
    ready = 3,      // due, waits for a consumer
    leased = 4,     // with a consumer, until the lease ends
    retrying = 5,   // failed, waits for its next attempt
    held = 6,       // set aside until it is kicked
    done = 7,
    cancelled = 8,
    expired = 9,
    dead = 10,  // attempts used up: kept with its body and a reason
};
inline constexpr int kStateCount = 10;

// The name in every interface: "scheduled", "ready", ...
std::string_view state_name(State state);

// True where a message may go from one state to the other in one move. A move to the same state is legal only where the
// drawing means something by it: scheduled to scheduled (rescheduled).
bool is_legal_move(State from, State to);

// Whether a new message may begin in this state.
bool is_legal_start(State state);

// done, cancelled, expired, dead: no delivery will start unless it is brought back from the dead.
bool is_ended(State state);

// The states that a record may hold: all but ready and leased.
bool is_durable(State state);

// scheduled and retrying: the clock alone moves it on.
bool waits_for_due(State state);

// These and prepared: something happens at its due time. That of a half is when its answer is due, and no delivery's.
bool is_timed(State state);

}  // namespace duewheel
