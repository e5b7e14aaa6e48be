#include "resource/kafka_target.h"

#include <limits>

#include "base/ascii_name.h"
#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kDeliveries[] = {"exactly_once", "at_least_once"};

constexpr Field kKafkaTargetRows[] = {
    text<&KafkaTarget::topic>(1, "topic", "Send its messages to this Kafka topic instead of keeping them for consumers",
                              {.page = "the topic that messages are sent to",
                               .min = 1,
                               .max = kKafkaTopicBytesMax,
                               .when_absent = "give the topic that messages are sent to",
                               .is_required = true,
                               .schema = R"({"pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._-]+$"})"}),
    text<&KafkaTarget::key>(2, "key", "Key of the records of messages that have neither a key nor an order key",
                            {.page = "the key of records whose message has neither a [key of its "
                                     "own](http_api.md#parts-of-a-kafka-record) nor an order key, up to 1,024 bytes",
                             .min = 1,
                             .max = kKafkaKeyBytesMax}),
    count<&KafkaTarget::partition>(3, "partition", "Send all messages to this partition",
                                   {.page = "the partition of all records; by default the key selects it, as in "
                                            "Kafka's Java client",
                                    .min = 0,
                                    .max = std::numeric_limits<std::int32_t>::max(),
                                    .when_absent = "the partition that the key of each record selects"}),
    word<&KafkaTarget::exactly_once>(
        4, "delivery", "exactly_once, or at_least_once, which is faster and may send a message again", kDeliveries,
        {.page =
             "`exactly_once`, the default: in transactions. `at_least_once`: without transactions, which is faster; "
             "after a crash a message may be sent again",
         .code = "bad_kafka_target"_code}),
};

bool is_sound(const void* resource) {
    const auto& target = *static_cast<const KafkaTarget*>(resource);
    return is_kafka_topic_name(target.topic) &&
           (!target.key || (!target.key->empty() && target.key->size() <= kKafkaKeyBytesMax));
}

}  // namespace

template <>
const FieldTable& fields_of<KafkaTarget>() {
    static const FieldTable table("a queue's Kafka target holds", kKafkaTargetRows, is_sound);
    return table;
}

bool is_kafka_topic_name(std::string_view name) {
    return is_ascii_name(name, kKafkaTopicBytesMax) && name != "." && name != "..";
}

}  // namespace duewheel
