// Limits for a command, as the token of a request may have: for some of its namespaces, or for queues with a prefix.
#pragma once

#include "engine/commands/command.h"
#include "message/access_token.h"
#include "shared/random.h"
#include "simulation/sim_options.h"

namespace duewheel {

// Null for most commands. Those about schedules and watchdogs get no prefix: the queue of one may change before the
// command is executed, and then the oracle cannot know what it must be answered. Those that set one get no limits: the
// oracle numbers what is set, and has no number for what is refused.
SharedLimits random_limits(const Command& command, const SimOptions& options, Random& random);

}  // namespace duewheel
