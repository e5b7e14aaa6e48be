// A standby node: follows the log of the owner in its Kafka topic, tells clients where the owner is, and takes the log
// over when the owner has released it or shows no sign of life.
//
// It runs before a Server is opened, on the same data directory and address, and ends with its takeover. A node never
// goes back from owner to standby: an owner that was replaced ends, and its supervisor starts it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "kafka/client/kafka_client.h"
#include "replication/topic_chain.h"
#include "server/limits/server_options.h"

namespace duewheel {

// What a node has when it has taken over.
struct Takeover {
    std::unique_ptr<KafkaClient> client;
    TopicChain chain;  // up to the own claim
    std::uint64_t node = 0;
    std::string http_address;  // that it answered at, which its claim names
};

// `url` of the options, or that of the address.
std::string url_of_node(const ServerOptions& options, const std::string& http_address);

// All are called by the thread of stand_by(): `listening` once, with the address, when it answers; and `alive` every
// `alive_interval` while the loop of that thread makes progress. An interval of 0: never.
struct StandbyReports {
    std::function<void(const std::string& address)> listening;
    std::function<void()> alive;
    std::chrono::nanoseconds alive_interval{0};
};

// Returns after the takeover, or nothing after SIGTERM or SIGINT. While it waits, `/livez` is 200, `/readyz` is 503,
// and all other requests are redirected to the owner of their shard (307), or are 503 `no_owner` while none is known.
// SIGHUP reloads the TLS certificate.
// Codes: those of check_options(), HttpServer::bind(), KafkaClient::open() and TopicCopy, `unsafe_topic` and
// `shards_changed`.
Result<std::optional<Takeover>> stand_by(const ServerOptions& options, LogSink& log, const StandbyReports& reports);

}  // namespace duewheel
