// The switch of the planted bugs: which bug is turned on. The patches in bugs/ add `if (planted(PlantedBug::NAME))` to
// copies of the sources, and plant.py generates the enumeration of their names, which those copies include.
#pragma once

#include <atomic>
#include <cstdint>

namespace duewheel {

enum class PlantedBug : std::uint8_t;
inline constexpr PlantedBug kNoBug{};

// Set before the code under test starts.
inline std::atomic<PlantedBug> planted_bug{kNoBug};

inline bool planted(PlantedBug bug) {
    return planted_bug.load(std::memory_order_relaxed) == bug;
}

}  // namespace duewheel
