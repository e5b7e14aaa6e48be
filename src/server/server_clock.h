// Server time: what the engine is told.
//
// It runs on the boot clock, which counts suspends and never jumps, set once to the wall clock at the start, but never
// before what the log says it was: so it never goes back, neither within a run nor over restarts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "message/message.h"

namespace duewheel {

class ServerClock {
  public:
    // All clocks as of the same moment; `floor_ms` is the newest server time in the log.
    ServerClock(DueMs wall_ms, std::int64_t boot_ns, DueMs floor_ms)
        : offset_ns_(std::max(wall_ms, floor_ms) * 1'000'000 - boot_ns) {}

    // Whole milliseconds, rounded down: nothing is due before its millisecond has come.
    DueMs now_ms(std::int64_t boot_ns) const { return (boot_ns + offset_ns_) / 1'000'000; }
    // From `boot_ns` until server time reads `at_ms`; 0 when it does already.
    std::int64_t ns_until(DueMs at_ms, std::int64_t boot_ns) const {
        return std::max<std::int64_t>(0, at_ms * 1'000'000 - (boot_ns + offset_ns_));
    }

  private:
    std::int64_t offset_ns_;
};

}  // namespace duewheel
