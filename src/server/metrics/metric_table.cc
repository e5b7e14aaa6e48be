#include "server/metrics/metric_table.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace duewheel {
namespace {

using From = const MetricSources&;

// The value of a member of the source, or of a member of that, and so on.
template <class Source, auto... Path>
MetricValue value_of(const Source& from) {
    return MetricValue((from.*....*Path));
}
template <auto... Path>
constexpr auto of = value_of<MetricSources, Path...>;
template <auto Member>
constexpr auto of_engine = of<&MetricSources::engine, Member>;
template <auto Member>
constexpr auto of_webhooks = of<&MetricSources::webhooks, Member>;
template <auto... Path>
constexpr auto of_kafka = of<&MetricSources::kafka, Path...>;
template <auto... Path>
constexpr auto of_kafka_out = of_kafka<&KafkaCounters::sent, Path...>;
template <auto Member>
constexpr auto of_exactly_once = of_kafka_out<&KafkaOutCounters::exactly_once, Member>;
template <auto Member>
constexpr auto of_kafka_in = of_kafka<&KafkaCounters::received, Member>;
template <auto... Path>
constexpr auto of_log = of<&MetricSources::kafka_log, Path...>;
template <auto Member>
constexpr auto of_http = of<&MetricSources::http, Member>;

constexpr ServerMetric kServerMetrics[] = {
    {{"duewheel_messages_pending",
      "Messages that have not ended: scheduled, ready, leased, waiting for a retry, held, or prepared in a "
      "transaction."},
     of_engine<&EngineCounters::pending>},
    {{"duewheel_messages_ready",
      "Due messages in memory that no consumer has yet; further due messages of a long queue are on disk."},
     of_engine<&EngineCounters::ready>},
    {{"duewheel_messages_leased", "Messages that are leased to a consumer or being posted to a webhook."},
     of_engine<&EngineCounters::leased>},
    {{"duewheel_messages_held", "Messages that are held until they are kicked."},
     of<&MetricSources::queues, &QueueSums::held>},
    {{"duewheel_messages_prepared", "Messages of transactions that are neither committed nor rolled back."},
     of<&MetricSources::queues, &QueueSums::prepared>},
    {{"duewheel_dead_letters", "Dead letters that are kept."}, of<&MetricSources::queues, &QueueSums::dead>},
    {{"duewheel_consumers_waiting", "Lease requests that wait for a message."}, of_engine<&EngineCounters::waiters>},
    {{"duewheel_message_waits", "Requests that wait for the end of a message."},
     of_engine<&EngineCounters::message_waits>},
    {{"duewheel_queues", "Queues that exist."}, of_engine<&EngineCounters::queues>},
    {{"duewheel_queues_with_settings", "Queues that have settings."},
     of<&MetricSources::queues, &QueueSums::with_settings>},
    {{"duewheel_messages_accepted_total", "Messages put by clients, those of transactions included."},
     of_engine<&EngineCounters::accepted>},
    {{"duewheel_messages_generated_total", "Messages created by recurring messages, schedules and watchdogs."},
     of_engine<&EngineCounters::spawned>},
    {{"duewheel_messages_became_ready_total", "Times a message became ready for a consumer."},
     of_engine<&EngineCounters::fired>},
    {{"duewheel_messages_delivered_total",
      "Deliveries: times a message was leased to a consumer or taken to be posted to a webhook."},
     of_engine<&EngineCounters::delivered>},
    {{"duewheel_messages_acknowledged_total", "Messages that a consumer acknowledged."},
     of_engine<&EngineCounters::acknowledged>},
    {{"duewheel_deliveries_failed_total", "Deliveries that a consumer or webhook reported as failed."},
     of_engine<&EngineCounters::failed>},
    {{"duewheel_leases_expired_total", "Leases that ran out before the consumer ended them."},
     of_engine<&EngineCounters::leases_expired>},
    {{"duewheel_messages_dead_lettered_total",
      "Times a message became a dead letter because its attempts were used up."},
     of_engine<&EngineCounters::dead_lettered>},
    {{"duewheel_messages_expired_total", "Messages that expired before a consumer took them."},
     of_engine<&EngineCounters::expired>},
    {{"duewheel_messages_cancelled_total", "Messages that were cancelled."}, of_engine<&EngineCounters::cancelled>},
    {{"duewheel_messages_rescheduled_total", "Times a message was moved to another due time."},
     of_engine<&EngineCounters::rescheduled>},
    {{"duewheel_message_holds_total", "Times a message was held."}, of_engine<&EngineCounters::held>},
    {{"duewheel_messages_requeued_total",
      "Held messages and dead letters that were returned to their queue, by kick or redrive."},
     of_engine<&EngineCounters::requeued>},
    {{"duewheel_messages_purged_total", "Messages ended by a purge of their queue."},
     of_engine<&EngineCounters::purged>},
    {{"duewheel_dead_letters_discarded_total", "Dead letters that were discarded by a request."},
     of_engine<&EngineCounters::discarded>},
    {{"duewheel_dead_letters_expired_total", "Dead letters that expired at the end of their retention."},
     of_engine<&EngineCounters::let_go>},
    {{"duewheel_messages_listed_total", "Messages returned in listings."}, of_engine<&EngineCounters::listed>},
    {{"duewheel_transaction_messages_prepared_total", "Messages put in a transaction."},
     of_engine<&EngineCounters::prepared>},
    {{"duewheel_transaction_messages_committed_total", "Messages of transactions that were committed."},
     of_engine<&EngineCounters::committed>},
    {{"duewheel_transaction_messages_rolled_back_total", "Messages of transactions that were rolled back."},
     of_engine<&EngineCounters::rolled_back>},
    {{"duewheel_transaction_messages_defaulted_total",
      "Of the two above, messages that were settled by their default because the producer did not answer."},
     of_engine<&EngineCounters::unanswered>},
    {{"duewheel_transaction_checks_total", "Check messages that ask a producer for the outcome of a prepared message."},
     of_engine<&EngineCounters::checks>},
    {{"duewheel_schedules", "Schedules; the first 100 by name have series of their own."},
     of_engine<&EngineCounters::schedules>},
    {{"duewheel_schedules_runs_total", "Runs that schedules made by their rules, of all schedules."},
     of_engine<&EngineCounters::schedule_runs>},
    {{"duewheel_schedules_late_runs_total", "Of these runs, those made up for after their time was missed."},
     of_engine<&EngineCounters::schedule_runs_late>},
    {{"duewheel_schedules_manual_runs_total", "Runs of schedules that a request fired."},
     of_engine<&EngineCounters::schedule_manual_runs>},
    {{"duewheel_schedules_skipped_times_total", "Scheduled times for which no run was made, of all schedules."},
     of_engine<&EngineCounters::schedule_times_skipped>},
    {{"duewheel_schedules_merged_times_total", "Scheduled times that were merged into another run, of all schedules."},
     of_engine<&EngineCounters::schedule_times_merged>},
    {{"duewheel_watchdogs", "Watchdogs."}, of_engine<&EngineCounters::watchdogs>},
    {{"duewheel_watchdog_feeds_total", "Times watchdogs were fed; setting one up counts as one."},
     of_engine<&EngineCounters::watchdog_feeds>},
    {{"duewheel_watchdog_late_feeds_total", "Of these feeds, those that came when the watchdog was due or had fired."},
     of_engine<&EngineCounters::watchdog_feeds_late>},
    {{"duewheel_watchdog_firings_total", "Messages that watchdogs created because they were not fed in time."},
     of_engine<&EngineCounters::watchdog_firings>},
    {{"duewheel_namespaces_with_settings",
      "Namespaces that have settings; the first 100 by name have series of their own."},
     of_engine<&EngineCounters::namespaces>},
    {{"duewheel_namespace_quota_refusals_total", "Requests refused because a limit of their namespace was reached."},
     of_engine<&EngineCounters::quota_refusals>},
    {{"duewheel_requests_waiting", "Requests that change something and wait to be written to the log."},
     of_engine<&EngineCounters::commands_waiting>},
    {{"duewheel_requests_deferred_total", "Requests that waited for another request about the same message."},
     of_engine<&EngineCounters::deferred>},
    {{"duewheel_puts_stalled", "1 while puts wait because log segments are not indexed or prepared fast enough."},
     of_engine<&EngineCounters::puts_stalled>},
    {{"duewheel_store_full", "1 while puts are refused because the disk is nearly full."},
     [](From from) { return MetricValue(from.engine.space != LogSpace::enough); }},
    {{"duewheel_store_reserve_only",
      "1 while only the log's reserve is left, and requests that end no message are refused too."},
     [](From from) { return MetricValue(from.engine.space >= LogSpace::reserve); }},
    {{"duewheel_puts_refused_disk_full_total", "Puts refused because the disk was nearly full."},
     of_engine<&EngineCounters::refused_full>},
    {{"duewheel_changes_refused_disk_full_total", "Other requests refused because the disk was full."},
     of_engine<&EngineCounters::changes_refused_full>},
    {{"duewheel_disk_free_bytes", "Free space on the file system of the data directory, when last measured."},
     [](From from) { return MetricValue(from.parts().space().seen().free_bytes); }},
    {{"duewheel_disk_size_bytes", "Size of the file system of the data directory; 0 if it does not say."},
     [](From from) { return MetricValue(from.shard.directory_facts().volume_bytes); }},
    {{"duewheel_disk_free_floor_bytes", "Puts are refused while less space than this is free."},
     [](From from) { return MetricValue(from.parts().space().floor_bytes()); }},
    {{"duewheel_log_commits_total", "Commits: writes to the log that were synced to disk."},
     of_engine<&EngineCounters::commits>},
    {{"duewheel_log_records_total", "Records in these commits."}, of_engine<&EngineCounters::records>},
    {{"duewheel_log_sequence", "Sequence number of the newest record in the log."},
     [](From from) { return MetricValue(from.parts().engine().totals().sequence); }},
    {{"duewheel_log_bytes", "Size of the log on disk, spare segments included."},
     [](From from) { return MetricValue(from.parts().journal().bytes_on_disk()); }},
    {{"duewheel_log_live_bytes",
      "Bytes of the log that are still needed, by messages, dead letters, settings and schedules."},
     [](From from) { return MetricValue(from.parts().engine().totals().needed_bytes); }},
    {{"duewheel_log_outcome_bytes",
      "Bytes of the log that are needed only for the outcomes of ended messages, approximately."},
     [](From from) { return MetricValue(from.parts().index().outcome_bytes()); }},
    {{"duewheel_log_spare_segments", "Spare segments of the log that are ready for use."},
     [](From from) { return MetricValue(std::uint64_t{from.parts().journal().ready_spares()}); }},
    {{"duewheel_log_unindexed_segments", "Full segments of the log that are not in the index yet."},
     of_engine<&EngineCounters::unsealed_segments>},
    {{"duewheel_log_deleted_segments_total", "Segments of the log deleted because nothing in them was needed."},
     [](From from) { return MetricValue(from.shard.cleaning().segments_dropped()); }},
    {{"duewheel_log_compaction_running", "1 while compaction rewrites what old segments still hold."},
     [](From from) { return MetricValue(from.shard.cleaning().is_at_work()); }},
    {{"duewheel_log_compacted_bytes_total", "Bytes that compaction has rewritten, approximately."},
     [](From from) { return MetricValue(from.shard.cleaning().relocated_bytes()); }},
    {{"duewheel_messages_relocated_total", "Messages that compaction has rewritten."},
     of_engine<&EngineCounters::relocated>},
    {{"duewheel_index_bytes", "Size of the index on disk."},
     [](From from) { return MetricValue(from.parts().index().bytes()); }},
    {{"duewheel_store_lookups_total", "Reads of the index and the log."}, of_engine<&EngineCounters::lookups>},
    {{"duewheel_store_lookups_outdated_total",
      "Reads whose result was outdated when it came, and that were repeated where needed."},
     of_engine<&EngineCounters::stale_answers>},
    {{"duewheel_messages_in_memory", "Messages with an entry in memory: those due soon, and those not indexed yet."},
     of_engine<&EngineCounters::in_memory>},
    {{"duewheel_message_memory_bytes", "Memory used by these entries, their timers and the body cache."},
     of_engine<&EngineCounters::memory_bytes>},
    {{"duewheel_body_cache_bytes", "Bodies cached in memory for messages that are due soon or next in their queue."},
     of_engine<&EngineCounters::cached_bytes>},
    {{"duewheel_messages_loaded_total", "Messages loaded from the index into memory."},
     of_engine<&EngineCounters::loaded>},
    {{"duewheel_messages_evicted_total",
      "Due messages left on disk because their queue has the maximum number in memory."},
     of_engine<&EngineCounters::evicted>},
    {{"duewheel_order_keys_in_memory", "Order keys that have a message in memory or one that waits for its turn."},
     of_engine<&EngineCounters::order_lines>},
    {{"duewheel_loaded_until_timestamp_seconds", "Messages due before this server time are in memory, Unix time."},
     [](From from) { return MetricValue::of_milliseconds(from.engine.loaded_until_ms); }},
    {{"duewheel_server_time_seconds", "Server time, Unix time."},
     [](From from) { return MetricValue::of_milliseconds(from.clock.server_ms); }},
    {{"duewheel_clock_ahead_seconds", "How far the wall clock is ahead of server time; negative if it is behind."},
     [](From from) { return MetricValue::of_milliseconds(from.clock.ahead_ms()); }},
    {{"duewheel_clock_jumps_total", "Jumps of server time to the wall clock, or by a test clock that was advanced."},
     [](From from) { return MetricValue(from.clock.jumps); }},
    {{"duewheel_audit_lines_total", "Lines written to the audit log."},
     [](From from) { return MetricValue(from.audit.lines); }},
    {{"duewheel_audit_refusals_suppressed_total",
      "Refused requests that have no line of their own in the audit log because there were too many."},
     [](From from) { return MetricValue(from.audit.refusals_suppressed); }},
    {{"duewheel_audit_lines_removed_early_total",
      "Lines that the audit log lost before they were 90 days old, because it had its maximum size."},
     [](From from) { return MetricValue(from.audit.lines_removed_early); }},
    {{"duewheel_webhook_queues", "Queues whose messages are posted to a webhook."},
     of_webhooks<&WebhookCounters::targets>},
    {{"duewheel_webhook_targets_backing_off",
      "Webhook targets that failed repeatedly and are retried with growing pauses."},
     of_webhooks<&WebhookCounters::targets_open>},
    {{"duewheel_webhook_requests_in_flight", "Requests to webhooks that have no complete response yet."},
     of_webhooks<&WebhookCounters::in_flight>},
    {{"duewheel_webhook_requests_total", "Requests sent to webhooks."}, of_webhooks<&WebhookCounters::posted>},
    {{"duewheel_webhook_successes_total", "Requests to webhooks that were answered with a 2xx status."},
     of_webhooks<&WebhookCounters::delivered>},
    {{"duewheel_webhook_error_responses_total", "Requests to webhooks that were answered with another status."},
     of_webhooks<&WebhookCounters::refused>},
    {{"duewheel_webhook_response_failures_total", "Requests to webhooks without a complete response in time."},
     of_webhooks<&WebhookCounters::no_answer>},
    {{"duewheel_webhook_connection_failures_total",
      "Requests that were not sent because the target could not be reached or its certificate was refused."},
     of_webhooks<&WebhookCounters::not_sent>},
    {{"duewheel_webhook_forbidden_addresses_total",
      "Of these, requests to an address that the server may not connect to."},
     of_webhooks<&WebhookCounters::forbidden>},
    {{"duewheel_webhook_messages_returned_total", "Messages taken to be posted and returned to their queue unsent."},
     of_webhooks<&WebhookCounters::released>},
    {{"duewheel_webhook_late_responses_total",
      "Responses that came after the lease had ended, so that the message is posted again."},
     of_webhooks<&WebhookCounters::ended_late>},
    {{"duewheel_webhook_backoffs_total", "Times a webhook target was paused after repeated failures."},
     of_webhooks<&WebhookCounters::breakers_opened>},
    {{"duewheel_webhook_targets_gone_total", "Queues paused because their target answered 410 Gone."},
     of_webhooks<&WebhookCounters::targets_gone>},
    {{"duewheel_beanstalk_connections", "Open connections of clients of beanstalkd."},
     [](From from) { return MetricValue(from.beanstalk_connections); }},
    {{"duewheel_beanstalk_commands_total", "Commands of clients of beanstalkd."},
     [](From from) {
         return MetricValue(
             std::accumulate(from.beanstalk.commands.begin(), from.beanstalk.commands.end(), std::uint64_t{0}));
     }},
    {{"duewheel_beanstalk_job_timeouts_total",
      "Jobs that clients of beanstalkd did not delete, release or bury within their time to run."},
     [](From from) { return MetricValue(from.beanstalk.timeouts); }},
    {{"duewheel_beanstalk_other_protocol_total",
      "Connections to the listener for clients of beanstalkd that were closed because they spoke another protocol."},
     [](From from) { return MetricValue(from.beanstalk.other_protocol); }},
    {{"duewheel_kafka_queues", "Queues whose messages are sent to a Kafka topic."},
     of_kafka_out<&KafkaOutCounters::targets>},
    {{"duewheel_kafka_targets_backing_off",
      "Of these, queues whose topic failed repeatedly and is retried with growing pauses."},
     of_kafka_out<&KafkaOutCounters::targets_open>},
    {{"duewheel_kafka_messages_in_flight", "Messages that are being sent to Kafka, or whose end is not recorded yet."},
     of_kafka_out<&KafkaOutCounters::leased>},
    {{"duewheel_kafka_records_sent_total",
      "Records that Kafka has acknowledged; with exactly-once delivery, committed."},
     of_kafka_out<&KafkaOutCounters::sent>},
    {{"duewheel_kafka_records_refused_total", "Records that their topic refused, such as one that is too large."},
     of_kafka_out<&KafkaOutCounters::refused>},
    {{"duewheel_kafka_records_failed_total", "Records that were not sent because their topic could not be written."},
     of_kafka_out<&KafkaOutCounters::failed>},
    {{"duewheel_kafka_messages_returned_total", "Messages taken to be sent and returned to their queue unsent."},
     of_kafka_out<&KafkaOutCounters::given_back>},
    {{"duewheel_kafka_late_results_total", "Results that came after the lease had ended."},
     of_kafka_out<&KafkaOutCounters::ended_late>},
    {{"duewheel_kafka_transactions_total", "Transactions committed."},
     of_exactly_once<&KafkaSenderCounters::transactions>},
    {{"duewheel_kafka_transactions_aborted_total", "Transactions aborted."},
     of_exactly_once<&KafkaSenderCounters::aborts>},
    {{"duewheel_kafka_transactions_unknown_total",
      "Transactions whose outcome was unknown until it was read from the ledger."},
     of_exactly_once<&KafkaSenderCounters::unknown_commits>},
    {{"duewheel_kafka_producers_recreated_total",
      "Producers opened, including the first ones; later ones replace a producer after an error."},
     [](From from) {
         return MetricValue(from.kafka.sent.exactly_once.producers_opened +
                            from.kafka.sent.at_least_once.producers_opened);
     }},
    {{"duewheel_kafka_fenced_total",
      "Times another server with the same kafka.cluster name had taken over the transactions of this one."},
     of_exactly_once<&KafkaSenderCounters::fenced>},
    {{"duewheel_kafka_ledger_skips_total", "Messages that were not sent again because the ledger had them."},
     of_exactly_once<&KafkaSenderCounters::ledger_skips>},
    {{"duewheel_kafka_ledger_open_messages", "Messages in the ledger whose ends are not known to be durable."},
     of_exactly_once<&KafkaSenderCounters::ledger_open>},
    {{"duewheel_kafka_in_records_total", "Records taken from input topics."},
     of_kafka_in<&KafkaReaderCounters::records>},
    {{"duewheel_kafka_in_messages_total", "Messages that records of input topics became."},
     of_kafka_in<&KafkaReaderCounters::messages>},
    {{"duewheel_kafka_in_cancels_total", "Records of input topics that cancel a message."},
     of_kafka_in<&KafkaReaderCounters::cancels>},
    {{"duewheel_kafka_in_errors_total", "Records of input topics written to the errors topic."},
     of_kafka_in<&KafkaReaderCounters::errors>},
    {{"duewheel_kafka_in_retries_total", "Times records of input topics could not be taken, and were tried again."},
     of_kafka_in<&KafkaReaderCounters::refusals>},
    {{"duewheel_kafka_in_trimmed_total", "Times an input topic had deleted records that were not read yet."},
     of_kafka_in<&KafkaReaderCounters::trimmed>},
    {{"duewheel_kafka_log_epoch",
      "Offset of the claim with which the owner took the log over; greater after each takeover."},
     [](From from) { return MetricValue(static_cast<std::uint64_t>(from.kafka_log.epoch)); }},
    {{"duewheel_kafka_log_first_offset",
      "First offset that the topic of the log has: older records were deleted, because no node needs them."},
     [](From from) { return MetricValue(static_cast<std::uint64_t>(from.kafka_log.first_offset)); }},
    {{"duewheel_kafka_log_next_offset", "Offset of the next record of the log."},
     [](From from) { return MetricValue(static_cast<std::uint64_t>(from.kafka_log.counters.next_offset)); }},
    {{"duewheel_kafka_log_commits_total", "Commits that all replicas in sync have acknowledged."},
     of_log<&KafkaLogStatus::counters, &ReplicationCounters::commits>},
    {{"duewheel_kafka_log_waiting",
      "1 while no broker acknowledges commits: requests that change something are refused."},
     of_log<&KafkaLogStatus::counters, &ReplicationCounters::is_waiting>},
    {{"duewheel_kafka_log_producers_recreated_total",
      "Producers that were replaced because the outcome of an append was unknown."},
     of_log<&KafkaLogStatus::counters, &ReplicationCounters::appenders_recreated>},
    {{"duewheel_kafka_log_foreign_records_total",
      "Records of the log's topic that do not count: late copies, and those of former owners."},
     of_log<&KafkaLogStatus::counters, &ReplicationCounters::ignored>},
    {{"duewheel_kafka_log_topic_unsafe",
      "1 if the settings of the log's topic allow acknowledged messages to be lost."},
     of_log<&KafkaLogStatus::is_topic_unsafe>},
    {{"duewheel_kafka_brokers_up", "Brokers that the server is connected to."},
     of_kafka<&KafkaCounters::connections, &KafkaStatistics::brokers_up>},
    {{"duewheel_kafka_disconnects_total", "Connections that a broker or the network ended."},
     of_kafka<&KafkaCounters::connections, &KafkaStatistics::disconnects>},
    {{"duewheel_http_open_connections", "Open HTTP connections."}, of_http<&HttpCounters::connections_open>},
    {{"duewheel_http_connections_accepted_total", "HTTP connections accepted."},
     of_http<&HttpCounters::connections_accepted>},
    {{"duewheel_http_requests_total", "HTTP requests handled."}, of_http<&HttpCounters::requests>},
    {{"duewheel_http_received_bytes_total", "Bytes received over HTTP."}, of_http<&HttpCounters::bytes_in>},
    {{"duewheel_http_sent_bytes_total", "Bytes sent over HTTP."}, of_http<&HttpCounters::bytes_out>},
    {{"duewheel_http_malformed_requests_total", "Requests refused because they are not valid HTTP."},
     of_http<&HttpCounters::refused_malformed>},
    {{"duewheel_http_too_large_requests_total", "Requests refused because they exceed a size limit."},
     of_http<&HttpCounters::refused_too_large>},
    {{"duewheel_http_overload_refusals_total", "Requests refused because the server had too much to do."},
     of_http<&HttpCounters::refused_overload>},
    {{"duewheel_http_timeouts_total", "Connections closed because the client was slow or idle."},
     [](From from) {
         return MetricValue(from.http.timeouts_header + from.http.timeouts_body + from.http.timeouts_idle +
                            from.http.timeouts_write);
     }},
    {{"duewheel_http_accept_pauses_total",
      "Times the server stopped accepting connections because a limit was reached."},
     of_http<&HttpCounters::accept_pauses>},
    {{"duewheel_http_connections_evicted_total",
      "Connections without a request that were closed because the maximum number was open."},
     of_http<&HttpCounters::connections_evicted>},
    {{"duewheel_http_connections_refused_total",
      "Connections that were closed at once because their address had its share."},
     of_http<&HttpCounters::connections_refused>},
};

template <auto Member>
constexpr auto of_process = value_of<ProcessStats, Member>;

constexpr ProcessMetric kProcessMetrics[] = {
    {{"process_cpu_seconds_total", "Total user and system CPU time, in seconds."},
     [](const ProcessStats& process) { return MetricValue::of_microseconds(process.cpu_us); }},
    {{"process_resident_memory_bytes", "Resident memory size in bytes."}, of_process<&ProcessStats::resident_bytes>},
    {{"process_virtual_memory_bytes", "Virtual memory size in bytes."}, of_process<&ProcessStats::virtual_bytes>},
    {{"process_open_fds", "Number of open file descriptors."}, of_process<&ProcessStats::open_fds>},
    {{"process_max_fds", "Maximum number of open file descriptors."}, of_process<&ProcessStats::max_fds>},
    {{"process_threads", "Number of threads."}, of_process<&ProcessStats::threads>},
    {{"process_start_time_seconds", "Start time of the process since the Unix epoch, in seconds."},
     [](const ProcessStats& process) { return MetricValue::of_milliseconds(process.start_ms); }},
};

template <auto... Path>
MetricValue of_queue(const QueueSnapshot& queue) {
    return value_of<QueueCounters, Path...>(queue.counters);
}

template <auto Member>
MetricValue of_queue_time(const QueueSnapshot& queue) {
    return MetricValue::of_milliseconds(queue.counters.totals.*Member);
}

constexpr QueueMetric kQueueMetrics[] = {
    {{"duewheel_queue_pending", "Messages of the queue that have not ended."}, of_queue<&QueueCounters::pending>},
    {{"duewheel_queue_ready",
      "Due messages of the queue in memory that no consumer has yet; further ones of a long queue are on disk."},
     of_queue<&QueueCounters::ready>},
    {{"duewheel_queue_leased", "Messages of the queue that are leased to a consumer or being posted to a webhook."},
     of_queue<&QueueCounters::leased>},
    {{"duewheel_queue_dead_letters", "Dead letters that the queue keeps."}, of_queue<&QueueCounters::dead>},
    {{"duewheel_queue_oldest_due_age_seconds",
      "Time since the due time of the oldest message that is due and has not ended; 0 if none is due."},
     [](const QueueSnapshot& queue) {
         return MetricValue::of_milliseconds(
             queue.counters.oldest_due_ms == 0 ? 0 : std::max<DueMs>(0, queue.now_ms - queue.counters.oldest_due_ms));
     }},
    {{"duewheel_queue_consumers_waiting", "Lease requests that wait for a message of the queue."},
     of_queue<&QueueCounters::waiters>},
    {{"duewheel_queue_paused", "1 while the queue is paused; for the other queues, while one of them is."},
     of_queue<&QueueCounters::paused>},
    {{"duewheel_queue_groups", "Groups of the queue that have something due or leased, or settings."},
     of_queue<&QueueCounters::groups>},
    {{"duewheel_queue_groups_limited",
      "Of these groups, those whose ready messages are kept by a limit of the group: leases, a rate or a backoff."},
     of_queue<&QueueCounters::limited_groups>},
    {{"duewheel_queue_messages_received_total",
      "Messages that entered the queue: put by clients, or created by recurring messages, schedules and watchdogs."},
     of_queue<&QueueCounters::totals, &QueueTotals::received>},
    {{"duewheel_queue_messages_delivered_total", "Deliveries of messages of the queue."},
     of_queue<&QueueCounters::totals, &QueueTotals::delivered>},
    {{"duewheel_queue_lateness_seconds_total", "Sum of how late the server made these deliveries."},
     of_queue_time<&QueueTotals::lateness_ms>},
    {{"duewheel_queue_wait_seconds_total",
      "Sum of how long the messages of these deliveries waited before that, since they were due."},
     of_queue_time<&QueueTotals::wait_ms>},
    {{"duewheel_queue_messages_acknowledged_total", "Messages of the queue that a consumer acknowledged."},
     of_queue<&QueueCounters::totals, &QueueTotals::acknowledged>},
    {{"duewheel_queue_deliveries_failed_total", "Deliveries that a consumer or webhook reported as failed."},
     of_queue<&QueueCounters::totals, &QueueTotals::failed>},
    {{"duewheel_queue_leases_expired_total", "Leases that ran out before the consumer ended them."},
     of_queue<&QueueCounters::totals, &QueueTotals::leases_expired>},
    {{"duewheel_queue_messages_dead_lettered_total",
      "Times a message of the queue became a dead letter because its attempts were used up."},
     of_queue<&QueueCounters::totals, &QueueTotals::dead_lettered>},
    {{"duewheel_queue_messages_expired_total", "Messages of the queue that expired before a consumer took them."},
     of_queue<&QueueCounters::totals, &QueueTotals::expired>},
    {{"duewheel_queue_messages_cancelled_total", "Messages of the queue that were cancelled."},
     of_queue<&QueueCounters::totals, &QueueTotals::cancelled>},
};

template <auto Member>
constexpr auto of_group = value_of<GroupAnswer, Member>;

constexpr GroupMetric kGroupMetrics[] = {
    {{"duewheel_group_ready",
      "Due messages of the group that are not leased; more of them may be on disk. The 100 groups with the most ready "
      "and leased messages have series, the busiest of all queues."},
     of_group<&GroupAnswer::ready>},
    {{"duewheel_group_leased", "Messages of the group that are leased."}, of_group<&GroupAnswer::leased>},
};

template <auto Member>
constexpr auto of_schedule = value_of<ScheduleCounters, Member>;

constexpr ScheduleMetric kScheduleMetrics[] = {
    {{"duewheel_schedule_runs_total", "Runs that the schedule made by its rule, since it was set."},
     of_schedule<&ScheduleCounters::made>},
    {{"duewheel_schedule_late_runs_total", "Of these runs, those made up for after their time was missed."},
     of_schedule<&ScheduleCounters::late>},
    {{"duewheel_schedule_manual_runs_total", "Runs of the schedule that a request fired, since it was set."},
     of_schedule<&ScheduleCounters::fired>},
    {{"duewheel_schedule_skipped_times_total", "Scheduled times for which no run was made."},
     of_schedule<&ScheduleCounters::skipped>},
    {{"duewheel_schedule_merged_times_total", "Scheduled times that were merged into another run."},
     of_schedule<&ScheduleCounters::merged>},
    {{"duewheel_schedule_next_run_timestamp_seconds", "Next scheduled time, Unix time; 0 if there is none."},
     [](const ScheduleCounters& schedule) { return MetricValue::of_milliseconds(schedule.next_ms); }},
    {{"duewheel_schedule_paused", "1 while the schedule is paused."}, of_schedule<&ScheduleCounters::paused>},
};

template <auto... Path>
constexpr auto of_space = value_of<NamespaceAnswer, Path...>;

constexpr NamespaceMetric kNamespaceMetrics[] = {
    {{"duewheel_namespace_pending", "Messages of the namespace that have not ended."},
     of_space<&NamespaceAnswer::pending>},
    {{"duewheel_namespace_pending_limit",
      "Limit on messages of the namespace that have not ended; absent if there is none."},
     of_space<&NamespaceAnswer::settings, &NamespaceSettings::pending_max>,
     false},
    {{"duewheel_namespace_queues", "Queues of the namespace."}, of_space<&NamespaceAnswer::queues>},
    {{"duewheel_namespace_queues_limit", "Limit on queues of the namespace; absent if there is none."},
     of_space<&NamespaceAnswer::settings, &NamespaceSettings::queues_max>,
     false},
};

const Histogram& webhook_times(From from) {
    static const Histogram kNone;
    return from.shard.pusher() != nullptr ? from.shard.pusher()->post_us() : kNone;
}

constexpr HistogramMetric kHistogramMetrics[] = {
    {{"duewheel_lateness_seconds",
      "How late the server delivered messages: from when a message was due and could be delivered, because a consumer "
      "waited or its target was ready, until its delivery.",
      "", MetricType::histogram},
     [](From from) -> const Histogram& { return from.shard.lateness_us(); },
     500},
    {{"duewheel_wait_seconds",
      "How long delivered messages waited before that, since they were due: for a consumer, a target that failed or "
      "was at its rate, a pause, or earlier attempts and their backoff.",
      "", MetricType::histogram},
     [](From from) -> const Histogram& { return from.shard.wait_us(); },
     500},
    {{"duewheel_commit_duration_seconds", "Time to write a commit to the log and sync it.", "", MetricType::histogram},
     [](From from) -> const Histogram& { return from.shard.commit_us(); },
     100},
    {{"duewheel_store_lookup_duration_seconds", "Time of reads of the index and the log.", "", MetricType::histogram},
     [](From from) -> const Histogram& { return from.shard.read_us(); },
     100},
    {{"duewheel_index_build_duration_seconds", "Time to index a full segment of the log.", "", MetricType::histogram},
     [](From from) -> const Histogram& { return from.shard.seal_us(); },
     100},
    {{"duewheel_webhook_request_duration_seconds",
      "Time from sending a request to a webhook to the end of its response.", "", MetricType::histogram},
     webhook_times,
     100},
    {{"duewheel_kafka_batch_duration_seconds",
      "Time from passing a batch of messages to the Kafka client until its transaction is committed or has failed.", "",
      MetricType::histogram},
     [](From from) -> const Histogram& { return from.kafka_batch_us; },
     1'000},
};

template <class Rows>
void add(std::vector<Metric>& all, const Rows& rows, std::string_view labels = {}) {
    for (const auto& row : rows) all.emplace_back(row.metric).labels = labels;
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

std::span<const GroupMetric> group_metrics() {
    return kGroupMetrics;
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
    add(all, kQueueMetrics, "namespace, queue");
    add(all, kGroupMetrics, "namespace, queue, group");
    all.push_back(kGroupLimited);
    add(all, kNamespaceMetrics, "namespace");
    add(all, kScheduleMetrics, "namespace, schedule");
    add(all, kHistogramMetrics);
    all.insert(all.end(),
               {kClockState, kLastRunEnded, kLastBackup, kAuditLogAvailable, kAuthRefusals, kTlsHandshakes,
                kCertificateExpiry, kKafkaLag, kKafkaReading, kLogOwner, kStandbyLag, kLimit, kLimitUse, kBuildInfo});
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
