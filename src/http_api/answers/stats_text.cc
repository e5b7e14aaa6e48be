#include "http_api/answers/stats_text.h"

#include "http_api/fields/json_response.h"

namespace duewheel {

void write_queue(JsonWriter& json, const QueueCounters& queue, bool is_whole) {
    json.open();
    if (queue.name.name_space != kDefaultNamespace) json.text("namespace", queue.name.name_space);
    json.text("queue", queue.name.queue).number("pending", queue.pending).number("ready", queue.ready);
    json.number("leased", queue.leased);
    if (is_whole) json.number("waiters", queue.waiters);
    json.number("dead", queue.dead).boolean("paused", queue.paused);
    if (is_whole) json.boolean("backlog_on_disk", queue.backlog_on_disk);
    if (queue.oldest_due_ms != 0) json.number("oldest_due_ms", queue.oldest_due_ms);
    json.close();
}

HttpResponse stats_text(const ServerFacts& server, const EngineCounters& counters, const QueueSums& sums,
                        const std::vector<QueueCounters>& queues, const DeliveryLevels& recent) {
    return json_response(200, [&](JsonWriter& json) {
        json.open();
        json.text("instance", server.instance).text("version", server.version);
        json.number("server_time_ms", counters.server_time_ms);
        json.number("pending", counters.pending).number("ready", counters.ready).number("leased", counters.leased);
        json.number("waiters", counters.waiters).number("dead_letters", sums.dead);
        json.number("accepted", counters.accepted)
            .number("delivered", counters.delivered)
            .number("done", counters.acknowledged)
            .number("failed", counters.failed);
        json.number("cancelled", counters.cancelled).number("expired", counters.expired);
        json.number("rescheduled", counters.rescheduled).number("leases_lost", counters.leases_expired);
        json.number("dead", counters.dead_lettered).number("held", counters.held).number("requeued", counters.requeued);
        json.number("prepared", counters.prepared).number("committed", counters.committed);
        json.number("rolled_back", counters.rolled_back).number("unanswered", counters.unanswered);
        json.number("checks", counters.checks).number("commits", counters.commits);
        json.number("in_memory", counters.in_memory).number("unsealed_segments", counters.unsealed_segments);
        json.boolean("puts_stalled", counters.puts_stalled).number("disk_free_bytes", server.disk_free_bytes);
        const auto& [lateness, wait] = recent;
        json.number("lateness_p50_ms", lateness.p50_ms).number("lateness_p99_ms", lateness.p99_ms);
        json.number("lateness_max_ms", lateness.max_ms);
        json.number("wait_p50_ms", wait.p50_ms).number("wait_p99_ms", wait.p99_ms).number("wait_max_ms", wait.max_ms);
        json.number("queue_count", counters.queues).open_array("queues");
        for (const QueueCounters& queue : queues) write_queue(json, queue, true);
        json.close_array();
        if (!server.kafka.empty()) json.json("kafka", server.kafka);
        json.close();
    });
}

}  // namespace duewheel
