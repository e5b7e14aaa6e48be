// Everything about a server that its operator may choose, with the defaults. The settings of src/configuration are made
// from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "delivery/webhook_options.h"
#include "engine/engine_options.h"
#include "ingress/http_api.h"
#include "net/http_limits.h"
#include "net/tls_context.h"
#include "server/server_clock.h"
#include "store/retention.h"

namespace duewheel {

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
    std::vector<std::string> http_hosts;  // names beside its address that the server goes by, and whose pages may call
    HttpApiOptions api;  // limits, and what is logged; what is to be called, and who may call, is the server's affair
    WebhookOptions webhooks;
    std::optional<std::uint64_t> segment_bytes;  // nothing: as the volume's size says (server/store_sizes.h)
    std::size_t spare_segments = 1;
    std::size_t reserve_segments = 3;
    // Of the volume: with less puts are refused. 0 switches that off; nothing: as the volume's size says.
    std::optional<std::uint64_t> free_floor_bytes;
    std::int64_t keep_outcomes_ms = Retention::kDefaultKeepMs;
    HistoryBounds history;
    ClockRules clock;
    bool audit_enabled = true;
    LogOptions log;
};

}  // namespace duewheel
