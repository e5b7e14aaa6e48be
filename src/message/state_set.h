// A set of message states, as used by listings: small, ordered, without allocations.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "message/state.h"

namespace duewheel {

class StateSet {
  public:
    constexpr StateSet() = default;
    constexpr StateSet(std::initializer_list<State> states) {
        for (const State state : states) insert(state);
    }

    constexpr void insert(State state) { bits_ = static_cast<std::uint16_t>(bits_ | bit(state)); }
    constexpr bool contains(State state) const { return (bits_ & bit(state)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    // Equal sets have equal numbers.
    constexpr std::uint16_t bits() const { return bits_; }

    constexpr bool operator==(const StateSet&) const = default;

  private:
    static constexpr std::uint16_t bit(State state) {
        return static_cast<std::uint16_t>(1u << static_cast<unsigned>(state));
    }

    std::uint16_t bits_ = 0;
};

// The states of unfinished messages.
inline constexpr StateSet kUnfinishedStates{State::prepared, State::scheduled, State::ready,
                                            State::leased,   State::retrying,  State::held};

// The states that a listing can request.
inline constexpr StateSet kListedStates{State::prepared, State::scheduled, State::ready, State::leased,
                                        State::retrying, State::held,      State::dead};

inline constexpr StateSet kEndedStates{State::done, State::cancelled, State::expired, State::dead};

}  // namespace duewheel
