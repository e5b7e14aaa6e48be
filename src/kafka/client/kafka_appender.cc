#include "kafka/client/kafka_appender.h"

#include <cassert>
#include <utility>

#include "shared/system_clock.h"

namespace duewheel {

Result<std::unique_ptr<KafkaAppender>> RdkafkaAppender::open(const rd_kafka_conf_t& base, const std::string& topic,
                                                             std::int32_t partition, KafkaWatch& watch) {
    std::unique_ptr<RdkafkaAppender> made(new RdkafkaAppender(topic, partition));
    Result<std::unique_ptr<KafkaHandle>> handle = KafkaHandle::open(RD_KAFKA_PRODUCER, base,
                                                                    {{"enable.idempotence", "true"},
                                                                     {"acks", "all"},
                                                                     {"linger.ms", "0"},
                                                                     // The topic says how large a record may be.
                                                                     {"message.max.bytes", "67108864"}},
                                                                    watch, &on_report, made.get());
    if (!handle) return std::move(handle).error();
    made->handle_ = std::move(*handle);
    made->topic_handle_.reset(rd_kafka_topic_new(made->handle_->get(), topic.c_str(), nullptr));
    if (!made->topic_handle_) return made->handle_->error(rd_kafka_last_error(), "topic " + topic);
    return std::unique_ptr<KafkaAppender>(std::move(made));
}

Result<std::vector<std::int64_t>> RdkafkaAppender::append(const std::vector<std::string>& values,
                                                          std::int64_t timeout_ms) {
    assert(!is_used_up_);
    is_used_up_ = true;
    offsets_.assign(values.size(), -1);
    reported_ = 0;
    error_ = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (rd_kafka_produce(topic_handle_.get(), partition_, RD_KAFKA_MSG_F_COPY, const_cast<char*>(values[i].data()),
                             values[i].size(), nullptr, 0, reinterpret_cast<void*>(i)) != 0) {
            return handle_->error(rd_kafka_last_error(), "topic " + topic_);
        }
    }
    const std::int64_t until_ns = monotonic_now_ns() + timeout_ms * 1'000'000;
    while (reported_ < values.size()) {
        const std::int64_t left_ms = (until_ns - monotonic_now_ns()) / 1'000'000;
        if (left_ms <= 0) return handle_->error(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, "topic " + topic_);
        rd_kafka_poll(handle_->get(), to_rdkafka_timeout(left_ms));
    }
    if (error_ != RD_KAFKA_RESP_ERR_NO_ERROR) return handle_->error(error_, "topic " + topic_);
    is_used_up_ = false;
    return offsets_;
}

RdkafkaAppender::~RdkafkaAppender() {
    topic_handle_.reset();
}

void RdkafkaAppender::on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    auto& owner = *static_cast<RdkafkaAppender*>(self);
    const auto index = reinterpret_cast<std::uintptr_t>(message->_private);
    ++owner.reported_;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) owner.error_ = message->err;
    if (index < owner.offsets_.size()) owner.offsets_[index] = message->offset;
}

}  // namespace duewheel
