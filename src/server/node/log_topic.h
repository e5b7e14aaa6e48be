// Whether the topic of a replicated log has settings with which it may lose acknowledged messages. Blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "kafka/client/kafka.h"
#include "server/node/kafka_topics.h"

namespace duewheel {

// What is wrong with it; warnings too. Codes: those of Kafka.
Result<std::vector<KafkaTopicFinding>> check_log_topic(KafkaCluster& cluster, const KafkaOptions& options,
                                                       std::int64_t timeout_ms);

// The first finding that breaks the promise, as the error `unsafe_topic`.
Status refuse_unsafe_topic(const KafkaOptions& options, const std::vector<KafkaTopicFinding>& findings);

}  // namespace duewheel
