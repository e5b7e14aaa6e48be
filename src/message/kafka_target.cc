#include "message/kafka_target.h"

#include <limits>

#include "base/ascii_name.h"
#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers. They are part of the log format: never change or reuse one.
enum Tag : std::uint32_t {
    kTopic = 1,
    kKey = 2,
    kPartition = 3,  // plus 1
    kAtLeastOnce = 4,
};

}  // namespace

bool is_kafka_topic_name(std::string_view name) {
    return is_ascii_name(name, kKafkaTopicBytesMax) && name != "." && name != "..";
}

std::string encode_kafka_target(const KafkaTarget& target) {
    std::string out;
    FieldWriter to(out);
    to.text(kTopic, target.topic);
    to.text(kKey, target.key.value_or(""));
    if (target.partition) to.number(kPartition, std::uint64_t{1} + static_cast<std::uint32_t>(*target.partition));
    to.boolean(kAtLeastOnce, !target.exactly_once);
    return out;
}

Result<KafkaTarget> decode_kafka_target(std::string_view bytes) {
    KafkaTarget target;
    std::string_view key;
    std::uint64_t partition = 0;
    bool at_least_once = false;
    FieldsReader from(bytes);
    from.text(kTopic, target.topic);
    if (from.text(kKey, key)) target.key = key;
    if (from.number(kPartition, partition)) {
        if (partition < 1 || partition - 1 > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) from.refuse();
        target.partition = static_cast<std::int32_t>(partition - 1);
    }
    from.boolean(kAtLeastOnce, at_least_once);
    target.exactly_once = !at_least_once;
    if (Status known = from.end("a queue's Kafka target holds"); !known) return std::move(known).error();
    if (from.damaged() || !is_kafka_topic_name(target.topic) ||
        (target.key && target.key->size() > kKafkaKeyBytesMax)) {
        return Error{"damaged_record", "a queue's Kafka target cannot be read"};
    }
    return target;
}

}  // namespace duewheel
