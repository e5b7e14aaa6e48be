#include "kafka/client/kafka_consumer.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::int64_t kCheckIntervalNs = 3'000'000'000;
constexpr int kCheckTimeoutMs = 1000;
// How long a broker may say that it lacks records which were read from another one before it is believed.
constexpr std::int64_t kBelieveNs = 20'000'000'000;
constexpr std::int64_t kLookAgainNs = 500'000'000;
constexpr std::int64_t kLookTimeoutMs = 500;
// The code for an answer that is older than what is known. No broker gives it to this request.
constexpr rd_kafka_resp_err_t kTooShort = RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH;

using MessagePtr = CPointer<rd_kafka_message_t, rd_kafka_message_destroy>;

std::string partition_name(const std::string& topic, std::int32_t partition) {
    return topic + "/" + std::to_string(partition);
}

std::optional<std::string> to_bytes(const void* bytes, std::size_t size) {
    if (bytes == nullptr) return std::nullopt;
    return std::string(static_cast<const char*>(bytes), size);
}

std::vector<KafkaHeader> headers_of(const rd_kafka_message_t& message) {
    std::vector<KafkaHeader> made;
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return made;
    made.reserve(rd_kafka_header_cnt(headers));
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        made.push_back({.name = name, .value = to_bytes(value, size)});
    }
    return made;
}

// The offset that RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END stands for now. By the lookup of timestamps, because
// rd_kafka_query_watermark_offsets() waits for a broker that does not answer, whatever its timeout.
rd_kafka_resp_err_t offset_at(rd_kafka_t* handle, const std::string& topic, std::int32_t partition, std::int64_t where,
                              int timeout_ms, std::int64_t& offset) {
    const KafkaPartitionsPtr asked(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_t& one = *rd_kafka_topic_partition_list_add(asked.get(), topic.c_str(), partition);
    one.offset = where;
    const rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(handle, asked.get(), timeout_ms);
    offset = one.offset;
    return error == RD_KAFKA_RESP_ERR_NO_ERROR ? one.err : error;
}

}  // namespace

Result<std::unique_ptr<KafkaConsumer>> RdkafkaConsumer::open(const rd_kafka_conf_t& base, KafkaWatch& watch) {
    std::unique_ptr<RdkafkaConsumer> made(new RdkafkaConsumer());
    Result<std::unique_ptr<KafkaHandle>> handle = KafkaHandle::open(RD_KAFKA_CONSUMER, base,
                                                                    {{"isolation.level", "read_committed"},
                                                                     {"enable.auto.commit", "false"},
                                                                     {"enable.auto.offset.store", "false"},
                                                                     {"auto.offset.reset", "error"},
                                                                     {"check.crcs", "true"},
                                                                     {"fetch.error.backoff.ms", "100"},
                                                                     // A broker answers offsets() after the fetch that
                                                                     // waits on the same connection.
                                                                     {"fetch.wait.max.ms", "200"},
                                                                     // Read ahead, for each partition.
                                                                     {"queued.max.messages.kbytes", "8192"}},
                                                                    watch);
    if (!handle) return std::move(handle).error();
    made->handle_ = std::move(*handle);
    made->queue_.reset(rd_kafka_queue_new(made->handle_->get()));
    return std::unique_ptr<KafkaConsumer>(std::move(made));
}

RdkafkaConsumer::~RdkafkaConsumer() {
    for (const auto& [partition, reading] : assigned_) {
        rd_kafka_consume_stop(topics_.at(partition.first).get(), partition.second);
    }
    topics_.clear();
    queue_.reset();
}

Status RdkafkaConsumer::assign(const std::string& topic, std::int32_t partition, std::int64_t offset) {
    assert(!assigned_.contains({topic, partition}));
    KafkaTopicPtr& handle = topics_[topic];
    if (!handle) handle.reset(rd_kafka_topic_new(handle_->get(), topic.c_str(), nullptr));
    Status started = start({topic, partition}, offset);
    if (started) assigned_.emplace(Partition(topic, partition), Reading{.next = offset});
    return started;
}

Status RdkafkaConsumer::start(const Partition& partition, std::int64_t offset) {
    const auto& [topic, number] = partition;
    const KafkaTopicPtr& handle = topics_.at(topic);
    if (handle && rd_kafka_consume_start_queue(handle.get(), number, offset, queue_.get()) == 0) return {};
    Error error = handle_->error(rd_kafka_last_error(), "topic " + topic);
    error.field = partition_name(topic, number);
    return error;
}

Status RdkafkaConsumer::unassign(const std::string& topic, std::int32_t partition) {
    if (assigned_.erase({topic, partition}) == 0) return {};
    rd_kafka_consume_stop(topics_.at(topic).get(), partition);
    return {};
}

Result<std::vector<KafkaRecord>> RdkafkaConsumer::poll(std::size_t records_max, std::int64_t timeout_ms) {
    assert(records_max > 0);
    handle_->poll();
    look_at_trimmed();
    std::vector<KafkaRecord> records;
    if (!errors_.empty()) return take_error();
    if (const MessagePtr first(rd_kafka_consume_queue(queue_.get(), to_rdkafka_timeout(timeout_ms))); first) {
        append(*first, records);
        std::vector<rd_kafka_message_t*> more(records_max - 1);
        // A timeout of zero: what is there. Otherwise it would wait until all have come.
        const ssize_t count =
            more.empty() ? 0 : rd_kafka_consume_batch_queue(queue_.get(), 0, more.data(), more.size());
        for (ssize_t i = 0; i < count; ++i) {
            const MessagePtr message(more[static_cast<std::size_t>(i)]);
            append(*message, records);
        }
    }
    if (!records.empty()) return records;
    handle_->poll();
    if (std::optional<Error> outage = handle_->take_outage()) {
        errors_.push_back(*std::move(outage));
    } else if (const std::int64_t now_ns = monotonic_now_ns(); now_ns >= check_at_ns_) {
        check_at_ns_ = now_ns + kCheckIntervalNs;
        check_topics();
    }
    if (!errors_.empty()) return take_error();
    return records;
}

