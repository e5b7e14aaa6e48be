#include "kafka_arguments.h"

#include <utility>

namespace duewheel {

void KafkaArguments::add_to(CLI::App& verb) {
    verb.add_option("--kafka-topic", topic,
                    "Send its messages to this Kafka topic instead of keeping them for consumers")
        ->type_name("TOPIC");
    verb.add_option("--kafka-key", key, "Key of the records of messages that have neither a key nor an order key");
    verb.add_option("--kafka-partition", partition, "Send all messages to this partition; default: the key selects it");
    verb.add_option("--kafka-delivery", delivery,
                    "exactly_once (default), or at_least_once, which is faster and may send a message again")
        ->type_name("WORD");
}

void KafkaArguments::put_into(boost::json::object& request) const {
    boost::json::object kafka;
    if (topic) kafka["topic"] = *topic;
    if (key) kafka["key"] = *key;
    if (partition) kafka["partition"] = *partition;
    if (delivery) kafka["delivery"] = *delivery;
    if (kafka.empty()) return;
    boost::json::value& target = request["target"];
    if (!target.is_object()) target.emplace_object();
    target.get_object()["kafka"] = std::move(kafka);
}

}  // namespace duewheel
