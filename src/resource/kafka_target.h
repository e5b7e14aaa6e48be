// The Kafka topic that the messages of a queue go to, as a value and in its byte form: a field of the queue's settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "resource/field.h"

namespace duewheel {

inline constexpr std::size_t kKafkaTopicBytesMax = 249;  // Kafka's own limit
inline constexpr std::size_t kKafkaKeyBytesMax = 1024;
inline constexpr std::size_t kKafkaTargetBytesMax = kKafkaTopicBytesMax + kKafkaKeyBytesMax + 32;

struct KafkaTarget {
    std::string topic;
    std::optional<std::string> key;         // of records whose message has neither a key nor an order key; not empty
    std::optional<std::int32_t> partition;  // of all records, from 0; otherwise the key decides
    bool exactly_once = true;               // false: at least once, without transactions, which is faster

    bool operator==(const KafkaTarget&) const = default;
};

// Letters, digits and . _ -, up to the maximum above, neither "." nor "..".
bool is_kafka_topic_name(std::string_view name);

template <>
const FieldTable& fields_of<KafkaTarget>();

}  // namespace duewheel
