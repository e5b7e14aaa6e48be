// The statistics of a server as one JSON object: /v1/stats, and the events of the dashboard. Their form is in
// docs/http_api.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "engine/commands/lateness.h"
#include "engine/core/engine_counters.h"
#include "net/http/http_message.h"

namespace duewheel {

// What the engine does not know of the server.
struct ServerFacts {
    std::string_view instance;
    std::string_view version;
    std::uint64_t disk_free_bytes = 0;
    std::string_view kafka;  // a JSON object; empty: no Kafka
};
// One of the queues; an event of changed queues has the members that the dashboard's tables show.
void write_queue(JsonWriter& json, const QueueCounters& queue, bool is_whole);

HttpResponse stats_text(const ServerFacts& server, const EngineCounters& counters, const QueueSums& sums,
                        const std::vector<QueueCounters>& queues, const DeliveryLevels& recent);

}  // namespace duewheel
