// All settings of a server, with the defaults. The settings of src/configuration are derived from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "engine/core/engine_options.h"
#include "http_api/http_api.h"
#include "net/http/http_limits.h"
#include "net/tls_context.h"
#include "server/limits/beanstalk_settings.h"
#include "server/limits/kafka_options.h"
#include "server/node/sharding.h"
#include "server/shard/server_clock.h"
#include "store/maintenance/retention.h"
#include "webhooks/webhook_options.h"

namespace duewheel {

inline constexpr std::uint64_t kIoThreadsMax = 64;

enum class LogFormat { text, json };

struct LogOptions {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::text;
};

struct ServerOptions {
    std::string data_directory = "./duewheel-data";
    std::string http_address = "127.0.0.1:7420";
    TlsFiles tls;                             // without a certificate: no TLS
    bool unsafe_plain_listen = false;         // allow an address beyond loopback without TLS and tokens
    std::optional<bool> auth_required;        // nothing: where it listens beyond loopback
    std::chrono::milliseconds drain{10'000};  // from a stop to its end, if what arrived cannot be answered sooner
    EngineOptions engine;
    HttpLimits http;
    // They serve HTTP connections, and one more those of beanstalkd's protocol. 0: the thread of the engine serves all;
    // none: derived from the number of processors.
    std::optional<std::uint64_t> io_threads;
    std::vector<std::string> http_hosts;  // host names of the server besides its address, whose pages may call it
    HttpApiOptions api;                   // limits and logging; calls and callers are set by the server
    WebhookOptions webhooks;
    KafkaOptions kafka;
    Sharding shards;
    BeanstalkSettings beanstalk;
    std::optional<std::uint64_t>
        segment_bytes;  // none: derived from the size of the volume (server/shard/store_sizes.h)
    std::size_t spare_segments = 1;
    std::size_t reserve_segments = 3;
    // Puts are refused when the volume has less free space. 0: never; none: derived from the size of the volume.
    std::optional<std::uint64_t> free_floor_bytes;
    std::int64_t keep_outcomes_ms = Retention::kDefaultKeepMs;
    HistoryBounds history;
    ClockRules clock;
    bool audit_enabled = true;
    LogOptions log;
};

}  // namespace duewheel
