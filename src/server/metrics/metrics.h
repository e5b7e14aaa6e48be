// The Prometheus page: the counters of the engine, the log, the HTTP server and the blocking steps, the limits
// (server/limits/limit.h), the process and the build. Its families are in metric_table.h.
//
// Labels never contain unlimited values from clients: the 100 busiest queues have their own series, and so do the 100
// busiest groups, and the first 100 namespaces with settings and schedules by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http_api/http_api.h"
#include "net/http/http_limits.h"
#include "server/audit_trail.h"
#include "server/beanstalk.h"
#include "server/kafka.h"
#include "server/limits/server_options.h"
#include "server/metrics/queue_series.h"
#include "server/node/log_replication.h"
#include "server/shard/shard.h"
#include "store/maintenance/run_end.h"

namespace duewheel {

class Metrics {
  public:
    // `last_run`: how the one before this run ended.
    Metrics(const ServerOptions& options, Shard& shard, RunEnd last_run)
        : options_(options), shard_(shard), last_run_(last_run) {}

    // To be called before page(); must outlive it.
    void include(const Kafka& kafka) { kafka_ = &kafka; }
    void include(const LogReplication& replication) { replication_ = &replication; }
    void include(const Beanstalk& beanstalk) { beanstalk_ = &beanstalk; }

    // Without TLS, `certificate_expires_in_ms` is absent. O(queues + open files), and some groups.
    std::string page(const HttpCounters& http, const AccessRefusals& access, const AuditCounters& audit,
                     std::optional<std::int64_t> certificate_expires_in_ms);

  private:
    const ServerOptions& options_;
    Shard& shard_;
    const RunEnd last_run_;
    const Kafka* kafka_ = nullptr;
    const LogReplication* replication_ = nullptr;
    const Beanstalk* beanstalk_ = nullptr;
    QueueSeries queue_series_;
};

}  // namespace duewheel
