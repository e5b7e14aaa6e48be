// The Prometheus page: what the engine, the log, the HTTP server and the blocking steps have counted, and the
// limits (server/limit.h).
//
// Names begin with duewheel_, units are base units and stand in the name. Labels never carry what a client chooses
// freely without a bound.
#pragma once

#include <string>

#include "net/http_limits.h"
#include "server/server_options.h"
#include "server/shard.h"

namespace duewheel {

std::string metrics_page(const ServerOptions& options, const Shard& shard, const HttpCounters& http);

}  // namespace duewheel
