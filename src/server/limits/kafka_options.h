// The settings of Kafka, and what they allow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kafka/out/kafka_batch.h"
#include "resource/kafka_target.h"

namespace duewheel {

// The log of the server on a Kafka partition, which standby nodes follow.
struct KafkaLogOptions {
    bool replicate = false;
    std::string url;  // where other nodes send the clients of this one; empty: the address that it listens on
    std::int64_t takeover_after_ms = 5'000;
    bool unsafe_replication = false;  // accept a topic that may lose records
};

struct KafkaOptions {
    std::string bootstrap;                // "host:port,host:port"; empty: no Kafka
    std::string client_file;              // properties of librdkafka; empty: none
    KafkaOutOptions out;                  // with this server's name in Kafka
    std::vector<std::string> inputs;      // "input" or "input=target"
    std::vector<std::string> out_topics;  // "namespace=pattern": which targets its administrators may set
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

// Topics that no queue may send to: those of Kafka itself (__consumer_offsets, ...), and those with which servers of
// this kind keep their promises, whatever their cluster (duewheel.NAME.log, .ledger, .owners).
bool is_internal_kafka_topic(std::string_view topic);

// Whether a record of an input topic, whose message is in this namespace, may name its target: where kafka.out.topics
// says nothing, any topic that is not internal.
bool may_record_name_topic(const KafkaOptions& options, std::string_view name_space, const std::string& topic);

// Whether a queue of the namespace may have this target; `is_administrator`: of the whole server, who sets it. Codes:
// bad_kafka_target, forbidden, kafka_loop, kafka_not_configured.
Status check_kafka_target(const KafkaOptions& options, std::string_view name_space, const KafkaTarget& target,
                          bool is_administrator);

}  // namespace duewheel
