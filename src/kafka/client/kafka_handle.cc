#include "kafka/client/kafka_handle.h"

#include <array>
#include <cstddef>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr char kInterceptor[] = "duewheel";
constexpr std::int16_t kEndTxn = 26;  // of Kafka's protocol
// The first attempt of a request; each further one has twice as long, for brokers that are slow.
constexpr std::int64_t kAttemptMs = 1000;
constexpr std::int64_t kBetweenAttemptsMs = 50;

struct ErrorKind {
    ErrorCode code;
    std::string_view advice;
};

// What an error of librdkafka (names that begin with _) or of a broker means for the bridge.
ErrorKind error_kind(rd_kafka_resp_err_t code) {
    switch (code) {
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__RESOLVE:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
        case RD_KAFKA_RESP_ERR__ISR_INSUFF:
        case RD_KAFKA_RESP_ERR__WAIT_COORD:
        case RD_KAFKA_RESP_ERR__RETRY:
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
        case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
        case RD_KAFKA_RESP_ERR__UNKNOWN_BROKER:
        case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
        case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
        case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
        case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
        case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
        case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
        case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
        case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
        case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
            return {"kafka_unavailable"_code, "check that the brokers run and can be reached from here"};
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            return {"unknown_topic"_code, "create the topic, or correct its name or the partition"};
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            return {"kafka_refused"_code, "give Duewheel's user the permission (kafka-acls)"};
        case RD_KAFKA_RESP_ERR__SSL:
        case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
        case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
        case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
            return {"kafka_login"_code, "correct the TLS and SASL properties in the file that kafka.client_file names"};
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
            return {"record_refused"_code, "raise max.message.bytes of the topic, or send smaller messages"};
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
            return {"record_refused"_code, "a compacted topic accepts only records with a key"};
        case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
            return {"record_refused"_code, "the topic does not accept the timestamp"};
        case RD_KAFKA_RESP_ERR__FENCED:
        case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
        case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
            return {"kafka_fenced"_code, "make sure that no other server has the same kafka.cluster and data"};
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        case RD_KAFKA_RESP_ERR__NO_OFFSET:
            return {"position_trimmed"_code, "the topic no longer has these records, or was created again"};
        case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
            return {"topic_exists"_code, "use it, or delete it first"};
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
            return {"kafka_failed"_code, "ask for as many replicas as there are brokers, or fewer"};
        default:
            return {"kafka_failed"_code, {}};
    }
}

bool is_login(rd_kafka_resp_err_t code) {
    return error_kind(code).code == "kafka_login"_code;
}

Error cannot_start(const std::string& why) {
    return {"kafka_failed"_code, "cannot start the Kafka client: " + why +
                                     "; check the settings [kafka] and the file that kafka.client_file names"};
}

// Makes a handle without brokers and without interceptors. When rd_kafka_new() fails, for example because a
// certificate is missing, librdkafka releases the interceptors, and rd_kafka_conf_destroy() would release them again
// (https://github.com/confluentinc/librdkafka/issues/4142). So a configuration that fails is recognized here first.
Status try_out(rd_kafka_type_t type, const rd_kafka_conf_t& with_brokers) {
    KafkaConfPtr conf(rd_kafka_conf_dup(&with_brokers));
    std::array<char, 512> text{};
    rd_kafka_conf_set(conf.get(), "bootstrap.servers", nullptr, text.data(), text.size());
    rd_kafka_conf_set_log_cb(conf.get(), nullptr);
    const CPointer<rd_kafka_t, rd_kafka_destroy> handle(rd_kafka_new(type, conf.get(), text.data(), text.size()));
    if (!handle) return cannot_start(text.data());
    static_cast<void>(conf.release());  // it is the handle's now
    return {};
}

}  // namespace

Status set_kafka_property(rd_kafka_conf_t& conf, const std::string& name, const std::string& value) {
    std::array<char, 512> text{};  // may contain the value, so it is not used
    switch (rd_kafka_conf_set(&conf, name.c_str(), value.c_str(), text.data(), text.size())) {
        case RD_KAFKA_CONF_OK:
            return {};
        case RD_KAFKA_CONF_UNKNOWN:
            return Error{"kafka_failed"_code, "librdkafka has no property " + name + "; correct or remove it"};
        default:
            return Error{"kafka_failed"_code, "librdkafka refuses the value of " + name + "; correct it"};
    }
}

Result<std::unique_ptr<KafkaHandle>> KafkaHandle::open(rd_kafka_type_t type, const rd_kafka_conf_t& base,
                                                       Properties properties, KafkaWatch& watch, ReportCallback report,
                                                       void* reported_to) {
    std::unique_ptr<KafkaHandle> made(new KafkaHandle(watch));
    KafkaConfPtr conf(rd_kafka_conf_dup(&base));
    for (const auto& [name, value] : properties) {
        if (Status set = set_kafka_property(*conf, name, value); !set) return set.error();
    }
    if (Status tried = try_out(type, *conf); !tried) return std::move(tried).error();
    made->report_ = report;
    made->reported_to_ = reported_to;
    rd_kafka_conf_set_opaque(conf.get(), made.get());
    rd_kafka_conf_set_log_cb(conf.get(), &on_log);
    rd_kafka_conf_set_error_cb(conf.get(), &on_error);
    if (report != nullptr) {
        rd_kafka_conf_set_dr_msg_cb(conf.get(), [](rd_kafka_t* handle, const rd_kafka_message_t* message, void* self) {
            const auto& owner = *static_cast<KafkaHandle*>(self);
            owner.report_(handle, message, owner.reported_to_);
        });
    }
    rd_kafka_conf_interceptor_add_on_new(conf.get(), kInterceptor, &on_new, made.get());
    std::array<char, 512> text{};
    made->handle_ = rd_kafka_new(type, conf.get(), text.data(), text.size());
    static_cast<void>(conf.release());  // the handle's; or it cannot be destroyed, see try_out()
    if (made->handle_ == nullptr) return cannot_start(text.data());
    return made;
}

