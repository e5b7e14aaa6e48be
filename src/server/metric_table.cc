#include "server/metric_table.h"

#include <algorithm>
#include <vector>

namespace duewheel {
namespace {

using From = const MetricSources&;

constexpr ServerMetric kServerMetrics[] = {
    {{"duewheel_messages_pending", MetricType::gauge, "",
      "Messages that have not ended: scheduled, ready, leased, waiting for a retry, held, or prepared in a "
      "transaction."},
     [](From from) { return MetricValue(from.engine.pending); }},
    {{"duewheel_messages_ready", MetricType::gauge, "",
      "Due messages in memory that no consumer has yet; further due messages of a long queue are on disk."},
     [](From from) { return MetricValue(from.engine.ready); }},
    {{"duewheel_messages_leased", MetricType::gauge, "",
      "Messages that are leased to a consumer or being posted to a webhook."},
     [](From from) { return MetricValue(from.engine.leased); }},
    {{"duewheel_messages_held", MetricType::gauge, "", "Messages that are held until they are kicked."},
     [](From from) { return MetricValue(from.queues.held); }},
    {{"duewheel_messages_prepared", MetricType::gauge, "",
      "Messages of transactions that are neither committed nor rolled back."},
     [](From from) { return MetricValue(from.queues.prepared); }},
    {{"duewheel_dead_letters", MetricType::gauge, "", "Dead letters that are kept."},
     [](From from) { return MetricValue(from.queues.dead); }},
    {{"duewheel_consumers_waiting", MetricType::gauge, "", "Lease requests that wait for a message."},
     [](From from) { return MetricValue(from.engine.waiters); }},
    {{"duewheel_queues", MetricType::gauge, "", "Queues that exist."},
     [](From from) { return MetricValue(from.engine.queues); }},
    {{"duewheel_queues_with_settings", MetricType::gauge, "", "Queues that have settings."},
     [](From from) { return MetricValue(from.queues.with_settings); }},
    {{"duewheel_messages_accepted_total", MetricType::counter, "",
      "Messages put by clients, those of transactions included."},
     [](From from) { return MetricValue(from.engine.accepted); }},
    {{"duewheel_messages_generated_total", MetricType::counter, "",
      "Messages created by recurring messages, schedules and watchdogs."},
     [](From from) { return MetricValue(from.engine.spawned); }},
    {{"duewheel_messages_became_ready_total", MetricType::counter, "", "Times a message became ready for a consumer."},
     [](From from) { return MetricValue(from.engine.fired); }},
    {{"duewheel_messages_delivered_total", MetricType::counter, "",
      "Deliveries: times a message was leased to a consumer or taken to be posted to a webhook."},
     [](From from) { return MetricValue(from.engine.delivered); }},
    {{"duewheel_messages_acknowledged_total", MetricType::counter, "", "Messages that a consumer acknowledged."},
     [](From from) { return MetricValue(from.engine.done); }},
    {{"duewheel_deliveries_failed_total", MetricType::counter, "",
      "Deliveries that a consumer or webhook reported as failed."},
     [](From from) { return MetricValue(from.engine.failed); }},
    {{"duewheel_leases_expired_total", MetricType::counter, "", "Leases that ran out before the consumer ended them."},
     [](From from) { return MetricValue(from.engine.leases_lost); }},
    {{"duewheel_messages_dead_lettered_total", MetricType::counter, "",
      "Times a message became a dead letter because its attempts were used up."},
     [](From from) { return MetricValue(from.engine.dead); }},
    {{"duewheel_messages_expired_total", MetricType::counter, "", "Messages that expired before a consumer took them."},
     [](From from) { return MetricValue(from.engine.expired); }},
    {{"duewheel_messages_cancelled_total", MetricType::counter, "", "Messages that were cancelled."},
     [](From from) { return MetricValue(from.engine.cancelled); }},
    {{"duewheel_messages_rescheduled_total", MetricType::counter, "", "Times a message was moved to another due time."},
     [](From from) { return MetricValue(from.engine.rescheduled); }},
    {{"duewheel_message_holds_total", MetricType::counter, "", "Times a message was held."},
     [](From from) { return MetricValue(from.engine.held); }},
    {{"duewheel_messages_requeued_total", MetricType::counter, "",
      "Held messages and dead letters that were returned to their queue, by kick or redrive."},
     [](From from) { return MetricValue(from.engine.requeued); }},
    {{"duewheel_messages_purged_total", MetricType::counter, "", "Messages ended by a purge of their queue."},
     [](From from) { return MetricValue(from.engine.purged); }},
    {{"duewheel_dead_letters_discarded_total", MetricType::counter, "",
      "Dead letters that were discarded by a request."},
     [](From from) { return MetricValue(from.engine.discarded); }},
    {{"duewheel_dead_letters_expired_total", MetricType::counter, "",
      "Dead letters that expired at the end of their retention."},
     [](From from) { return MetricValue(from.engine.let_go); }},
    {{"duewheel_messages_listed_total", MetricType::counter, "", "Messages returned in listings."},
     [](From from) { return MetricValue(from.engine.listed); }},
    {{"duewheel_transaction_messages_prepared_total", MetricType::counter, "", "Messages put in a transaction."},
     [](From from) { return MetricValue(from.engine.prepared); }},
    {{"duewheel_transaction_messages_committed_total", MetricType::counter, "",
      "Messages of transactions that were committed."},
     [](From from) { return MetricValue(from.engine.committed); }},
    {{"duewheel_transaction_messages_rolled_back_total", MetricType::counter, "",
      "Messages of transactions that were rolled back."},
     [](From from) { return MetricValue(from.engine.rolled_back); }},
    {{"duewheel_transaction_messages_defaulted_total", MetricType::counter, "",
      "Of the two above, messages that were settled by their default because the producer did not answer."},
     [](From from) { return MetricValue(from.engine.unanswered); }},
    {{"duewheel_transaction_checks_total", MetricType::counter, "",
      "Check messages that ask a producer for the outcome of a prepared message."},
     [](From from) { return MetricValue(from.engine.checks); }},
    {{"duewheel_schedules", MetricType::gauge, "", "Schedules; the first 100 by name have series of their own."},
     [](From from) { return MetricValue(from.engine.schedules); }},
    {{"duewheel_schedules_runs_total", MetricType::counter, "",
      "Runs that schedules made by their rules, of all schedules."},
     [](From from) { return MetricValue(from.engine.schedule_runs); }},
    {{"duewheel_schedules_late_runs_total", MetricType::counter, "",
      "Of these runs, those made up for after their time was missed."},
     [](From from) { return MetricValue(from.engine.schedule_runs_late); }},
    {{"duewheel_schedules_manual_runs_total", MetricType::counter, "", "Runs of schedules that a request fired."},
     [](From from) { return MetricValue(from.engine.schedule_manual_runs); }},
    {{"duewheel_schedules_skipped_times_total", MetricType::counter, "",
      "Scheduled times for which no run was made, of all schedules."},
     [](From from) { return MetricValue(from.engine.schedule_times_skipped); }},
    {{"duewheel_schedules_merged_times_total", MetricType::counter, "",
      "Scheduled times that were merged into another run, of all schedules."},
     [](From from) { return MetricValue(from.engine.schedule_times_merged); }},
    {{"duewheel_watchdogs", MetricType::gauge, "", "Watchdogs."},
     [](From from) { return MetricValue(from.engine.watchdogs); }},
    {{"duewheel_watchdog_feeds_total", MetricType::counter, "",
      "Times watchdogs were fed; setting one up counts as one."},
     [](From from) { return MetricValue(from.engine.watchdog_feeds); }},
    {{"duewheel_watchdog_late_feeds_total", MetricType::counter, "",
      "Of these feeds, those that came when the watchdog was due or had fired."},
     [](From from) { return MetricValue(from.engine.watchdog_feeds_late); }},
    {{"duewheel_watchdog_firings_total", MetricType::counter, "",
      "Messages that watchdogs created because they were not fed in time."},
     [](From from) { return MetricValue(from.engine.watchdog_firings); }},
    {{"duewheel_namespaces_with_settings", MetricType::gauge, "",
      "Namespaces that have settings; the first 100 by name have series of their own."},
     [](From from) { return MetricValue(from.engine.namespaces); }},
    {{"duewheel_namespace_quota_refusals_total", MetricType::counter, "",
      "Requests refused because a limit of their namespace was reached."},
     [](From from) { return MetricValue(from.engine.quota_refusals); }},
    {{"duewheel_requests_waiting", MetricType::gauge, "",
      "Requests that change something and wait to be written to the log."},
     [](From from) { return MetricValue(from.engine.commands_waiting); }},
    {{"duewheel_requests_deferred_total", MetricType::counter, "",
      "Requests that waited for another request about the same message."},
     [](From from) { return MetricValue(from.engine.deferred); }},
    {{"duewheel_puts_stalled", MetricType::gauge, "",
      "1 while puts wait because log segments are not indexed or prepared fast enough."},
     [](From from) { return MetricValue(from.engine.puts_stalled); }},
    {{"duewheel_store_full", MetricType::gauge, "", "1 while puts are refused because the disk is nearly full."},
     [](From from) { return MetricValue(from.engine.space != LogSpace::enough); }},
    {{"duewheel_store_reserve_only", MetricType::gauge, "",
      "1 while only the log's reserve is left, and requests that end no message are refused too."},
     [](From from) { return MetricValue(from.engine.space >= LogSpace::reserve); }},
    {{"duewheel_puts_refused_disk_full_total", MetricType::counter, "",
      "Puts refused because the disk was nearly full."},
     [](From from) { return MetricValue(from.engine.refused_full); }},
    {{"duewheel_changes_refused_disk_full_total", MetricType::counter, "",
      "Other requests refused because the disk was full."},
     [](From from) { return MetricValue(from.engine.changes_refused_full); }},
    {{"duewheel_disk_free_bytes", MetricType::gauge, "",
      "Free space on the file system of the data directory, when last measured."},
     [](From from) { return MetricValue(from.parts().space().seen().free_bytes); }},
    {{"duewheel_log_commits_total", MetricType::counter, "", "Commits: writes to the log that were synced to disk."},
     [](From from) { return MetricValue(from.engine.commits); }},
    {{"duewheel_log_records_total", MetricType::counter, "", "Records in these commits."},
     [](From from) { return MetricValue(from.engine.records); }},
    {{"duewheel_log_sequence", MetricType::gauge, "", "Sequence number of the newest record in the log."},
     [](From from) { return MetricValue(from.parts().engine().totals().sequence); }},
    {{"duewheel_log_bytes", MetricType::gauge, "", "Size of the log on disk, spare segments included."},
     [](From from) { return MetricValue(from.parts().journal().bytes_on_disk()); }},
    {{"duewheel_log_live_bytes", MetricType::gauge, "",
      "Bytes of the log that are still needed, by messages, dead letters, settings and schedules."},
     [](From from) { return MetricValue(from.parts().engine().totals().needed_bytes); }},
    {{"duewheel_log_outcome_bytes", MetricType::gauge, "",
      "Bytes of the log that are needed only for the outcomes of ended messages, approximately."},
     [](From from) { return MetricValue(from.parts().index().outcome_bytes()); }},
    {{"duewheel_log_spare_segments", MetricType::gauge, "", "Spare segments of the log that are ready for use."},
     [](From from) { return MetricValue(std::uint64_t{from.parts().journal().ready_spares()}); }},
    {{"duewheel_log_unindexed_segments", MetricType::gauge, "",
      "Full segments of the log that are not in the index yet."},
     [](From from) { return MetricValue(from.engine.unsealed_segments); }},
    {{"duewheel_log_deleted_segments_total", MetricType::counter, "",
      "Segments of the log deleted because nothing in them was needed."},
     [](From from) { return MetricValue(from.shard.cleaning().segments_dropped()); }},
    {{"duewheel_log_compaction_running", MetricType::gauge, "",
      "1 while compaction rewrites what old segments still hold."},
     [](From from) { return MetricValue(from.shard.cleaning().is_at_work()); }},
    {{"duewheel_log_compacted_bytes_total", MetricType::counter, "",
      "Bytes that compaction has rewritten, approximately."},
     [](From from) { return MetricValue(from.shard.cleaning().relocated_bytes()); }},
    {{"duewheel_messages_relocated_total", MetricType::counter, "", "Messages that compaction has rewritten."},
     [](From from) { return MetricValue(from.engine.relocated); }},
    {{"duewheel_index_bytes", MetricType::gauge, "", "Size of the index on disk."},
     [](From from) { return MetricValue(from.parts().index().bytes()); }},
    {{"duewheel_store_lookups_total", MetricType::counter, "", "Reads of the index and the log."},
     [](From from) { return MetricValue(from.engine.lookups); }},
    {{"duewheel_store_lookups_outdated_total", MetricType::counter, "",
      "Reads whose result was outdated when it came, and that were repeated where needed."},
     [](From from) { return MetricValue(from.engine.stale_answers); }},
    {{"duewheel_messages_in_memory", MetricType::gauge, "",
      "Messages with an entry in memory: those due soon, and those not indexed yet."},
     [](From from) { return MetricValue(from.engine.in_memory); }},
    {{"duewheel_message_memory_bytes", MetricType::gauge, "",
      "Memory used by these entries, their timers and the body cache."},
     [](From from) { return MetricValue(from.engine.memory_bytes); }},
    {{"duewheel_body_cache_bytes", MetricType::gauge, "", "Bodies cached in memory for messages that are due soon."},
     [](From from) { return MetricValue(from.engine.cached_bytes); }},
    {{"duewheel_messages_loaded_total", MetricType::counter, "", "Messages loaded from the index into memory."},
     [](From from) { return MetricValue(from.engine.loaded); }},
    {{"duewheel_messages_evicted_total", MetricType::counter, "",
      "Due messages left on disk because their queue has the maximum number in memory."},
     [](From from) { return MetricValue(from.engine.evicted); }},
    {{"duewheel_order_keys_in_memory", MetricType::gauge, "",
      "Order keys that have a message in memory or one that waits for its turn."},
     [](From from) { return MetricValue(from.engine.order_lines); }},
    {{"duewheel_loaded_until_timestamp_seconds", MetricType::gauge, "",
      "Messages due before this server time are in memory, Unix time."},
     [](From from) { return MetricValue::of_milliseconds(from.engine.loaded_until_ms); }},
    {{"duewheel_server_time_seconds", MetricType::gauge, "", "Server time, Unix time."},
     [](From from) { return MetricValue::of_milliseconds(from.clock.server_ms); }},
    {{"duewheel_clock_ahead_seconds", MetricType::gauge, "",
      "How far the wall clock is ahead of server time; negative if it is behind."},
     [](From from) { return MetricValue::of_milliseconds(from.clock.ahead_ms()); }},
    {{"duewheel_clock_jumps_total", MetricType::counter, "",
      "Jumps of server time to the wall clock, or by a test clock that was advanced."},
     [](From from) { return MetricValue(from.clock.jumps); }},
    {{"duewheel_audit_log_available", MetricType::gauge, "",
      "1 if the audit log can be written. 0 if it cannot, and administrative requests are refused, or if it is "
      "disabled."},
     [](From from) { return MetricValue(from.audit.is_available); }},
    {{"duewheel_audit_lines_total", MetricType::counter, "", "Lines written to the audit log."},
     [](From from) { return MetricValue(from.audit.lines); }},
    {{"duewheel_audit_refusals_suppressed_total", MetricType::counter, "",
      "Refusals of access that have no line of their own in the audit log because there were too many."},
     [](From from) { return MetricValue(from.audit.refusals_suppressed); }},
    {{"duewheel_webhook_queues", MetricType::gauge, "", "Queues whose messages are posted to a webhook."},
     [](From from) { return MetricValue(from.webhooks.targets); }},
    {{"duewheel_webhook_targets_backing_off", MetricType::gauge, "",
      "Webhook targets that failed repeatedly and are retried with growing pauses."},
     [](From from) { return MetricValue(from.webhooks.targets_open); }},
    {{"duewheel_webhook_requests_in_flight", MetricType::gauge, "",
      "Requests to webhooks that have no complete response yet."},
     [](From from) { return MetricValue(from.webhooks.in_flight); }},
    {{"duewheel_webhook_requests_total", MetricType::counter, "", "Requests sent to webhooks."},
     [](From from) { return MetricValue(from.webhooks.posted); }},
    {{"duewheel_webhook_successes_total", MetricType::counter, "",
      "Requests to webhooks that were answered with a 2xx status."},
     [](From from) { return MetricValue(from.webhooks.delivered); }},
    {{"duewheel_webhook_error_responses_total", MetricType::counter, "",
      "Requests to webhooks that were answered with another status."},
     [](From from) { return MetricValue(from.webhooks.refused); }},
    {{"duewheel_webhook_response_failures_total", MetricType::counter, "",
      "Requests to webhooks without a complete response in time."},
     [](From from) { return MetricValue(from.webhooks.no_answer); }},
    {{"duewheel_webhook_connection_failures_total", MetricType::counter, "",
      "Requests that were not sent because the target could not be reached or its certificate was refused."},
     [](From from) { return MetricValue(from.webhooks.not_sent); }},
    {{"duewheel_webhook_forbidden_addresses_total", MetricType::counter, "",
      "Of these, requests to an address that the server may not connect to."},
     [](From from) { return MetricValue(from.webhooks.forbidden); }},
    {{"duewheel_webhook_messages_returned_total", MetricType::counter, "",
      "Messages taken to be posted and returned to their queue unsent."},
     [](From from) { return MetricValue(from.webhooks.released); }},
    {{"duewheel_webhook_late_responses_total", MetricType::counter, "",
      "Responses that came after the lease had ended, so that the message is posted again."},
     [](From from) { return MetricValue(from.webhooks.ended_late); }},
    {{"duewheel_webhook_backoffs_total", MetricType::counter, "",
      "Times a webhook target was paused after repeated failures."},
     [](From from) { return MetricValue(from.webhooks.breakers_opened); }},
    {{"duewheel_webhook_targets_gone_total", MetricType::counter, "",
      "Queues paused because their target answered 410 Gone."},
     [](From from) { return MetricValue(from.webhooks.targets_gone); }},
    {{"duewheel_http_open_connections", MetricType::gauge, "", "Open HTTP connections."},
     [](From from) { return MetricValue(from.http.connections_open); }},
    {{"duewheel_http_connections_accepted_total", MetricType::counter, "", "HTTP connections accepted."},
     [](From from) { return MetricValue(from.http.connections_accepted); }},
    {{"duewheel_http_requests_total", MetricType::counter, "", "HTTP requests handled."},
     [](From from) { return MetricValue(from.http.requests); }},
    {{"duewheel_http_received_bytes_total", MetricType::counter, "", "Bytes received over HTTP."},
     [](From from) { return MetricValue(from.http.bytes_in); }},
    {{"duewheel_http_sent_bytes_total", MetricType::counter, "", "Bytes sent over HTTP."},
     [](From from) { return MetricValue(from.http.bytes_out); }},
    {{"duewheel_http_malformed_requests_total", MetricType::counter, "",
      "Requests refused because they are not valid HTTP."},
     [](From from) { return MetricValue(from.http.refused_malformed); }},
    {{"duewheel_http_too_large_requests_total", MetricType::counter, "",
      "Requests refused because they exceed a size limit."},
     [](From from) { return MetricValue(from.http.refused_too_large); }},
    {{"duewheel_http_overload_refusals_total", MetricType::counter, "",
      "Requests refused because the server had too much to do."},
     [](From from) { return MetricValue(from.http.refused_overload); }},
    {{"duewheel_http_timeouts_total", MetricType::counter, "",
      "Connections closed because the client was slow or idle."},
     [](From from) {
         return MetricValue(from.http.timeouts_header + from.http.timeouts_body + from.http.timeouts_idle +
                            from.http.timeouts_write);
     }},
    {{"duewheel_http_accept_pauses_total", MetricType::counter, "",
      "Times the server stopped accepting connections because a limit was reached."},
     [](From from) { return MetricValue(from.http.accept_pauses); }},
};

constexpr ProcessMetric kProcessMetrics[] = {
    {{"process_cpu_seconds_total", MetricType::counter, "", "Total user and system CPU time, in seconds."},
     [](const ProcessStats& process) { return MetricValue::of_microseconds(process.cpu_us); }},
    {{"process_resident_memory_bytes", MetricType::gauge, "", "Resident memory size in bytes."},
     [](const ProcessStats& process) { return MetricValue(process.resident_bytes); }},
    {{"process_virtual_memory_bytes", MetricType::gauge, "", "Virtual memory size in bytes."},
     [](const ProcessStats& process) { return MetricValue(process.virtual_bytes); }},
    {{"process_open_fds", MetricType::gauge, "", "Number of open file descriptors."},
     [](const ProcessStats& process) { return MetricValue(process.open_fds); }},
    {{"process_max_fds", MetricType::gauge, "", "Maximum number of open file descriptors."},
     [](const ProcessStats& process) { return MetricValue(process.max_fds); }},
    {{"process_threads", MetricType::gauge, "", "Number of threads."},
     [](const ProcessStats& process) { return MetricValue(process.threads); }},
    {{"process_start_time_seconds", MetricType::gauge, "",
      "Start time of the process since the Unix epoch, in seconds."},
     [](const ProcessStats& process) { return MetricValue::of_milliseconds(process.start_ms); }},
};

constexpr QueueMetric kQueueMetrics[] = {
    {{"duewheel_queue_pending", MetricType::gauge, "namespace, queue", "Messages of the queue that have not ended."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.pending); }},
    {{"duewheel_queue_ready", MetricType::gauge, "namespace, queue",
      "Due messages of the queue in memory that no consumer has yet; further ones of a long queue are on disk."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.ready); }},
    {{"duewheel_queue_leased", MetricType::gauge, "namespace, queue",
      "Messages of the queue that are leased to a consumer or being posted to a webhook."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.leased); }},
    {{"duewheel_queue_dead_letters", MetricType::gauge, "namespace, queue", "Dead letters that the queue keeps."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.dead); }},
    {{"duewheel_queue_oldest_due_age_seconds", MetricType::gauge, "namespace, queue",
      "Time since the due time of the oldest message that is due and has not ended; 0 if none is due."},
     [](const QueueSnapshot& queue) {
         return MetricValue::of_milliseconds(
             queue.counters.oldest_due_ms == 0 ? 0 : std::max<DueMs>(0, queue.now_ms - queue.counters.oldest_due_ms));
     }},
    {{"duewheel_queue_consumers_waiting", MetricType::gauge, "namespace, queue",
      "Lease requests that wait for a message of the queue."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.waiters); }},
    {{"duewheel_queue_paused", MetricType::gauge, "namespace, queue",
      "1 while the queue is paused; always 0 for the other queues."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.counters.paused); }},
    {{"duewheel_queue_messages_received_total", MetricType::counter, "namespace, queue",
      "Messages that entered the queue: put by clients, or created by recurring messages, schedules and watchdogs."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.received); }},
    {{"duewheel_queue_messages_delivered_total", MetricType::counter, "namespace, queue",
      "Deliveries of messages of the queue."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.delivered); }},
    {{"duewheel_queue_messages_acknowledged_total", MetricType::counter, "namespace, queue",
      "Messages of the queue that a consumer acknowledged."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.acknowledged); }},
    {{"duewheel_queue_deliveries_failed_total", MetricType::counter, "namespace, queue",
      "Deliveries that a consumer or webhook reported as failed."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.failed); }},
    {{"duewheel_queue_leases_expired_total", MetricType::counter, "namespace, queue",
      "Leases that ran out before the consumer ended them."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.leases_expired); }},
    {{"duewheel_queue_messages_dead_lettered_total", MetricType::counter, "namespace, queue",
      "Times a message of the queue became a dead letter because its attempts were used up."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.dead_lettered); }},
    {{"duewheel_queue_messages_expired_total", MetricType::counter, "namespace, queue",
      "Messages of the queue that expired before a consumer took them."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.expired); }},
    {{"duewheel_queue_messages_cancelled_total", MetricType::counter, "namespace, queue",
      "Messages of the queue that were cancelled."},
     [](const QueueSnapshot& queue) { return MetricValue(queue.totals.cancelled); }},
};

