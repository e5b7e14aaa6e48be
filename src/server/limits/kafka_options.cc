#include "server/limits/kafka_options.h"

#include <algorithm>
#include <cstddef>

#include "base/error_codes.h"
#include "server/node/sharding.h"

namespace duewheel {
namespace {

Error bad_setting(std::string name, const std::string& why) {
    return {"bad_kafka_setting"_code, "the setting " + name + " " + why, std::move(name)};
}

// A pattern is a name, or the beginning of names followed by `*`.
bool matches(std::string_view pattern, std::string_view name) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

// The two sides of `entry`, at its first `=`; the second one is empty if there is none.
std::pair<std::string, std::string> halves_of(const std::string& entry) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    return {entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size()))};
}

// By kafka.out.topics.
bool is_allowed(const KafkaOptions& options, std::string_view name_space, std::string_view topic) {
    return std::any_of(options.out_topics.begin(), options.out_topics.end(), [&](const std::string& entry) {
        const auto [of, pattern] = halves_of(entry);
        return of == name_space && matches(pattern, topic);
    });
}

Status check_out_topic(const std::string& entry) {
    const auto [name_space, pattern] = halves_of(entry);
    const std::string beginning = pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern;
    const bool is_pattern = pattern == "*" || is_kafka_topic_name(beginning);
    if (!name_space.empty() && is_pattern) return {};
    return bad_setting("kafka.out.topics",
                       "contains \"" + entry +
                           "\"; give NAMESPACE=TOPIC, where the topic may end in * for all that begin so, such as "
                           "team=payments.*");
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
    if (is_internal_kafka_topic(topic)) {
        return bad_setting(name, "contains " + topic + ", a topic of Kafka's or of such a server's own");
    }
    if (!is_internal_kafka_topic(target) && target != options.errors_topic) return {};
    return bad_setting(name, "sends " + topic + " to " + target +
                                 ", a topic of Kafka's or of such a server's own: choose another target");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> kafka_inputs(const KafkaOptions& options) {
    std::vector<std::pair<std::string, std::string>> inputs;
    for (const std::string& text : options.inputs) inputs.push_back(halves_of(text));
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
    for (const std::string& entry : options.out_topics) {
        if (Status fine = check_out_topic(entry); !fine) return fine;
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

bool is_internal_kafka_topic(std::string_view topic) {
    constexpr std::string_view kOwn = "duewheel.";
    if (topic.starts_with("__")) return true;
    if (!topic.starts_with(kOwn)) return false;
    topic.remove_prefix(kOwn.size());
    return topic.ends_with(".log") || topic.ends_with(".ledger") || topic.ends_with(".owners");
}

bool may_record_name_topic(const KafkaOptions& options, std::string_view name_space, const std::string& topic) {
    if (is_internal_kafka_topic(topic) || topic == options.errors_topic) return false;
    return options.out_topics.empty() || is_allowed(options, name_space, topic);
}

Status check_kafka_target(const KafkaOptions& options, std::string_view name_space, const KafkaTarget& target,
                          bool is_administrator) {
    const std::string field = "target.kafka.topic";
    if (options.bootstrap.empty()) {
        return Error{"kafka_not_configured"_code,
                     "the server has no Kafka brokers: name them in its setting kafka.bootstrap, and restart it",
                     "target.kafka"};
    }
    if (!is_administrator && !is_allowed(options, name_space, target.topic)) {
        return Error{"forbidden"_code,
                     "the administrators of the namespace `" + std::string(name_space) +
                         "` may not use this topic as a target: ask an administrator of the server to set it, or to "
                         "allow it in the setting kafka.out.topics",
                     field};
    }
    if (is_internal_kafka_topic(target.topic) || target.topic == options.errors_topic) {
        return Error{"bad_kafka_target"_code,
                     "`target.kafka.topic` is a topic of Kafka's or of such a server's own: use another one", field};
    }
    const auto inputs = kafka_inputs(options);
    const bool is_input =
        std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.first == target.topic; });
    if (!is_input) return {};
    return Error{"kafka_loop"_code,
                 "`target.kafka.topic` is an input topic of the server (kafka.in.topics), so its messages would come "
                 "back: use another topic",
                 field};
}

}  // namespace duewheel