// librdkafka waits for a missing topic without a word, also for one that was deleted.
void RdkafkaConsumer::check_topics() {
    for (const auto& [topic, handle] : topics_) {
        const auto first = assigned_.lower_bound({topic, 0});
        if (first == assigned_.end() || first->first.first != topic) continue;
        const rd_kafka_metadata_t* read = nullptr;
        if (rd_kafka_metadata(handle_->get(), 0, handle.get(), &read, kCheckTimeoutMs) != RD_KAFKA_RESP_ERR_NO_ERROR)
            return;
        const KafkaMetadataPtr metadata(read);
        rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
        std::int32_t partitions = 0;
        if (metadata->topic_cnt == 1) {
            error = metadata->topics[0].err;
            partitions = metadata->topics[0].partition_cnt;
        }
        const bool is_missing =
            error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR && !is_missing) continue;  // its leader is being elected
        for (auto at = first; at != assigned_.end() && at->first.first == topic;) {
            const auto [name, partition] = (at++)->first;
            if (!is_missing && partition < partitions) continue;
            errors_.push_back(handle_->error(is_missing ? error : RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
                                             "topic " + partition_name(name, partition)));
            errors_.back().field = partition_name(name, partition);
            static_cast<void>(unassign(name, partition));
        }
    }
}

// A broker that was paused or cut off believes for a moment, when it is back, that it still leads its partitions, and
// the client may believe it, too. It lacks what was written since, which does not mean that the topic has lost it. That
// the topic begins after the offset is believed at once: such a broker lacks new records, not old ones.
void RdkafkaConsumer::look_at_trimmed() {
    std::vector<Partition> lost;
    for (auto& [partition, reading] : assigned_) {
        if (!reading.trimmed || monotonic_now_ns() < reading.look_again_ns) continue;
        const auto& [topic, number] = partition;
        const Result<Offsets> offsets = this->offsets(topic, number, kLookTimeoutMs, 0);
        const std::int64_t now_ns = monotonic_now_ns();
        reading.look_again_ns = now_ns + kLookAgainNs;
        if (!offsets) {
            reading.trimmed_since_ns = now_ns;  // it has no leader
        } else if (offsets->low > reading.next) {
            lost.push_back(partition);
        } else if (offsets->high < reading.next) {
            if (now_ns - reading.trimmed_since_ns >= kBelieveNs) lost.push_back(partition);
        } else {
            reading.trimmed.reset();
            rd_kafka_consume_stop(topics_.at(topic).get(), number);
            if (Status started = start(partition, reading.next); !started) errors_.push_back(started.error());
        }
    }
    for (const Partition& partition : lost) {
        errors_.push_back(*std::move(assigned_.at(partition).trimmed));
        static_cast<void>(unassign(partition.first, partition.second));
    }
}

Error RdkafkaConsumer::take_error() {
    Error error = std::move(errors_.front());
    errors_.pop_front();
    return error;
}

Result<KafkaConsumer::Offsets> RdkafkaConsumer::offsets(const std::string& topic, std::int32_t partition,
                                                        std::int64_t timeout_ms, std::int64_t at_least) {
    Offsets offsets;
    const rd_kafka_resp_err_t error = handle_->ask(timeout_ms, [&](int attempt_ms) {
        const rd_kafka_resp_err_t low =
            offset_at(handle_->get(), topic, partition, RD_KAFKA_OFFSET_BEGINNING, attempt_ms, offsets.low);
        if (low != RD_KAFKA_RESP_ERR_NO_ERROR) return low;
        const rd_kafka_resp_err_t high =
            offset_at(handle_->get(), topic, partition, RD_KAFKA_OFFSET_END, attempt_ms, offsets.high);
        if (high != RD_KAFKA_RESP_ERR_NO_ERROR || offsets.high >= at_least) return high;
        return kTooShort;
    });
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == kTooShort) return offsets;
    Error made = handle_->error(error, "topic " + topic);
    made.field = partition_name(topic, partition);
    return made;
}

void RdkafkaConsumer::append(const rd_kafka_message_t& message, std::vector<KafkaRecord>& records) {
    const std::string topic = message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt);
    const auto reading = assigned_.find({topic, message.partition});
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        Error error = handle_->error(message.err, "topic " + topic, rd_kafka_message_errstr(&message));
        error.field = partition_name(topic, message.partition);
        if (error.code != "position_trimmed"_code || reading == assigned_.end() || reading->second.next < 0) {
            errors_.push_back(std::move(error));
        } else if (!std::exchange(reading->second.trimmed, std::move(error))) {
            reading->second.trimmed_since_ns = monotonic_now_ns();
            reading->second.look_again_ns = 0;
        }
        return;
    }
    if (reading != assigned_.end()) reading->second.next = message.offset + 1;
    rd_kafka_timestamp_type_t kind{};
    records.push_back({.topic = topic,
                       .partition = message.partition,
                       .key = to_bytes(message.key, message.key_len),
                       .value = to_bytes(message.payload, message.len),
                       .headers = headers_of(message),
                       .timestamp_ms = std::max<std::int64_t>(0, rd_kafka_message_timestamp(&message, &kind)),
                       .offset = message.offset});
}

}  // namespace duewheel