constexpr ScheduleMetric kScheduleMetrics[] = {
    {{"duewheel_schedule_runs_total", MetricType::counter, "namespace, schedule",
      "Runs that the schedule made by its rule, since it was set."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.made); }},
    {{"duewheel_schedule_late_runs_total", MetricType::counter, "namespace, schedule",
      "Of these runs, those made up for after their time was missed."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.late); }},
    {{"duewheel_schedule_manual_runs_total", MetricType::counter, "namespace, schedule",
      "Runs of the schedule that a request fired, since it was set."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.fired); }},
    {{"duewheel_schedule_skipped_times_total", MetricType::counter, "namespace, schedule",
      "Scheduled times for which no run was made."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.skipped); }},
    {{"duewheel_schedule_merged_times_total", MetricType::counter, "namespace, schedule",
      "Scheduled times that were merged into another run."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.merged); }},
    {{"duewheel_schedule_next_run_timestamp_seconds", MetricType::gauge, "namespace, schedule",
      "Next scheduled time, Unix time; 0 if there is none."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue::of_milliseconds(schedule.next_ms); }},
    {{"duewheel_schedule_paused", MetricType::gauge, "namespace, schedule", "1 while the schedule is paused."},
     [](const Engine::ScheduleCounters& schedule) { return MetricValue(schedule.paused); }},
};

