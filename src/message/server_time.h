// What may be said of server time (server/server_clock.h), as plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "message/message.h"

namespace duewheel {

// The year 2200: server time is counted no further.
inline constexpr DueMs kServerTimeMaxMs = 7'258'118'400'000;

// What becomes of server time when the wall clock is further ahead than it is believed to be by itself.
enum class ClockJump : std::uint8_t { hold, accept };

enum class ClockState : std::uint8_t {
    steady,      // with the wall clock, or within seconds of it and on its way
    slow,        // the wall clock was set back: server time waits for it, and goes on at nine tenths of its speed
    quarantine,  // the wall clock was set ahead: it is watched for a minute before it is believed
    held,        // it is too far ahead to be believed: somebody has to say so
    test,        // the wall clock does not count: server time is moved by command
};

constexpr std::string_view clock_state_name(ClockState state) {
    constexpr std::string_view kNames[] = {"steady", "slow", "quarantine", "held", "test"};
    return kNames[static_cast<std::size_t>(state)];
}

struct ClockStatus {
    DueMs server_ms = 0;
    DueMs wall_ms = 0;  // as of the same moment
    ClockState state = ClockState::steady;
    ClockJump on_jump = ClockJump::hold;
    std::uint64_t jumps = 0;  // of server time since the start: those believed, accepted, and made by command

    // Of the wall clock before server time; negative where it is behind.
    std::int64_t ahead_ms() const { return wall_ms - server_ms; }
};

}  // namespace duewheel
