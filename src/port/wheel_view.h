// The timers of a server as a picture of its timing wheel (docs of the wheel: duewheel/parking_levels.h).
#pragma once

#include <cstdint>
#include <map>

#include "message/message.h"

namespace duewheel {

struct WheelView {
    DueMs now_ms = 0;
    std::uint64_t timers = 0;        // of messages, leases and waiting consumers
    std::uint64_t late = 0;          // in no slot: they are late, or are being moved down
    std::uint64_t indexed_only = 0;  // messages that have no timer yet: they are only in the index
    // For each level the timers in each slot that is in use. A slot of level L has 64^L milliseconds; its number is its
    // start divided by that.
    std::map<unsigned, std::map<std::uint64_t, std::uint64_t>> levels;
};

}  // namespace duewheel
