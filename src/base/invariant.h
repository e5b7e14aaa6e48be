// Conditions that always hold, verified by checks that are too slow for assertions: of tests and the simulator.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace duewheel {

// Aborts with the message if the condition does not hold.
inline void require(bool holds, const char* otherwise) {
    if (holds) return;
    std::fprintf(stderr, "broken invariant: %s\n", otherwise);
    std::abort();
}

}  // namespace duewheel
