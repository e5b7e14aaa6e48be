// Which target topics exist. A message whose topic does not exist fails at once: librdkafka would wait some seconds for
// the topic, and the other messages of the batch with it, and some brokers would create the topic.
//
// A topic is looked up before the first record that is sent to it, and again after one has failed.
//
// Its calls block. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "kafka/client/kafka.h"
#include "kafka/out/kafka_batch.h"

namespace duewheel {

class KafkaKnownTopics {
  public:
    // `cluster` must outlive it.
    KafkaKnownTopics(KafkaCluster& cluster, std::int64_t timeout_ms) : cluster_(cluster), timeout_ms_(timeout_ms) {}

    // Returns those of these messages of the batch whose topic exists, or about whose topic the brokers do not answer.
    // The outcome of the others is `failed`.
    std::vector<std::size_t> keep_existing(KafkaBatch& batch, const std::vector<std::size_t>& messages);
    // Looks up the topics of those of the messages that have failed, when they are used again.
    void forget_failed(const KafkaBatch& batch, const std::vector<std::size_t>& messages);

  private:
    KafkaCluster& cluster_;
    const std::int64_t timeout_ms_;
    std::unordered_set<std::string> known_;
};

// The error is that of a topic, and of all its records: it is missing, or may not be written.
bool is_of_kafka_topic(const Error& error);

}  // namespace duewheel
