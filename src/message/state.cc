#include "message/state.h"

#include "base/enum_name.h"
#include "base/move_table.h"

namespace duewheel {
namespace {

// Read beside the drawing in the header.
constexpr auto kMoves = [] {
    using enum State;
    return MoveTable<State>()
        .from(prepared, {prepared, scheduled, cancelled, expired})
        .from(scheduled, {scheduled, ready, held, done, cancelled, expired, dead})
        .from(ready, {scheduled, leased, held, cancelled, expired})
        .from(leased, {ready, scheduled, retrying, held, done, cancelled, dead})
        .from(retrying, {ready, scheduled, held, cancelled, expired, dead})
        .from(held, {ready, scheduled, cancelled, expired})
        .from(dead, {scheduled, cancelled, expired});
}();

}  // namespace

std::string_view state_name(State state) {
    return enum_name<State::dead, State::prepared>(state, {"prepared", "scheduled", "ready", "leased", "retrying",
                                                           "held", "done", "cancelled", "expired", "dead"});
}

bool is_legal_move(State from, State to) {
    return kMoves.has(from, to);
}

bool is_ended(State state) {
    return state == State::done || state == State::cancelled || state == State::expired || state == State::dead;
}

bool is_durable(State state) {
    return state != State::ready && state != State::leased;
}

bool waits_for_due(State state) {
    return state == State::scheduled || state == State::retrying;
}

bool is_timed(State state) {
    return waits_for_due(state) || state == State::prepared;
}

}  // namespace duewheel
