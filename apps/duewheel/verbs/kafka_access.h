// The brokers and topics that the commands of `duewheel kafka` work with: the settings [kafka] of the server, from its
// configuration file, the environment and flags, and the client that connects with them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/status.h"
#include "kafka/client/kafka_client.h"
#include "replication/topic_chain.h"
#include "server/limits/kafka_options.h"
#include "session.h"

namespace duewheel {

// The settings of a server that concern Kafka.
struct KafkaServer {
    KafkaOptions kafka;
    std::uint32_t shards = 1;
};

struct KafkaConnectionArguments {
    std::optional<std::string> config;
    std::optional<std::string> bootstrap;
    std::optional<std::string> cluster;
    std::optional<std::string> client_file;

    void add_to(CLI::App& verb);
    // Codes: `bad_configuration`, `bad_kafka_setting`.
    Result<KafkaServer> read() const;
};

// Keeps the last line that the client logs: why a broker cannot be reached.
class KafkaReason final : public LogSink {
  public:
    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override;
    // The error, with that reason if it is about the connection.
    Error explain(Error error) const;

  private:
    mutable std::mutex mutex_;
    std::string reason_;  // guarded by mutex_
};

struct KafkaAccess {
    KafkaServer server;
    KafkaReason reason;
    std::unique_ptr<KafkaClient> client;

    // Until a topic is described, or a request is given up.
    static constexpr std::int64_t kTimeoutMs = 10'000;

    // Codes: those of KafkaConnectionArguments::read(), `bad_kafka_client_file`.
    Status open(const KafkaConnectionArguments& arguments);
    // Prints an error of the client, with the reason; returns the exit code.
    int complain(const Session& session, const Error& error) const;
};

// Where the log of this data directory is in Kafka: its segments say which shard it is of. Codes: those of
// find_log_in_use() and of Kafka, `shards_changed` (the topic is that of another number of shards).
Result<TopicLog> log_of(const KafkaOptions& options, const std::string& directory, KafkaCluster& cluster);

// Whether no further request makes sense: no broker, or no login.
bool is_unreachable(const Error& error);

// The verbs on the topic of a replicated log, `verify` and `reseed`; the others are in kafka.cc.
void add_kafka_log_verbs(CLI::App& kafka, Session& session);

}  // namespace duewheel
