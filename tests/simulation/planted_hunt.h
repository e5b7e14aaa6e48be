// The simulator must be able to fail: each bug that is planted has to be found. Only a build with DUEWHEEL_PLANTED_BUGS
// has any; the functions are there in all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/planted_bugs.h"

namespace duewheel {

// Switches this bug on, wherever it is planted.
void plant(PlantedBug bug);
// Switches a bug on by its name or its number, and says which; nothing where this build has none of that name.
std::optional<PlantedBug> plant(const std::string& name_or_number);

// Hunts each bug for at most so many CPU seconds, prints a table, and returns how the program is to end: 0 when all
// were found.
int hunt_all(unsigned cpu_seconds_each, std::uint32_t steps);

}  // namespace duewheel
