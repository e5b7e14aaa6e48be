// The public state of server time (server/shard/server_clock.h), as plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/enum_name.h"
#include "message/message.h"

namespace duewheel {

// The year 2200: server time does not go further.
inline constexpr DueMs kServerTimeMaxMs = 7'258'118'400'000;

// What happens to server time when the wall clock is further ahead than it is trusted to be.
enum class ClockJump : std::uint8_t { hold, accept };

enum class ClockState : std::uint8_t {
    steady,      // follows the wall clock, or is within seconds of it
    slow,        // the wall clock was set back: server time runs at nine tenths of its speed until it catches up
    quarantine,  // the wall clock was set ahead: it is observed for a minute before it is trusted
    held,        // it is too far ahead to be trusted: an operator must accept it
    test,        // the wall clock is ignored: server time is moved by command
};

constexpr std::string_view clock_state_name(ClockState state) {
    return enum_name<ClockState::test>(state, {"steady", "slow", "quarantine", "held", "test"});
}

struct ClockStatus {
    DueMs server_ms = 0;
    DueMs wall_ms = 0;  // as of the same moment
    ClockState state = ClockState::steady;
    ClockJump on_jump = ClockJump::hold;
    std::uint64_t jumps = 0;  // of server time since the start: trusted, accepted, and by command

    // Wall clock minus server time; negative if it is behind.
    std::int64_t ahead_ms() const { return wall_ms - server_ms; }
};

}  // namespace duewheel