constexpr NamespaceMetric kNamespaceMetrics[] = {
    {{{"duewheel_namespace_pending", MetricType::gauge, "namespace", "Messages of the namespace that have not ended."},
      [](const NamespaceAnswer& space) { return MetricValue(space.pending); }},
     false},
    {{{"duewheel_namespace_pending_limit", MetricType::gauge, "namespace",
       "Limit on messages of the namespace that have not ended; absent if there is none."},
      [](const NamespaceAnswer& space) { return MetricValue(space.settings.pending_max); }},
     true},
    {{{"duewheel_namespace_queues", MetricType::gauge, "namespace", "Queues of the namespace."},
      [](const NamespaceAnswer& space) { return MetricValue(space.queues); }},
     false},
    {{{"duewheel_namespace_queues_limit", MetricType::gauge, "namespace",
       "Limit on queues of the namespace; absent if there is none."},
      [](const NamespaceAnswer& space) { return MetricValue(space.settings.queues_max); }},
     true},
};

const Histogram& webhook_times(From from) {
    static const Histogram kNone;
    return from.shard.pusher() != nullptr ? from.shard.pusher()->post_us() : kNone;
}

constexpr HistogramMetric kHistogramMetrics[] = {
    {{"duewheel_lateness_seconds", MetricType::histogram, "",
      "How late messages were delivered: from when a message was due, or accepted if that was later, until its "
      "delivery."},
     [](From from) -> const Histogram& { return from.shard.delivery_lateness().all_us(); },
     500},
    {{"duewheel_commit_duration_seconds", MetricType::histogram, "", "Time to write a commit to the log and sync it."},
     [](From from) -> const Histogram& { return from.shard.times().commit_us; },
     100},
    {{"duewheel_store_lookup_duration_seconds", MetricType::histogram, "", "Time of reads of the index and the log."},
     [](From from) -> const Histogram& { return from.shard.times().read_us; },
     100},
    {{"duewheel_index_build_duration_seconds", MetricType::histogram, "", "Time to index a full segment of the log."},
     [](From from) -> const Histogram& { return from.shard.times().seal_us; },
     100},
    {{"duewheel_webhook_request_duration_seconds", MetricType::histogram, "",
      "Time from sending a request to a webhook to the end of its response."},
     webhook_times,
     100},
};

