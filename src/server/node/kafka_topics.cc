#include "server/node/kafka_topics.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/enum_name.h"

namespace duewheel {
namespace {

constexpr std::int64_t kLedgerRecordBytesMax = 1 << 20;
constexpr std::int32_t kSafeReplicas = 3;

class Findings {
  public:
    explicit Findings(const KafkaTopic& topic) : topic_(topic) {}

    // Empty if the topic has no such setting.
    std::string_view value(std::string_view name) const {
        const auto found = std::ranges::find(topic_.settings, name, &std::pair<std::string, std::string>::first);
        return found == topic_.settings.end() ? std::string_view() : std::string_view(found->second);
    }
    std::int64_t number(std::string_view name) const {
        std::int64_t number = 0;
        const std::string_view text = value(name);
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    bool is_compacted() const { return value("cleanup.policy").find("compact") != std::string_view::npos; }

    void warn(std::string text) { found_.push_back({.breaks_promise = false, .text = std::move(text)}); }
    // A setting that has to be changed to `wanted`.
    void refuse(const std::string& name, const std::string& wanted, const std::string& why) {
        found_.push_back({.breaks_promise = true, .text = advice(name, wanted, why)});
    }
    // Reports a setting that should be changed to `wanted`.
    void warn_of_setting(const std::string& name, const std::string& wanted, const std::string& why) {
        warn(advice(name, wanted, why));
    }
    void refuse_topic(std::string text) { found_.push_back({.breaks_promise = true, .text = std::move(text)}); }
    std::vector<KafkaTopicFinding> take() { return std::move(found_); }

  private:
    std::string advice(const std::string& name, const std::string& wanted, const std::string& why) const {
        return name + " is " + std::string(value(name)) + ", and " + why +
               ": run kafka-configs --alter --entity-type topics --entity-name " + topic_.name + " --add-config " +
               name + "=" + wanted;
    }

    const KafkaTopic& topic_;
    std::vector<KafkaTopicFinding> found_;
};

// Checks a topic of the server itself, from which nothing may be lost.
void check_own_topic(const KafkaTopic& topic, Findings& findings) {
    const std::string lost = "Kafka may remove records that the server needs";
    if (findings.value("cleanup.policy") != "delete") findings.refuse("cleanup.policy", "delete", lost);
    if (findings.value("retention.ms") != "-1") findings.refuse("retention.ms", "-1", lost);
    if (findings.value("retention.bytes") != "-1") findings.refuse("retention.bytes", "-1", lost);
    if (findings.number("max.message.bytes") < kLedgerRecordBytesMax) {
        findings.refuse("max.message.bytes", std::to_string(kLedgerRecordBytesMax),
                        "records of the server may be larger");
    }
    if (findings.value("unclean.leader.election.enable") == "true") {
        findings.refuse("unclean.leader.election.enable", "false",
                        "a broker that lacks acknowledged records may become the leader");
    }
    if (topic.replicas >= kSafeReplicas && findings.number("min.insync.replicas") < 2) {
        findings.refuse("min.insync.replicas", "2", "a record is acknowledged that only one broker has");
    }
    if (topic.replicas >= kSafeReplicas && findings.number("min.insync.replicas") >= topic.replicas) {
        findings.warn_of_setting("min.insync.replicas", std::to_string(topic.replicas - 1),
                                 "while one broker is down, nothing can be written");
    }
}

void check_replicas(const KafkaTopic& topic, Findings& findings) {
    if (topic.replicas >= kSafeReplicas) return;
    findings.warn("it has " + std::to_string(topic.replicas) + (topic.replicas == 1 ? " replica" : " replicas") +
                  ", so the loss of a broker may lose its records: in production, give it 3");
}

}  // namespace

std::string_view name_of(KafkaTopicRole role) {
    return enum_name<KafkaTopicRole::target>(role, {"ledger", "log", "owners", "errors", "input", "target"});
}

std::vector<KafkaTopicUse> kafka_topics(const KafkaOptions& options) {
    std::vector<KafkaTopicUse> uses{{.topic = options.out.ledger_topic(), .role = KafkaTopicRole::ledger}};
    const auto add = [&](const std::string& topic, KafkaTopicRole role) {
        KafkaTopicUse use{.topic = topic, .role = role};
        if (!topic.empty() && std::ranges::find(uses, use) == uses.end()) uses.push_back(std::move(use));
    };
    if (options.log.replicate) {
        add(options.log_topic(), KafkaTopicRole::log);
        add(options.owners_topic(), KafkaTopicRole::owners);
    }
    const auto inputs = kafka_inputs(options);
    if (!inputs.empty()) add(options.errors_topic, KafkaTopicRole::errors);
    for (const auto& [input, target] : inputs) {
        add(input, KafkaTopicRole::input);
        add(target, KafkaTopicRole::target);
    }
    return uses;
}

KafkaTopic new_kafka_topic(const KafkaTopicUse& use, std::int32_t partitions, std::int32_t replicas) {
    KafkaTopic topic{.name = use.topic, .partitions = partitions, .replicas = replicas, .settings = {}};
    if (use.role == KafkaTopicRole::owners) {
        topic.partitions = 1;
        topic.settings = {{"cleanup.policy", "compact"}};
    }
    if (use.role != KafkaTopicRole::ledger && use.role != KafkaTopicRole::log) return topic;
    topic.partitions = std::max(partitions, 1);
    topic.settings = {
        {"cleanup.policy", "delete"},
        {"retention.ms", "-1"},
        {"retention.bytes", "-1"},
        {"max.message.bytes", std::to_string(2 * kLedgerRecordBytesMax)},
        {"min.insync.replicas", replicas >= kSafeReplicas ? "2" : "1"},
        {"unclean.leader.election.enable", "false"},
    };
    return topic;
}

std::vector<KafkaTopicFinding> check_kafka_topic(KafkaTopicRole role, const KafkaTopic& topic) {
    Findings findings(topic);
    if (topic.settings.empty()) {
        findings.warn(
            "its settings cannot be read: give Duewheel's user the permission DescribeConfigs on it (kafka-acls)");
    } else if (role == KafkaTopicRole::ledger || role == KafkaTopicRole::log) {
        check_own_topic(topic, findings);
    } else if (role == KafkaTopicRole::owners) {
        if (!findings.is_compacted())
            findings.warn_of_setting("cleanup.policy", "compact", "it grows with each takeover");
    } else if (findings.is_compacted() && role == KafkaTopicRole::input) {
        findings.warn(
            "it is compacted, so Kafka may remove a record before it is read if a later one has the same key: use a "
            "topic with cleanup.policy=delete");
    } else if (findings.is_compacted()) {
        findings.warn("it is compacted, so it refuses records without a key: give each message a key");
    }
    if (role == KafkaTopicRole::log && topic.replicas < kSafeReplicas) {
        findings.refuse_topic("it has " + std::to_string(topic.replicas) +
                              (topic.replicas == 1 ? " replica" : " replicas") +
                              ", so the loss of a broker loses acknowledged messages: create it with 3, or set "
                              "kafka.log.unsafe_replication for a trial");
    } else {
        check_replicas(topic, findings);
    }
    return findings.take();
}

std::optional<KafkaTopicFinding> check_partitions(KafkaTopicRole role, const KafkaTopic& topic, std::uint32_t shards) {
    const auto partitions = static_cast<std::uint32_t>(topic.partitions);
    const std::string has = "it has " + std::to_string(partitions) + (partitions == 1 ? " partition" : " partitions") +
                            ", and the setting shards.count is " + std::to_string(shards) + ": ";
    if (role == KafkaTopicRole::ledger && partitions < shards) {
        return KafkaTopicFinding{.breaks_promise = true,
                                 .text = has + "each shard needs one. Run kafka-topics --alter --topic " + topic.name +
                                         " --partitions " + std::to_string(shards)};
    }
    if (role == KafkaTopicRole::log && partitions != shards) {
        return KafkaTopicFinding{.breaks_promise = true,
                                 .text = has +
                                         "it must have one for each shard. Correct the setting, or create the "
                                         "topic of a new cluster with `duewheel kafka create-topics --log "
                                         "--shards " +
                                         std::to_string(shards) + "`"};
    }
    return std::nullopt;
}

}  // namespace duewheel
