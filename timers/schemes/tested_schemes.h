// The timer queues that the suites of this folder run on: every scheme, the wheels with few slots as well, so that
// their edges and turns come often, and all three fronts of the core wheel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schemes/any_timer_queue.h"
#include "wheel/timer_queue.h"

namespace duewheel {

struct TestedScheme {
    std::string name;
    std::function<AnyTimerQueue(Tick now)> make;
};

// For the tests by name: everything reaches at least 8,000 ticks ahead.
const std::vector<TestedScheme>& tested_schemes();

// For random histories, which know what a scheme refuses.
const std::vector<TestedScheme>& tested_small_schemes();

}  // namespace duewheel
