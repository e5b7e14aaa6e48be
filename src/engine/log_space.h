// How much space the log has left, in the steps that matter. Whoever looks at the disk tells the engine, which decides
// by it what is still taken (engine_space.cc).
#pragma once

#include <cstdint>

namespace duewheel {

// From the most on.
enum class LogSpace : std::uint8_t {
    enough,
    scarce,    // puts are refused
    reserve,   // only the reserve is left: so is whatever else makes the log longer and ends no message
    cleaning,  // only what cleaning needs of it: what ends messages may fill the open segment, and begin no other
    none,      // not one segment: the second half of the open one is kept for cleaning
};

}  // namespace duewheel
