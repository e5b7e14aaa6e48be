// Counts the allocations of a test program with operator new, for tests of code that must not allocate. It replaces the
// operator of the whole program, in a separate file so that no compiler sees both ends of an allocation.
#pragma once

#include <cstddef>

namespace duewheel {

std::size_t allocations_so_far();

}  // namespace duewheel
