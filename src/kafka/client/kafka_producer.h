// A producer on librdkafka. Part of kafka/client/kafka_client.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kafka/client/kafka.h"
#include "kafka/client/kafka_handle.h"

namespace duewheel {

class RdkafkaProducer final : public KafkaProducer {
  public:
    static Result<std::unique_ptr<KafkaProducer>> open(const rd_kafka_conf_t& base, const std::string& transactional_id,
                                                       KafkaWatch& watch);
    ~RdkafkaProducer() override;

    Status init_transactions(std::int64_t timeout_ms) override;
    Status begin_transaction() override;
    Status produce(const KafkaRecord& record) override;
    Result<std::vector<Status>> flush(std::int64_t timeout_ms) override;
    Status commit_transaction(std::int64_t timeout_ms) override;
    Status abort_transaction(std::int64_t timeout_ms) override;

  private:
    struct Record {
        std::string topic;
        bool is_reported = false;
        rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    };

    explicit RdkafkaProducer(KafkaWatch& watch) : watch_(watch) {}

    Status open_handle();
    void look_up(const std::string& topic);

    static void on_report(rd_kafka_t* handle, const rd_kafka_message_t* message, void* self);
    void forget_records();
    bool ended_once();

    KafkaWatch& watch_;
    KafkaConfPtr conf_;
    // Since the last flush or begin. A report of an earlier record has the number of an earlier round.
    std::vector<Record> records_;
    std::uint32_t round_ = 0;
    bool has_refused_ = false;                     // a record of this transaction
    bool is_lookup_failing_ = false;               // since the last flush or begin
    std::unique_ptr<KafkaHandle> handle_;          // destroyed before what is above, as it may report until then
    std::map<std::string, KafkaTopicPtr> topics_;  // that were looked up; of this handle
};

}  // namespace duewheel
