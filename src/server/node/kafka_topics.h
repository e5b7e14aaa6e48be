// The topics that a server uses in Kafka: the settings that they need, and what is wrong with those that exist. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/client/kafka.h"
#include "server/limits/kafka_options.h"

namespace duewheel {

enum class KafkaTopicRole : std::uint8_t {
    ledger,  // what was sent; exactly once depends on it
    log,     // of a server whose log is replicated: everything depends on it
    owners,  // where the owners of the parts of this log answer
    errors,
    input,
    target,
};

std::string_view name_of(KafkaTopicRole role);

struct KafkaTopicUse {
    std::string topic;
    KafkaTopicRole role = KafkaTopicRole::target;

    bool operator==(const KafkaTopicUse&) const = default;
};

// The topics that the settings name: the ledger, the log and its owners if it is replicated, and with input topics
// these, their targets and the errors topic.
std::vector<KafkaTopicUse> kafka_topics(const KafkaOptions& options);

// A topic as it is created for this use. `partitions` 0: as many as the brokers create by default; the ledger and the
// log need one for each shard, and have one then; that of the owners always has one.
KafkaTopic new_kafka_topic(const KafkaTopicUse& use, std::int32_t partitions, std::int32_t replicas);

struct KafkaTopicFinding {
    bool breaks_promise = false;  // otherwise a warning
    std::string text;             // what is wrong, then what to do
};

std::vector<KafkaTopicFinding> check_kafka_topic(KafkaTopicRole role, const KafkaTopic& topic);

// Checks the ledger and the log: each shard has a partition.
std::optional<KafkaTopicFinding> check_partitions(KafkaTopicRole role, const KafkaTopic& topic, std::uint32_t shards);

}  // namespace duewheel
