#include "server/kafka_options.h"

#include <algorithm>

#include "server/sharding.h"

namespace duewheel {
namespace {

Error bad_setting(std::string name, const std::string& why) {
    return {"bad_kafka_setting", "the setting " + name + " " + why, std::move(name)};
}

Status check_input(const std::string& topic, const std::string& target, const KafkaOptions& options) {
    const std::string name = "kafka.in.topics";
    for (const std::string* each : {&topic, &target}) {
        if (is_kafka_topic_name(*each) || (each == &target && target.empty())) continue;
        return bad_setting(name, "names the topic \"" + *each +
                                     "\"; a topic has up to 249 letters, digits and . _ -: give INPUT or INPUT=TARGET");
    }
    if (topic == options.errors_topic) {
        return bad_setting(name, "contains the errors topic " + topic +
                                     ", so its records would come back: remove it, or change kafka.in.errors");
    }
    for (const std::string& own : {options.log_topic(), options.owners_topic(), options.out.ledger_topic()}) {
        if (topic == own) return bad_setting(name, "contains the server's own topic " + topic);
        if (target != own) continue;
        return bad_setting(name, "sends " + topic + " to the server's own topic " + target + ": choose another target");
    }
    if (target == options.errors_topic) {
        return bad_setting(name, "sends " + topic + " to the server's own topic " + target + ": choose another target");
    }
    return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> kafka_inputs(const KafkaOptions& options) {
    std::vector<std::pair<std::string, std::string>> inputs;
    for (const std::string& text : options.inputs) {
        const std::size_t equals = std::min(text.find('='), text.size());
        inputs.emplace_back(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
    }
    return inputs;
}

Status check_kafka_options(const KafkaOptions& options) {
    if (!is_kafka_topic_name(options.out.cluster) || options.out.cluster.size() > kKafkaClusterNameBytesMax) {
        return bad_setting("kafka.cluster", "must have 1 to " + std::to_string(kKafkaClusterNameBytesMax) +
                                                " letters, digits and . _ -");
    }
    if (!is_kafka_topic_name(options.errors_topic)) {
        return bad_setting("kafka.in.errors", "must be the name of a topic: up to 249 letters, digits and . _ -");
    }
    if (options.bootstrap.empty() && !options.inputs.empty()) {
        return bad_setting("kafka.in.topics", "needs brokers: name them in the setting kafka.bootstrap");
    }
    if (options.bootstrap.empty() && options.log.replicate) {
        return bad_setting("kafka.log.replicate", "needs brokers: name them in the setting kafka.bootstrap");
    }
    if (!options.log.url.empty() && !is_node_url(options.log.url)) {
        return bad_setting("kafka.log.url",
                           "is \"" + options.log.url + "\", which is not the URL of a node, such as http://node1:7420");
    }
    const auto inputs = kafka_inputs(options);
    for (auto input = inputs.begin(); input != inputs.end(); ++input) {
        const auto& [topic, target] = *input;
        if (Status fine = check_input(topic, target, options); !fine) return fine;
        const auto is_topic = [](const std::string& name) {
            return [&name](const auto& other) { return other.first == name; };
        };
        if (std::any_of(inputs.begin(), input, is_topic(topic))) {
            return bad_setting("kafka.in.topics", "contains the topic " + topic + " twice: give each once");
        }
        if (std::any_of(inputs.begin(), inputs.end(), is_topic(target))) {
            return bad_setting("kafka.in.topics", "sends " + topic + " to " + target +
                                                      ", which is an input topic: its records would come back");
        }
    }
    return {};
}

Status check_kafka_target(const KafkaOptions& options, const KafkaTarget& target) {
    if (options.bootstrap.empty()) {
        return Error{"kafka_not_configured",
                     "the server has no Kafka brokers: name them in its setting kafka.bootstrap, and restart it",
                     "target.kafka"};
    }
    if (target.topic == options.out.ledger_topic() || target.topic == options.log_topic() ||
        target.topic == options.owners_topic()) {
        return Error{"bad_kafka_target", "`target.kafka.topic` is a topic of the server itself: use another one",
                     "target.kafka.topic"};
    }
    const auto inputs = kafka_inputs(options);
    const bool is_input =
        std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.first == target.topic; });
    if (!is_input) return {};
    return Error{"kafka_loop",
                 "`target.kafka.topic` is an input topic of the server (kafka.in.topics), so its messages would come "
                 "back: use another topic",
                 "target.kafka.topic"};
}

}  // namespace duewheel
