// A consumer on librdkafka. Part of kafka/client/kafka_client.h.
//
// It uses the interface of librdkafka that reads partitions into a queue and knows no groups, so it needs no permission
// for one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kafka/client/kafka.h"
#include "kafka/client/kafka_handle.h"

namespace duewheel {

class RdkafkaConsumer final : public KafkaConsumer {
  public:
    static Result<std::unique_ptr<KafkaConsumer>> open(const rd_kafka_conf_t& base, KafkaWatch& watch);
    ~RdkafkaConsumer() override;

    Status assign(const std::string& topic, std::int32_t partition, std::int64_t offset) override;
    Status unassign(const std::string& topic, std::int32_t partition) override;
    Result<std::vector<KafkaRecord>> poll(std::size_t records_max, std::int64_t timeout_ms) override;
    Result<Offsets> offsets(const std::string& topic, std::int32_t partition, std::int64_t timeout_ms,
                            std::int64_t at_least) override;

  private:
    using Partition = std::pair<std::string, std::int32_t>;  // with its topic
    struct Reading {
        std::int64_t next = 0;  // offset; negative: KafkaConsumer::kBeginning
        // The broker does not have that offset: what it said, since when, and when it is asked again; 0: it has.
        std::optional<Error> trimmed;
        std::int64_t trimmed_since_ns = 0;
        std::int64_t look_again_ns = 0;
    };

    RdkafkaConsumer() = default;

    // Adds the record of the message, or its error.
    void append(const rd_kafka_message_t& message, std::vector<KafkaRecord>& records);
    Error take_error();
    void check_topics();
    Status start(const Partition& partition, std::int64_t offset);
    void look_at_trimmed();

    std::unique_ptr<KafkaHandle> handle_;
    KafkaQueuePtr queue_;
    std::map<std::string, KafkaTopicPtr> topics_;
    std::map<Partition, Reading> assigned_;
    std::int64_t check_at_ns_ = 0;
    std::deque<Error> errors_;  // of the next polls, after the records that came before them
};

}  // namespace duewheel