KafkaHandle::~KafkaHandle() {
    if (handle_ == nullptr) return;
    rd_kafka_purge(handle_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
    rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    for (const std::string& broker : up_) watch_.closed(broker);
}

Error KafkaHandle::error(rd_kafka_resp_err_t code, std::string_view what, std::string_view text) {
    poll();
    std::string reason(text.empty() ? rd_kafka_err2str(code) : text);
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        std::array<char, 512> fatal{};
        code = rd_kafka_fatal_error(handle_, fatal.data(), fatal.size());
        reason = fatal.data();
    }
    if (const std::lock_guard lock(mutex_); login_ && error_kind(code).code == "kafka_unavailable"_code) {
        code = login_->first;
        reason = login_->second;
    }
    const ErrorKind kind = error_kind(code);
    std::string message(what);
    message += ": " + reason;
    if (!kind.advice.empty()) message += "; " + std::string(kind.advice);
    return {kind.code, std::move(message)};
}

Error KafkaHandle::error(const rd_kafka_error_t& error, std::string_view what) {
    return this->error(rd_kafka_error_code(&error), what, rd_kafka_error_string(&error));
}

rd_kafka_resp_err_t KafkaHandle::ask(std::int64_t timeout_ms, const std::function<rd_kafka_resp_err_t(int)>& attempt) {
    const std::int64_t until_ns = monotonic_now_ns() + timeout_ms * 1'000'000;
    const auto left_ms = [&] { return (until_ns - monotonic_now_ns()) / 1'000'000; };
    for (std::int64_t attempt_ms = kAttemptMs;; attempt_ms *= 2) {
        const rd_kafka_resp_err_t error = attempt(to_rdkafka_timeout(std::min(attempt_ms, left_ms())));
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error_kind(error).code != "kafka_unavailable"_code) return error;
        if (left_ms() <= kBetweenAttemptsMs) return error;
        rd_kafka_poll(handle_, to_rdkafka_timeout(kBetweenAttemptsMs));
    }
}

std::optional<Error> KafkaHandle::take_outage() {
    std::unique_lock lock(mutex_);
    if (!outage_) return std::nullopt;
    const auto [code, text] = *std::exchange(outage_, std::nullopt);
    lock.unlock();
    return error(code, "Kafka", text);
}

void KafkaHandle::on_log(const rd_kafka_t* handle, int, const char* kind, const char* text) {
    // Nothing of its own is known before the handle is complete; then rd_kafka_new() fails and says why.
    if (handle == nullptr) return;
    std::string_view reason(text);
    if (const std::size_t end = reason.find("]: "); reason.starts_with("[thrd:") && end != std::string_view::npos) {
        reason.remove_prefix(end + 3);
    }
    static_cast<KafkaHandle*>(rd_kafka_opaque(handle))->watch_.logged(kind, reason, monotonic_now_ns());
}

void KafkaHandle::on_error(rd_kafka_t*, int code, const char* text, void* self) {
    auto& owner = *static_cast<KafkaHandle*>(self);
    const auto error = static_cast<rd_kafka_resp_err_t>(code);
    const std::lock_guard lock(owner.mutex_);
    if (is_login(error)) owner.login_.emplace(error, text);
    if (is_login(error) || error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) owner.outage_.emplace(error, text);
}

rd_kafka_resp_err_t KafkaHandle::on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* self, char*, std::size_t) {
    rd_kafka_interceptor_add_on_request_sent(handle, kInterceptor, &on_request_sent, self);
    rd_kafka_interceptor_add_on_broker_state_change(handle, kInterceptor, &on_broker_state, self);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t KafkaHandle::on_request_sent(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t kind,
                                                 std::int16_t, std::int32_t, std::size_t, void* self) {
    if (kind == kEndTxn) ++static_cast<KafkaHandle*>(self)->ends_sent_;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

// Coordinators are also shown as brokers of their own, without a port; the bootstrap addresses have no number until it
// is known which brokers they are.
rd_kafka_resp_err_t KafkaHandle::on_broker_state(rd_kafka_t*, std::int32_t node, const char*, const char* name,
                                                 int port, const char* state, void* self) {
    auto& owner = *static_cast<KafkaHandle*>(self);
    const std::string broker = std::string(name) + ":" + std::to_string(port);
    const bool is_up = std::string_view(state) == "UP";
    const std::lock_guard lock(owner.mutex_);
    if (is_up) owner.login_.reset();
    if (is_up && node >= 0 && port != 0) {
        if (owner.up_.insert(broker).second) owner.watch_.connected(broker);
    } else if (!is_up && std::string_view(state) == "DOWN" && owner.up_.erase(broker) != 0) {
        owner.watch_.lost(broker);
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace duewheel
