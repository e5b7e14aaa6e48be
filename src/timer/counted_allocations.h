// Counts what a test program takes from operator new, for tests of what allocates nothing. It replaces the operator of
// the whole program, in a file of its own so that no compiler sees both ends of an allocation.
#pragma once

#include <cstddef>

namespace duewheel {

std::size_t allocations_so_far();

}  // namespace duewheel
