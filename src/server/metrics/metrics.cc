#include "server/metrics/metrics.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/version.h"
#include "server/limits/limit.h"
#include "server/metrics/metric_table.h"
#include "server/metrics/metrics_text.h"

namespace duewheel {
namespace {

constexpr std::size_t kNamespacesMax = 100;
constexpr std::size_t kSchedulesMax = 100;
constexpr std::size_t kGroupsMax = 100;

// The combined series of all other queues: no queue name contains `*`.
constexpr std::string_view kOthers = "*";

// 100 microseconds to an hour.
constexpr std::int64_t kBoundsUs[] = {
    100,     250,     500,       1'000,     2'500,     5'000,      10'000,     25'000,     50'000,      100'000,
    250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000, 300'000'000, 3'600'000'000};

void add_queues(MetricsText& text, const Engine& engine, const MetricSources& from, QueueSeries& series) {
    QueueTraffic traffic = engine.queue_traffic(QueueSeries::kMax);
    traffic.others.totals = series.count_others(traffic, from.engine);
    for (const QueueMetric& row : queue_metrics()) {
        text.family(row.metric);
        for (const QueueCounters& queue : traffic.busiest) {
            text.series({{"namespace", queue.name.name_space}, {"queue", queue.name.queue}},
                        row.read({queue, from.clock.server_ms}));
        }
        if (traffic.other_queues == 0) continue;
        text.series({{"namespace", kOthers}, {"queue", kOthers}}, row.read({traffic.others, from.clock.server_ms}));
    }
}

void add_groups(MetricsText& text, const std::vector<GroupAnswer>& groups) {
    for (const GroupMetric& row : group_metrics()) {
        text.family(row.metric);
        for (const GroupAnswer& group : groups) {
            text.series({{"namespace", group.name_space}, {"queue", group.queue}, {"group", group.group}},
                        row.read(group));
        }
    }
    text.family(kGroupLimited);
    for (const GroupAnswer& group : groups) {
        if (group.limited_by == LimitedBy::nothing) continue;
        text.series({{"namespace", group.name_space},
                     {"queue", group.queue},
                     {"group", group.group},
                     {"by", limited_by_name(group.limited_by)}},
                    true);
    }
}

void add_namespaces(MetricsText& text, const Engine& engine) {
    const std::vector<NamespaceAnswer> namespaces = engine.namespaces_with_settings(kNamespacesMax);
    for (const NamespaceMetric& row : namespace_metrics()) {
        text.family(row.metric);
        for (const NamespaceAnswer& space : namespaces) {
            const MetricValue value = row.read(space);
            if (row.has_zero || value.text() != "0") text.series({{"namespace", space.name_space}}, value);
        }
    }
}

// The counts of a schedule are durable: they do not restart with the process.
void add_schedules(MetricsText& text, const Engine& engine) {
    const std::vector<ScheduleCounters> schedules = engine.schedules_by_name(kSchedulesMax);
    for (const ScheduleMetric& row : schedule_metrics()) {
        text.family(row.metric);
        for (const ScheduleCounters& schedule : schedules) {
            text.series({{"namespace", schedule.name_space}, {"schedule", schedule.name}}, row.read(schedule));
        }
    }
}

void add_clock_state(MetricsText& text, ClockState now) {
    text.family(kClockState);
    for (const ClockState state :
         {ClockState::steady, ClockState::slow, ClockState::quarantine, ClockState::held, ClockState::test}) {
        text.series({{"state", clock_state_name(state)}}, state == now);
    }
}

void add_last_run(MetricsText& text, RunEnd last) {
    text.family(kLastRunEnded);
    for (const RunEnd end : {RunEnd::stopped, RunEnd::killed, RunEnd::fatal}) {
        text.series({{"how", run_end_name(end)}}, end == last);
    }
}

void add_last_backup(MetricsText& text, const DirectoryFacts& facts) {
    text.family(kLastBackup);
    if (facts.backed_up) text.series({}, MetricValue::of_milliseconds(facts.backed_up->wall_time_ms));
}

void add_audit(MetricsText& text, const AuditCounters& audit) {
    text.family(kAuditLogAvailable);
    if (audit.is_available) text.series({}, *audit.is_available);
}

void add_tls(MetricsText& text, const MetricSources& from) {
    text.family(kTlsHandshakes);
    for (std::size_t i = 0; i < kTlsOutcomeNames.size(); ++i) {
        text.series({{"outcome", kTlsOutcomeNames[i]}}, from.http.tls_handshakes[i]);
    }
    text.family(kCertificateExpiry);
    if (from.certificate_expires_in_ms) {
        text.series({}, MetricValue::of_milliseconds(*from.certificate_expires_in_ms));
    }
}

void add_refusals(MetricsText& text, const AccessRefusals& access) {
    text.family(kAuthRefusals);
    const std::pair<std::string_view, std::uint64_t> reasons[] = {
        {"token_required", access.token_required},       {"bad_token", access.bad_token},
        {"token_expired", access.token_expired},         {"forbidden", access.forbidden},
        {"too_many_requests", access.too_many_requests}, {"too_many_failed_tokens", access.too_many_failed_tokens}};
    for (const auto& [reason, count] : reasons) text.series({{"reason", reason}}, count);
}

void add_inputs(MetricsText& text, const std::vector<KafkaPartitionStatus>& partitions) {
    text.family(kKafkaLag);
    for (const KafkaPartitionStatus& each : partitions) {
        if (!each.lag) continue;
        text.series({{"topic", each.topic}, {"partition", std::to_string(each.partition)}},
                    static_cast<std::uint64_t>(*each.lag));
    }
    text.family(kKafkaReading);
    for (const KafkaPartitionStatus& each : partitions) {
        const std::string partition = each.partition < 0 ? "" : std::to_string(each.partition);
        text.series({{"topic", each.topic}, {"partition", partition}},
                    each.state == KafkaPartitionStatus::State::reading);
    }
}

void add_limits(MetricsText& text, const ServerOptions& options, const LimitLevels& levels) {
    text.family(kLimit);
    for (const Limit& limit : limits()) {
        const std::int64_t value = limit.read(options);
        const bool is_time = limit.unit == LimitUnit::milliseconds;
        text.series({{"limit", limit.name}},
                    is_time ? MetricValue::of_milliseconds(value) : MetricValue(static_cast<std::uint64_t>(value)));
    }
    text.family(kLimitUse);
    for (const Limit& limit : limits()) {
        if (limit.use != nullptr) text.series({{"limit", limit.name}}, limit.use(levels));
    }
}

}  // namespace

std::string Metrics::page(const HttpCounters& http, const AccessRefusals& access, const AuditCounters& audit,
                          std::optional<std::int64_t> certificate_expires_in_ms) {
    MetricsText text;
    const Engine& engine = shard_.parts().engine();
    static const Histogram kNoHistogram;
    const MetricSources from{.shard = shard_,
                             .clock = shard_.clock(),
                             .engine = shard_.counters(),
                             .queues = engine.queue_sums(),
                             .webhooks = shard_.pusher() != nullptr ? shard_.pusher()->counters() : WebhookCounters{},
                             .kafka = kafka_ != nullptr ? kafka_->counters() : KafkaCounters{},
                             .kafka_batch_us = kafka_ != nullptr ? kafka_->batch_us() : kNoHistogram,
                             .kafka_log = replication_ != nullptr ? replication_->status() : KafkaLogStatus{},
                             .beanstalk = beanstalk_ != nullptr ? beanstalk_->counters() : BeanstalkCounters{},
                             .beanstalk_connections = beanstalk_ != nullptr ? beanstalk_->connections() : 0,
                             .audit = audit,
                             .http = http,
                             .certificate_expires_in_ms = certificate_expires_in_ms,
                             .process = process_stats()};
    for (const ServerMetric& row : server_metrics()) text.single(row.metric, row.read(from));
    add_queues(text, engine, from, queue_series_);
    add_groups(text, shard_.busiest_groups(kGroupsMax));
    add_namespaces(text, engine);
    add_schedules(text, engine);
    for (const HistogramMetric& row : histogram_metrics()) {
        const auto* first = std::lower_bound(std::begin(kBoundsUs), std::end(kBoundsUs), row.least_bound_us);
        text.histogram(row.metric, row.read(from), {first, std::end(kBoundsUs)});
    }
    add_clock_state(text, from.clock.state);
    add_last_run(text, last_run_);
    add_last_backup(text, shard_.directory_facts());
    add_audit(text, audit);
    add_tls(text, from);
    add_refusals(text, access);
    add_inputs(text, kafka_ != nullptr ? kafka_->partitions() : std::vector<KafkaPartitionStatus>());
    text.family(kLogOwner);
    text.series({{"shard", std::to_string(options_.shards.number)}}, from.kafka_log.is_owner);
    text.family(kStandbyLag);
    add_limits(text, options_, {from.engine, http, from.webhooks});
    text.family(kBuildInfo);
    text.series({{"version", kVersion}}, true);
    if (from.process) {
        for (const ProcessMetric& row : process_metrics()) text.single(row.metric, row.read(*from.process));
    }
    return text.take();
}

}  // namespace duewheel
