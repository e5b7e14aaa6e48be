#include "kafka/out/kafka_known_topics.h"

#include <unordered_map>

#include "base/error_codes.h"

namespace duewheel {

std::vector<std::size_t> KafkaKnownTopics::keep_existing(KafkaBatch& batch, const std::vector<std::size_t>& messages) {
    std::vector<std::size_t> kept;
    kept.reserve(messages.size());
    std::unordered_map<std::string, Error> failed;  // topics
    bool answers = true;
    for (const std::size_t index : messages) {
        KafkaBatch::Message& message = batch.messages[index];
        const std::string& topic = message.record.topic;
        if (answers && !known_.contains(topic) && !failed.contains(topic)) {
            const Result<KafkaTopic> found = cluster_.look_at(topic, timeout_ms_);
            if (found) {
                known_.insert(topic);
            } else if (is_of_kafka_topic(found.error())) {
                failed.emplace(topic, found.error());
            } else {
                answers = false;  // each further call might take as long
            }
        }
        if (const auto error = failed.find(topic); error != failed.end()) {
            message.outcome = {KafkaOutcome::Kind::failed, error->second};
        } else {
            kept.push_back(index);
        }
    }
    return kept;
}

void KafkaKnownTopics::forget_failed(const KafkaBatch& batch, const std::vector<std::size_t>& messages) {
    for (const std::size_t index : messages) {
        const KafkaBatch::Message& message = batch.messages[index];
        if (message.outcome.kind == KafkaOutcome::Kind::failed) known_.erase(message.record.topic);
    }
}

bool is_of_kafka_topic(const Error& error) {
    return error.code == "unknown_topic"_code || error.code == "kafka_refused"_code;
}

}  // namespace duewheel
