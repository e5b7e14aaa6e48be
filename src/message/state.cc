#include "message/state.h"

#include <array>

#include "base/enum_name.h"

namespace duewheel {
namespace {

constexpr std::uint16_t bit(State state) {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(state));
}

template <class... States>
constexpr std::uint16_t to(States... states) {
    return static_cast<std::uint16_t>((bit(states) | ... | 0u));
}

// Row: from; set: to. Read beside the drawing in the header.
constexpr std::array<std::uint16_t, kStateCount + 1> kMoves = [] {
    using enum State;
    std::array<std::uint16_t, kStateCount + 1> moves{};
    auto from = [&moves](State state) -> std::uint16_t& { return moves[static_cast<std::size_t>(state)]; };
    from(prepared) = to(prepared, scheduled, cancelled, expired);
    from(scheduled) = to(scheduled, ready, held, done, cancelled, expired, dead);
    from(ready) = to(scheduled, leased, held, cancelled, expired);
    from(leased) = to(ready, scheduled, retrying, held, done, dead);
    from(retrying) = to(ready, scheduled, held, cancelled, expired, dead);
    from(held) = to(ready, scheduled, cancelled, expired);
    from(dead) = to(scheduled, cancelled, expired);
    return moves;
}();

}  // namespace

std::string_view state_name(State state) {
    return enum_name<State::dead, State::prepared>(state, {"prepared", "scheduled", "ready", "leased", "retrying",
                                                           "held", "done", "cancelled", "expired", "dead"});
}

bool is_legal_move(State from, State to_state) {
    return (kMoves[static_cast<std::size_t>(from)] & bit(to_state)) != 0;
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
