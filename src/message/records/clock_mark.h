// The clock state that a server saves next to its log for the next start. It refers to the boot clock, which users
// cannot set, so a start during the same boot of the machine knows the time even if the wall clock was set far ahead.
#pragma once

#include <cstdint>
#include <string>

namespace duewheel {

// The default has no information.
struct ClockMark {
    std::string machine_run;            // the boot that the boot clock counts from; empty: unknown
    std::int64_t ahead_of_boot_ms = 0;  // server time minus that boot clock
    bool doubted = false;               // the wall clock was ahead and not trusted

    bool operator==(const ClockMark&) const = default;
};

}  // namespace duewheel
