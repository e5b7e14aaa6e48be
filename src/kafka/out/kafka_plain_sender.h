// Sends batches of records at least once, without transactions: faster than KafkaSender, and a record whose
// acknowledgement is lost may be sent again. All records of a batch are under way at once; a producer does not reorder
// or repeat them on its own.
//
// Its calls block. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kafka/client/kafka.h"
#include "kafka/out/kafka_batch.h"
#include "kafka/out/kafka_known_topics.h"

namespace duewheel {

class KafkaPlainSender {
  public:
    // All must outlive it. `now_us`: of a monotonic clock.
    KafkaPlainSender(KafkaCluster& cluster, const KafkaOutOptions& options, std::function<std::int64_t()> now_us);
    ~KafkaPlainSender();

    // Sends the messages and fills in the results.
    void send(KafkaBatch& batch);

  private:
    using Indexes = std::vector<std::size_t>;  // of messages of the batch

    Indexes send_part(KafkaBatch& batch, const Indexes& part);

    KafkaCluster& cluster_;
    const KafkaOutOptions& options_;
    const std::function<std::int64_t()> now_us_;
    KafkaKnownTopics topics_;
    std::unique_ptr<KafkaProducer> producer_;  // null: not open
    KafkaSenderCounters counters_;
};

}  // namespace duewheel
