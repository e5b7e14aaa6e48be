// The settings of Kafka, and what they allow.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "delivery/kafka_batch.h"
#include "message/kafka_target.h"

namespace duewheel {

// The log of the server on a Kafka partition, which standby nodes follow.
struct KafkaLogOptions {
    bool replicate = false;
    std::string url;  // where other nodes send the clients of this one; empty: the address that it listens on
    std::int64_t takeover_after_ms = 5'000;
    bool unsafe_replication = false;  // accept a topic that may lose records
};

struct KafkaOptions {
    std::string bootstrap;            // "host:port,host:port"; empty: no Kafka
    std::string client_file;          // properties of librdkafka; empty: none
    KafkaOutOptions out;              // with this server's name in Kafka
    std::vector<std::string> inputs;  // "input" or "input=target"
    std::string errors_topic = "duewheel.errors";
    bool skips_trimmed = false;
    KafkaLogOptions log;

    std::string log_topic() const { return "duewheel." + out.cluster + ".log"; }
    std::string owners_topic() const { return "duewheel." + out.cluster + ".owners"; }
};

inline constexpr std::size_t kKafkaClusterNameBytesMax = 64;

// Code: bad_kafka_setting, with the name of the setting as the field.
Status check_kafka_options(const KafkaOptions& options);

// The input topics with their target topics, which are empty if their records name one. Of options that are valid.
std::vector<std::pair<std::string, std::string>> kafka_inputs(const KafkaOptions& options);

// Whether a queue may have this target. Codes: bad_kafka_target, kafka_loop, kafka_not_configured.
Status check_kafka_target(const KafkaOptions& options, const KafkaTarget& target);

}  // namespace duewheel
