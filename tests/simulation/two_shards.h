// A whole run: of one shard; or of two, each with its clients, two nodes (sim_nodes.h) and its own oracle, on one
// simulated cluster with the topic of their logs. Their steps alternate as the seed decides.
//
// The oracles judge each shard; this checks that the shards are apart: a request reaches only the shard of its
// namespace, and no id is given out by both. A message that appeared at the other shard is one that its oracle does not
// know.
#pragma once

#include "simulation/simulation.h"

namespace duewheel {

SimResult simulate(const SimOptions& options, bool verbose = false);

}  // namespace duewheel
