// duewheel_sim runs the unchanged sources. For duewheel_sim_planted, plant.py generates this function from the patches.
#include "simulation/planted_hunt.h"

namespace duewheel {

const std::vector<BugToHunt>& bugs_to_hunt() {
    static const std::vector<BugToHunt> none;
    return none;
}

}  // namespace duewheel