template <class Rows>
void add(std::vector<Metric>& all, const Rows& rows) {
    for (const auto& row : rows) all.push_back(row.metric);
}

}  // namespace

std::span<const ServerMetric> server_metrics() {
    return kServerMetrics;
}

std::span<const ProcessMetric> process_metrics() {
    return kProcessMetrics;
}

std::span<const QueueMetric> queue_metrics() {
    return kQueueMetrics;
}

std::span<const ScheduleMetric> schedule_metrics() {
    return kScheduleMetrics;
}

std::span<const NamespaceMetric> namespace_metrics() {
    return kNamespaceMetrics;
}

std::span<const HistogramMetric> histogram_metrics() {
    return kHistogramMetrics;
}

std::vector<Metric> all_metrics() {
    std::vector<Metric> all;
    add(all, kServerMetrics);
    add(all, kQueueMetrics);
    for (const NamespaceMetric& row : kNamespaceMetrics) all.push_back(row.of.metric);
    add(all, kScheduleMetrics);
    add(all, kHistogramMetrics);
    all.insert(all.end(),
               {kClockState, kAuthRefusals, kTlsHandshakes, kCertificateExpiry, kLimit, kLimitUse, kBuildInfo});
    add(all, kProcessMetrics);
    return all;
}

std::string metrics_table() {
    std::string text = "| metric | type | labels | meaning |\n|---|---|---|---|\n";
    for (const Metric& metric : all_metrics()) {
        text.append("| `").append(metric.name).append("` | ").append(metric_type_name(metric.type)).append(" | ");
        text.append(metric.labels).append(metric.labels.empty() ? "| " : " | ").append(metric.help).append(" |\n");
    }
    return text;
}

}  // namespace duewheel
