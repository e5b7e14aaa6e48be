// What clients say in a command beside what they ask for: the result of an ack, the checkpoint of an extension, the
// name of a worker; and whether a lookup waits for the end of its message. It follows from the command and its number,
// and draws nothing.
#pragma once

#include <cstdint>

#include "simulation/oracle.h"

namespace duewheel {

// Completes a command. `number`: of the commands submitted before. `may_wait`: a lookup may.
void add_words(Command& command, const Oracle& oracle, std::uint64_t number, bool may_wait);

}  // namespace duewheel
