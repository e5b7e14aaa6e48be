// For tests of the wheel: what reaches into its fronts as no owner can.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include <duewheel/timing_wheel.h>

namespace duewheel {

// One way to damage a wheel, and what check() has to say to it.
struct Damage {
    const char* header;            // that makes the requirement, below timers/include/duewheel
    const char* sentence;          // of the requirement
    std::function<void()> happen;  // makes a sound wheel, damages it and checks it
};

struct TimingWheelProbe {
    // The next timer is armed on the node just freed, with the last generation there is.
    static void use_last_generation(TimingWheel& wheel) {
        wheel.levels_[wheel.free_].generation = std::numeric_limits<std::uint32_t>::max();
    }
    static std::vector<Damage> damages();
    static std::vector<Damage> damages_of_levels();
};

struct IdTimingWheelProbe {
    static std::vector<Damage> damages();
};

struct IntrusiveTimingWheelProbe {
    static std::vector<Damage> damages();
};

}  // namespace duewheel
