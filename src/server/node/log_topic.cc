#include "server/node/log_topic.h"

#include "base/error_codes.h"

namespace duewheel {

Result<std::vector<KafkaTopicFinding>> check_log_topic(KafkaCluster& cluster, const KafkaOptions& options,
                                                       std::int64_t timeout_ms) {
    const Result<KafkaTopic> topic = cluster.look_at(options.log_topic(), timeout_ms);
    if (!topic) return topic.error();
    return check_kafka_topic(KafkaTopicRole::log, *topic);
}

Status refuse_unsafe_topic(const KafkaOptions& options, const std::vector<KafkaTopicFinding>& findings) {
    for (const KafkaTopicFinding& finding : findings) {
        if (!finding.breaks_promise) continue;
        return Error{"unsafe_topic"_code,
                     "topic " + options.log_topic() + " may lose acknowledged messages: " + finding.text};
    }
    return {};
}

}  // namespace duewheel
