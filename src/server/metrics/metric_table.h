// The table of the metrics: the source of /metrics and of the table of docs/metrics.md.
//
// Families with one series come first, then those with a series for each queue, group, namespace and schedule, then the
// others, which src/server/metrics/metrics.cc writes one by one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "beanstalk/beanstalk_service.h"
#include "engine/core/engine.h"
#include "kafka/out/kafka_pusher.h"
#include "net/http/http_limits.h"
#include "server/audit_trail.h"
#include "server/kafka.h"
#include "server/metrics/metric.h"
#include "server/node/kafka_log_status.h"
#include "server/process/process_stats.h"
#include "server/shard/shard.h"
#include "webhooks/webhook_pusher.h"

namespace duewheel {

// The sources of the values, all as of one moment.
struct MetricSources {
    const Shard& shard;
    ClockStatus clock;
    EngineCounters engine;  // its time is that of the last iteration, which may be long ago
    QueueSums queues;
    WebhookCounters webhooks;
    KafkaCounters kafka;
    const Histogram& kafka_batch_us;
    KafkaLogStatus kafka_log;
    BeanstalkCounters beanstalk;
    std::size_t beanstalk_connections = 0;
    const AuditCounters& audit;
    HttpCounters http;
    std::optional<std::int64_t> certificate_expires_in_ms;  // nothing: no TLS
    std::optional<ProcessStats> process;

    const ShardParts& parts() const { return shard.parts(); }
};

template <class Source>
struct MetricOf {
    Metric metric;
    MetricValue (*read)(const Source&);
    bool has_zero = true;  // false: without a series while its value is 0
};

using ServerMetric = MetricOf<MetricSources>;
std::span<const ServerMetric> server_metrics();
using ProcessMetric = MetricOf<ProcessStats>;
std::span<const ProcessMetric> process_metrics();

// A queue as of a moment.
struct QueueSnapshot {
    const QueueCounters& counters;
    DueMs now_ms;
};
using QueueMetric = MetricOf<QueueSnapshot>;
std::span<const QueueMetric> queue_metrics();
using GroupMetric = MetricOf<GroupAnswer>;
std::span<const GroupMetric> group_metrics();
using ScheduleMetric = MetricOf<ScheduleCounters>;
std::span<const ScheduleMetric> schedule_metrics();
using NamespaceMetric = MetricOf<NamespaceAnswer>;
std::span<const NamespaceMetric> namespace_metrics();

inline constexpr Metric kGroupLimited{
    "duewheel_group_limited",
    "1 while a limit keeps ready messages of the group from being delivered, by the limit: leased, rate or backoff of "
    "the group, queue_leased or queue_rate. Absent otherwise.",
    "namespace, queue, group, by"};
inline constexpr Metric kBuildInfo{"duewheel_build_info", "Always 1; the label contains the version of the server.",
                                   "version"};
inline constexpr Metric kClockState{"duewheel_clock_state",
                                    "1 for the state that the server's clock is in, 0 for all others.", "state"};
inline constexpr Metric kAuditLogAvailable{"duewheel_audit_log_available",
                                           "1 if the audit log can be written. 0 if it cannot, and administrative "
                                           "requests are refused. Absent if it is disabled."};
inline constexpr Metric kAuthRefusals{"duewheel_auth_refusals_total",
                                      "Requests refused for want of a valid token, of rights, or of the token's rates.",
                                      "reason"};
inline constexpr Metric kLimit{
    "duewheel_limit", "Limits in force, as set in the configuration; durations in seconds, sizes in bytes.", "limit"};
inline constexpr Metric kLimitUse{"duewheel_limit_use", "How much of a limit is in use, in the limit's unit.", "limit"};

inline constexpr Metric kLastRunEnded{"duewheel_last_run_ended",
                                      "1 for how the run before this one ended, 0 for all others: stopped by a signal, "
                                      "killed (or the machine was), or fatal, an error. A new directory has stopped.",
                                      "how"};
inline constexpr Metric kLastBackup{
    "duewheel_last_backup_timestamp_seconds",
    "When the newest complete backup by duewheel backup was begun, Unix time. Absent if there was none."};

inline constexpr Metric kTlsHandshakes{"duewheel_tls_handshakes_total", "TLS handshakes of clients, by how they ended.",
                                       "outcome"};
inline constexpr Metric kCertificateExpiry{
    "duewheel_tls_certificate_expiry_seconds",
    "Time until the TLS certificate in use expires; negative afterwards. Absent without TLS."};

inline constexpr Metric kKafkaLag{
    "duewheel_kafka_in_lag_records",
    "Offsets of a partition of an input topic that the server has not read yet; absent while unknown.",
    "topic, partition"};
inline constexpr Metric kKafkaReading{"duewheel_kafka_in_reading",
                                      "1 if a partition of an input topic is read, 0 if it waits or is stopped; "
                                      "without a partition if the topic cannot be looked up.",
                                      "topic, partition"};

inline constexpr Metric kLogOwner{
    "duewheel_kafka_log_is_owner",
    "1 on the node that owns a replicated log, 0 on a standby node and where the log is not replicated.", "shard"};
inline constexpr Metric kStandbyLag{"duewheel_kafka_log_standby_lag_records",
                                    "Only on a standby node: records of the topic of the log that it has not read yet.",
                                    "shard"};

struct HistogramMetric {
    Metric metric;
    const Histogram& (*read)(const MetricSources&);  // microseconds
    std::int64_t least_bound_us;
};
std::span<const HistogramMetric> histogram_metrics();

// All families, in the order of the page.
std::vector<Metric> all_metrics();

// The table of docs/metrics.md.
std::string metrics_table();

}  // namespace duewheel
