#include "message/kafka_target.h"

#include <algorithm>
#include <limits>

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

void read_partition(FieldReader& from, std::optional<std::int32_t>& into) {
    std::uint64_t number = 0;
    from.number(number);
    if (number < 1 || number - 1 > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) return from.refuse();
    into = static_cast<std::int32_t>(number - 1);
}

}  // namespace

bool is_kafka_topic_name(std::string_view name) {
    return !name.empty() && name.size() <= kKafkaTopicBytesMax && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                      c == '_' || c == '-';
           });
}

std::string encode_kafka_target(const KafkaTarget& target) {
    std::string out;
    FieldWriter to(out);
    to.text(kTopic, target.topic);
    to.text(kKey, target.key.value_or(""));
    if (target.partition) to.number(kPartition, std::uint64_t{1} + static_cast<std::uint32_t>(*target.partition));
    to.number(kAtLeastOnce, target.exactly_once ? 0 : 1);
    return out;
}

Result<KafkaTarget> decode_kafka_target(std::string_view bytes) {
    KafkaTarget target;
    bool at_least_once = false;
    FieldReader from(bytes);
    while (from.next()) {
        switch (from.tag()) {
            case kTopic:
                from.text(target.topic);
                break;
            case kKey:
                from.text(target.key.emplace());
                break;
            case kPartition:
                read_partition(from, target.partition);
                break;
            case kAtLeastOnce:
                from.boolean(at_least_once);
                break;
            default:
                return Error{"newer_format",
                             "a queue's Kafka target holds field " + std::to_string(from.tag()) +
                                 ", which this version does not know: open the data with the version that wrote it"};
        }
    }
    target.exactly_once = !at_least_once;
    if (from.damaged() || !is_kafka_topic_name(target.topic) ||
        (target.key && target.key->size() > kKafkaKeyBytesMax)) {
        return Error{"damaged_record", "a queue's Kafka target cannot be read"};
    }
    return target;
}

}  // namespace duewheel
