// The topic for records that can never be taken: each as it came, with three more headers:
//
//     duewheel-error-code    bad_duration
//     duewheel-error         `duewheel-delay`, column 3: ...
//     duewheel-source        orders.later/0/4711, which is topic, partition and offset
//
// Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kafka/client/kafka.h"

namespace duewheel {

class KafkaErrorsTopic {
  public:
    // `cluster` must outlive it.
    KafkaErrorsTopic(KafkaCluster& cluster, std::string topic, std::int64_t timeout_ms)
        : cluster_(cluster), topic_(std::move(topic)), timeout_ms_(timeout_ms) {}

    struct Rejected {
        const KafkaRecord* record = nullptr;
        const Error* error = nullptr;
    };
    // All of them are there, acknowledged by all replicas, or the error says why not; then some may be there. A record
    // that the topic refuses (too large) is written without its value and its own headers. Waits for Kafka. Codes:
    // those of kafka/client/kafka.h.
    Status write(const std::vector<Rejected>& rejected);

  private:
    Status write(const std::vector<KafkaRecord>& records, std::vector<std::size_t>& refused);

    KafkaCluster& cluster_;
    const std::string topic_;
    const std::int64_t timeout_ms_;
    std::unique_ptr<KafkaProducer> producer_;
};

}  // namespace duewheel
