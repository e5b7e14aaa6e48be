// Writes replies of the engine as HTTP answers. Shapes: docs/http_api.md.
#pragma once

#include <vector>

#include "engine/command.h"
#include "engine/engine.h"
#include "net/http_message.h"

namespace duewheel {

HttpResponse answer_text(const Reply& reply);
HttpResponse stats_text(const EngineCounters& counters, const std::vector<Engine::QueueCounters>& queues,
                        const LatenessLevels& lateness);

}  // namespace duewheel
