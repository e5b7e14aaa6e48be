#include "kafka/client/kafka_producer.h"

#include <array>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::int64_t kPurgeTimeoutMs = 1000;
constexpr int kLookupTimeoutMs = 1000;

// What librdkafka gives back with the report of a record: round and index, in place of a pointer.
void* to_opaque(std::uint32_t round, std::size_t index) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(round) << 32 | static_cast<std::uint32_t>(index));
}

// Null has no address; what is empty has one, or librdkafka takes it for null.
rd_kafka_vu_t bytes_value(rd_kafka_vtype_t type, const std::optional<std::string>& bytes) {
    rd_kafka_vu_t value{};
    value.vtype = type;
    if (bytes) {
        value.u.mem.ptr = const_cast<char*>(bytes->data());
        value.u.mem.size = bytes->size();
    }
    return value;
}

rd_kafka_headers_t* to_headers(const std::vector<KafkaHeader>& headers) {
    rd_kafka_headers_t* made = rd_kafka_headers_new(headers.size());
    for (const KafkaHeader& header : headers) {
        rd_kafka_header_add(made, header.name.data(), static_cast<ssize_t>(header.name.size()),
                            header.value ? header.value->data() : nullptr,
                            header.value ? static_cast<ssize_t>(header.value->size()) : 0);
    }
    return made;
}

}  // namespace

Result<std::unique_ptr<KafkaProducer>> RdkafkaProducer::open(const rd_kafka_conf_t& base,
                                                             const std::string& transactional_id, KafkaWatch& watch) {
    std::unique_ptr<RdkafkaProducer> made(new RdkafkaProducer(watch));
    made->conf_.reset(rd_kafka_conf_dup(&base));
    if (!transactional_id.empty()) {
        Status set = set_kafka_property(*made->conf_, "transactional.id", transactional_id);
        if (!set) return std::move(set).error();
    }
    if (Status opened = made->open_handle(); !opened) return std::move(opened).error();
    return std::unique_ptr<KafkaProducer>(std::move(made));
}

Status RdkafkaProducer::open_handle() {
    topics_.clear();
    handle_.reset();
    Result<std::unique_ptr<KafkaHandle>> handle =
        KafkaHandle::open(RD_KAFKA_PRODUCER, *conf_,
                          {{"enable.idempotence", "true"},
                           {"acks", "all"},
                           {"linger.ms", "2"},
                           {"partitioner", "murmur2_random"},
                           // The topic says how large a record may be. Batches stay below the limit that topics have by
                           // default.
                           {"message.max.bytes", "67108864"},
                           {"batch.size", "1000000"}},
                          watch_, &on_report, this);
    if (!handle) return std::move(handle).error();
    handle_ = std::move(*handle);
    return {};
}

RdkafkaProducer::~RdkafkaProducer() {
    forget_records();
}

Status RdkafkaProducer::init_transactions(std::int64_t timeout_ms) {
    const KafkaErrorPtr error(rd_kafka_init_transactions(handle_->get(), to_rdkafka_timeout(timeout_ms)));
    if (!error) return {};
    return handle_->error(*error, "Kafka does not start transactions");
}

Status RdkafkaProducer::begin_transaction() {
    forget_records();
    has_refused_ = false;
    handle_->reset_ends_sent();
    const KafkaErrorPtr error(rd_kafka_begin_transaction(handle_->get()));
    if (!error) return {};
    return handle_->error(*error, "Kafka does not begin a transaction");
}

// librdkafka looks up a topic that is new to it by a timer, once a second; until then its first record waits.
void RdkafkaProducer::look_up(const std::string& topic) {
    if (is_lookup_failing_ || topics_.contains(topic)) return;
    KafkaTopicPtr handle(rd_kafka_topic_new(handle_->get(), topic.c_str(), nullptr));
    if (!handle) return;
    const rd_kafka_metadata_t* read = nullptr;
    const rd_kafka_resp_err_t error = rd_kafka_metadata(handle_->get(), 0, handle.get(), &read, kLookupTimeoutMs);
    const KafkaMetadataPtr metadata(read);
    is_lookup_failing_ = error != RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!is_lookup_failing_) topics_.emplace(topic, std::move(handle));
}

