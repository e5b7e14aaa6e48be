// Verifies that the simulator finds each planted bug. duewheel_sim_planted contains all of them, duewheel_sim none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/planted_bug.h"

namespace duewheel {

struct BugToHunt {
    PlantedBug bug;
    std::string name;
    std::vector<std::string> without;  // operations that are switched off so that the bug is met soon
};

// The bugs of this program, by number.
const std::vector<BugToHunt>& bugs_to_hunt();

// The bug of this name or number; nothing where this program has none.
std::optional<PlantedBug> bug_named(const std::string& name_or_number);

// Hunts each bug for up to `cpu_seconds_each`, prints a table, and returns the exit code of the program: 0 if all were
// found.
int hunt_all(unsigned cpu_seconds_each, std::uint32_t steps);

}  // namespace duewheel
