// What a server leaves behind of its time for the next start, beside the log: by the boot clock, which nobody sets, a
// start in the same run of the machine knows what the time is, however far ahead the wall clock was set by then.
#pragma once

#include <cstdint>
#include <string>

namespace duewheel {

// As made here it says nothing.
struct ClockMark {
    std::string machine_run;            // which run of the machine the boot clock counts; empty: not known
    std::int64_t ahead_of_boot_ms = 0;  // server time, of that boot clock
    bool doubted = false;               // the wall clock was ahead, and not believed

    bool operator==(const ClockMark&) const = default;
};

}  // namespace duewheel
