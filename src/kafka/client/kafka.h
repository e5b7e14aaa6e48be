// What the bridge needs of Apache Kafka, as interfaces: kafka_client.h implements them on librdkafka, and
// tests/support/simulated_kafka.h in memory, with faults.
//
// Every call that takes a timeout blocks, so none is made on the loop's thread. A producer and a consumer belong to one
// thread each.
//
// Codes of errors: `kafka_unavailable` (no broker, or a timeout: try again later), `unknown_topic`, `kafka_refused`
// (no permission), `kafka_login` (TLS or SASL), `record_refused` (this record alone: too large, a compacted topic
// without a key), `kafka_fenced` (another producer with the same transactional id), `position_trimmed` (an offset that
// the topic no longer has), `kafka_unknown_outcome` (a commit that may or may not have taken place), `topic_exists`,
// `kafka_failed` (anything else; the message has librdkafka's text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace duewheel {

// Names may repeat; a value is any bytes, or none (null), which is not the same as empty.
struct KafkaHeader {
    std::string name;
    std::optional<std::string> value;

    bool operator==(const KafkaHeader&) const = default;
};

struct KafkaRecord {
    std::string topic;
    std::int32_t partition = -1;       // to produce: -1 chooses by the key, as Kafka's Java client does
    std::optional<std::string> key;    // any bytes; none is null
    std::optional<std::string> value;  // likewise
    std::vector<KafkaHeader> headers;
    std::int64_t timestamp_ms = 0;  // to produce: 0 is now
    std::int64_t offset = -1;       // of a consumed record

    bool operator==(const KafkaRecord&) const = default;
};

// Produces records, in transactions if it was opened with a transactional id.
//
// After a commit or an abort that did not answer OK the producer is not used again: destroy it and open a new one,
// whose init_transactions() fences this one. librdkafka may send a lost EndTxn once more, and the late first one may
// end the next transaction (KAFKA-17754).
class KafkaProducer {
  public:
    virtual ~KafkaProducer() = default;

    // Fences producers with the same id and ends their transactions.
    virtual Status init_transactions(std::int64_t timeout_ms) = 0;
    virtual Status begin_transaction() = 0;
    // Queues a record; copies it. An error concerns this record, and nothing was queued.
    virtual Status produce(const KafkaRecord& record) = 0;
    // Waits until all queued records are acknowledged by all replicas in sync. The result is per record, in the order
    // of the calls of produce() since the last flush() that returned OK. A record that is not acknowledged in time is
    // given up with `kafka_unavailable`; it may still have been written.
    virtual Result<std::vector<Status>> flush(std::int64_t timeout_ms) = 0;
    // `kafka_unknown_outcome` unless it is certain that the transaction was committed or was not, and also if its end
    // was sent more than once, whatever the broker answered. A transaction without records is not sent, so it is
    // committed even if the producer is fenced.
    virtual Status commit_transaction(std::int64_t timeout_ms) = 0;
    virtual Status abort_transaction(std::int64_t timeout_ms) = 0;
};

// Reads assigned partitions, without a group. It sees committed transactions only.
class KafkaConsumer {
  public:
    static constexpr std::int64_t kBeginning = -2;

    virtual ~KafkaConsumer() = default;

    // From now on reads this partition too, from this offset on.
    virtual Status assign(const std::string& topic, std::int32_t partition, std::int64_t offset) = 0;
    virtual Status unassign(const std::string& topic, std::int32_t partition) = 0;
    // Up to `records_max` records; waits for the first one until the timeout. Empty: there was none. An error names
    // topic and partition in its field ("topic/partition"); that partition is not read until it is unassigned and
    // assigned again. One with an empty field (no broker can be reached, the login failed) is reported once, and
    // reading goes on by itself.
    virtual Result<std::vector<KafkaRecord>> poll(std::size_t records_max, std::int64_t timeout_ms) = 0;
    // The first offset that the partition has, and the next one that a record will get (of committed transactions). A
    // broker that was away may answer as if it still led the partition, with an older end: where that would matter,
    // give what is known as `at_least`, and as long as the end is before it, the brokers are asked again until the
    // timeout.
    struct Offsets {
        std::int64_t low = 0;
        std::int64_t high = 0;
    };
    virtual Result<Offsets> offsets(const std::string& topic, std::int32_t partition, std::int64_t timeout_ms,
                                    std::int64_t at_least = 0) = 0;
};

// Appends to one partition and returns the offsets: for a log of which this process is the only writer.
class KafkaAppender {
  public:
    virtual ~KafkaAppender() = default;

    // Appends records with these values and without keys, in this order; returns the offset of each when all replicas
    // in sync have them. After an error any of them may have been written, and may still be written later: destroy
    // this and open another.
    virtual Result<std::vector<std::int64_t>> append(const std::vector<std::string>& values,
                                                     std::int64_t timeout_ms) = 0;
};

struct KafkaTopic {
    std::string name;
    std::int32_t partitions = 0;
    std::int32_t replicas = 0;
    // The part of its configuration that the bridge checks (cleanup.policy, max.message.bytes, retention.ms, ...).
    std::vector<std::pair<std::string, std::string>> settings;
};

// One Kafka cluster: opens producers and consumers, and looks at topics. Its calls may come from any thread.
class KafkaCluster {
  public:
    virtual ~KafkaCluster() = default;

    // Empty `transactional_id`: without transactions.
    virtual Result<std::unique_ptr<KafkaProducer>> open_producer(const std::string& transactional_id) = 0;
    virtual Result<std::unique_ptr<KafkaConsumer>> open_consumer() = 0;
    virtual Result<std::unique_ptr<KafkaAppender>> open_appender(const std::string& topic, std::int32_t partition) = 0;
    // `unknown_topic` if there is none. Without settings if the permission to read them is missing.
    virtual Result<KafkaTopic> look_at(const std::string& topic, std::int64_t timeout_ms) = 0;
    virtual Status create(const KafkaTopic& topic, std::int64_t timeout_ms) = 0;
    // Deletes the records of a partition from before this offset (DeleteRecords).
    virtual Status delete_before(const std::string& topic, std::int32_t partition, std::int64_t offset,
                                 std::int64_t timeout_ms) = 0;
};

}  // namespace duewheel
