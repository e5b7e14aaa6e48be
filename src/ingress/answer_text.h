// Writes replies of the engine as HTTP responses. Their forms are in docs/http_api.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/command.h"
#include "engine/engine_counters.h"
#include "engine/lateness.h"
#include "net/http_message.h"

namespace duewheel {

HttpResponse answer_text(const Reply& reply);
// The problem document of a command that came too late (late_outcome.h), with the members of its reply.
HttpResponse late_refusal_text(const Error& refusal, const Reply& reply);
// Of a request with many parts, each with its status: for puts one JSON line each, otherwise an array of results.
HttpResponse batch_text(const std::vector<Reply>& parts, bool of_puts);
// What the engine does not know of the server.
struct ServerFacts {
    std::string_view instance;
    std::string_view version;
    std::uint64_t disk_free_bytes = 0;
    std::string_view kafka;  // a JSON object; empty: no Kafka
};
HttpResponse stats_text(const ServerFacts& server, const EngineCounters& counters, const QueueSums& sums,
                        const std::vector<QueueCounters>& queues, const LatenessLevels& lateness);

}  // namespace duewheel
