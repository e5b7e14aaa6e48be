// The remaining space of the log, in the steps that matter. The engine is notified of it, and decides what is still
// accepted (open_segment.h).
#pragma once

#include <cstdint>

namespace duewheel {

// From the most to the least.
enum class LogSpace : std::uint8_t {
    enough,
    scarce,    // puts are refused
    reserve,   // only the reserve is left: other commands that make the log longer and end no message are refused too
    cleaning,  // only what compaction needs of it: commands that end messages may fill the open segment, but start no
               // other
    none,      // not one segment: the second half of the open one is kept for compaction
};

}  // namespace duewheel
