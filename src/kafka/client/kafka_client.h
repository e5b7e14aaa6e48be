// Kafka, by librdkafka: the implementation of kafka/client/kafka.h.
//
// Producers are idempotent and wait for all replicas in sync. Keys choose partitions as Kafka's Java client does
// (murmur2). Consumers read committed transactions only, from assigned partitions, and use no consumer group.
//
// A transaction whose end was sent more than once has an unknown outcome, even if librdkafka reports success: the copy
// that is still on its way may end the next transaction (KAFKA-17754). The client counts the EndTxn requests that it
// sends, so it recognizes this exactly.
//
// Its parts: kafka_client_file (TLS and SASL), kafka_watch (log and statistics), kafka_handle (errors and callbacks of
// librdkafka), kafka_producer and kafka_consumer. This header does not include librdkafka.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/status.h"
#include "kafka/client/kafka.h"
#include "kafka/client/kafka_watch.h"

namespace duewheel {

struct KafkaConnection {
    std::string bootstrap;    // "host:port,host:port"
    std::string client_file;  // path, see kafka_client_file.h; empty: neither TLS nor SASL
    // A broker aborts a transaction that is open for longer. Also the time until a record or a request that no broker
    // answers is given up.
    std::int64_t transaction_timeout_ms = 10'000;
};

// Must outlive the producers and consumers that it opens.
class KafkaClient final : public KafkaCluster {
  public:
    // Reads the client file. Connects later, on its own threads: success says nothing about the brokers. Codes:
    // `bad_kafka_client_file`, `kafka_failed`.
    static Result<std::unique_ptr<KafkaClient>> open(const KafkaConnection& connection, LogSink& log);
    ~KafkaClient() override;

    Result<std::unique_ptr<KafkaProducer>> open_producer(const std::string& transactional_id) override;
    Result<std::unique_ptr<KafkaConsumer>> open_consumer() override;
    Result<std::unique_ptr<KafkaAppender>> open_appender(const std::string& topic, std::int32_t partition) override;
    Result<KafkaTopic> look_at(const std::string& topic, std::int64_t timeout_ms) override;
    Status create(const KafkaTopic& topic, std::int64_t timeout_ms) override;
    Status delete_before(const std::string& topic, std::int32_t partition, std::int64_t offset,
                         std::int64_t timeout_ms) override;

    // Any thread.
    KafkaStatistics statistics() const { return watch_.statistics(); }

  private:
    struct Parts;

    explicit KafkaClient(LogSink& log);

    KafkaWatch watch_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
