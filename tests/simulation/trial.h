// Runs of the simulator in a separate process, so that an assertion or an endless loop is a finding like any other: for
// reducing a violation, and for finding planted bugs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/planted_bug.h"
#include "simulation/sim_options.h"

namespace duewheel {

// The options of a seed, with what was switched off.
SimOptions options_of(std::uint64_t seed, std::uint32_t steps, const std::vector<std::string>& without);
// What `duewheel_sim` has to be told to run it again.
std::string replay_arguments(std::uint64_t seed, std::uint32_t steps, const std::vector<std::string>& without);

struct Trial {
    bool found = false;
    std::string clause;       // or "assertion", "endless"
    std::uint64_t seeds = 0;  // looked at, the last one included
    std::uint64_t last_seed = 0;
    std::uint64_t step = 0;
    double cpu_seconds = 0;  // for the table, never for a decision of a run
};

// Runs seeds from `first` on until one is wrong, at most `count` of them or `cpu_seconds`.
Trial run_apart(std::uint64_t first, std::uint64_t count, std::uint32_t steps, const std::vector<std::string>& without,
                unsigned cpu_seconds, PlantedBug bug);

// A violation of this seed with fewer steps and less switched on: greedy, one thing after the other.
struct Smaller {
    std::uint32_t steps = 0;
    std::vector<std::string> without;
};
Smaller shrink(std::uint64_t seed, std::uint32_t steps, std::vector<std::string> without, PlantedBug bug);

}  // namespace duewheel
