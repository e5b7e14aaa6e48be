// An appender on librdkafka. Part of kafka/client/kafka_client.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kafka/client/kafka.h"
#include "kafka/client/kafka_handle.h"

namespace duewheel {

class RdkafkaAppender final : public KafkaAppender {
  public:
    static Result<std::unique_ptr<KafkaAppender>> open(const rd_kafka_conf_t& base, const std::string& topic,
                                                       std::int32_t partition, KafkaWatch& watch);

    ~RdkafkaAppender() override;

    Result<std::vector<std::int64_t>> append(const std::vector<std::string>& values, std::int64_t timeout_ms) override;

  private:
    RdkafkaAppender(std::string topic, std::int32_t partition) : topic_(std::move(topic)), partition_(partition) {}

    static void on_report(rd_kafka_t* handle, const rd_kafka_message_t* message, void* self);

    const std::string topic_;
    const std::int32_t partition_;
    // State of the current append().
    std::vector<std::int64_t> offsets_;
    std::size_t reported_ = 0;
    rd_kafka_resp_err_t error_ = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool is_used_up_ = false;  // by an error
    KafkaTopicPtr topic_handle_;
    std::unique_ptr<KafkaHandle> handle_;  // destroyed first, as it may report until then
};

}  // namespace duewheel