Status RdkafkaProducer::produce(const KafkaRecord& record) {
    look_up(record.topic);
    rd_kafka_headers_t* headers = to_headers(record.headers);
    std::array<rd_kafka_vu_t, 8> values{};
    values[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    values[0].u.cstr = record.topic.c_str();
    values[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    values[1].u.i32 = record.partition;
    values[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    values[2].u.i = RD_KAFKA_MSG_F_COPY;
    values[3].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
    values[3].u.i64 = record.timestamp_ms;
    values[4].vtype = RD_KAFKA_VTYPE_HEADERS;
    values[4].u.headers = headers;
    values[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    values[5].u.ptr = to_opaque(round_, records_.size());
    values[6] = bytes_value(RD_KAFKA_VTYPE_KEY, record.key);
    values[7] = bytes_value(RD_KAFKA_VTYPE_VALUE, record.value);
    const KafkaErrorPtr error(rd_kafka_produceva(handle_->get(), values.data(), values.size()));
    if (error) {
        rd_kafka_headers_destroy(headers);
        return handle_->error(*error, "topic " + record.topic);
    }
    records_.push_back({.topic = record.topic});
    watch_.queued(1);
    return {};
}

Result<std::vector<Status>> RdkafkaProducer::flush(std::int64_t timeout_ms) {
    if (rd_kafka_flush(handle_->get(), to_rdkafka_timeout(timeout_ms)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(handle_->get(), kPurgeTimeoutMs);
    }
    std::vector<Status> results;
    results.reserve(records_.size());
    for (const Record& record : records_) {
        const rd_kafka_resp_err_t error = record.is_reported ? record.error : RD_KAFKA_RESP_ERR__MSG_TIMED_OUT;
        results.push_back(error == RD_KAFKA_RESP_ERR_NO_ERROR ? Status()
                                                              : handle_->error(error, "topic " + record.topic));
    }
    forget_records();
    return results;
}

Status RdkafkaProducer::commit_transaction(std::int64_t timeout_ms) {
    const KafkaErrorPtr error(rd_kafka_commit_transaction(handle_->get(), to_rdkafka_timeout(timeout_ms)));
    if (!ended_once()) {
        return Error{"kafka_unknown_outcome"_code,
                     "the end of a transaction was sent more than once; read the topic to learn its outcome"};
    }
    if (!error) return {};
    Error made = handle_->error(*error, "Kafka does not commit the transaction");
    // A fenced producer's transaction was aborted by the producer that fenced it. An error that asks for an abort comes
    // before the end was sent.
    const bool is_certain = made.code == "kafka_fenced"_code ||
                            (rd_kafka_error_txn_requires_abort(error.get()) != 0 && handle_->ends_sent() == 0);
    if (!is_certain) made.code = "kafka_unknown_outcome"_code;
    return made;
}

Status RdkafkaProducer::abort_transaction(std::int64_t timeout_ms) {
    const KafkaErrorPtr error(rd_kafka_abort_transaction(handle_->get(), to_rdkafka_timeout(timeout_ms)));
    forget_records();
    if (!ended_once()) {
        return Error{"kafka_unavailable"_code, "the end of a transaction was sent more than once; open a new producer"};
    }
    if (error) return handle_->error(*error, "Kafka does not abort the transaction");
    if (!has_refused_) return {};
    // librdkafka leaves a gap in the sequence numbers where a record was refused, and the broker refuses what comes
    // after it. A new producer with the same id begins at zero.
    if (Status opened = open_handle(); !opened) return opened;
    return init_transactions(timeout_ms);
}

bool RdkafkaProducer::ended_once() {
    if (handle_->ends_sent() <= 1) return true;
    watch_.end_repeated();
    return false;
}

void RdkafkaProducer::forget_records() {
    watch_.queued(-static_cast<std::int64_t>(records_.size()));
    records_.clear();
    is_lookup_failing_ = false;
    ++round_;
}

void RdkafkaProducer::on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
    auto& owner = *static_cast<RdkafkaProducer*>(self);
    const auto opaque = reinterpret_cast<std::uintptr_t>(message->_private);
    const std::size_t index = opaque & 0xFFFFFFFFu;
    if (opaque >> 32 != owner.round_ || index >= owner.records_.size()) return;
    owner.records_[index].is_reported = true;
    owner.records_[index].error = message->err;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) owner.has_refused_ = true;
}

}  // namespace duewheel
