// One instance of librdkafka: its callbacks, and its errors as ours. Part of kafka/client/kafka_client.h.
//
// librdkafka reports that a login failed by a callback only, and the call that waits for a broker just times out. So
// the handle remembers the last such report, and gives it as the reason of the timeout.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "base/c_pointer.h"
#include "base/status.h"
#include "kafka/client/kafka_watch.h"

namespace duewheel {

using KafkaConfPtr = CPointer<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using KafkaTopicPtr = CPointer<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using KafkaQueuePtr = CPointer<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using KafkaMetadataPtr = CPointer<const rd_kafka_metadata_t, rd_kafka_metadata_destroy>;
using KafkaPartitionsPtr = CPointer<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using KafkaErrorPtr = CPointer<rd_kafka_error_t, rd_kafka_error_destroy>;

inline int to_rdkafka_timeout(std::int64_t timeout_ms) {
    return static_cast<int>(std::clamp<std::int64_t>(timeout_ms, 1, std::numeric_limits<int>::max() / 2));
}

// Code `kafka_failed`: librdkafka does not know the property or refuses the value, which the error does not contain.
Status set_kafka_property(rd_kafka_conf_t& conf, const std::string& name, const std::string& value);

class KafkaHandle {
  public:
    using Properties = std::initializer_list<std::pair<std::string, std::string>>;
    using ReportCallback = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);

    // With a copy of `base` and these properties. `report` receives the delivery reports of a producer, and
    // `reported_to` as its last argument.
    static Result<std::unique_ptr<KafkaHandle>> open(rd_kafka_type_t type, const rd_kafka_conf_t& base,
                                                     Properties properties, KafkaWatch& watch,
                                                     ReportCallback report = nullptr, void* reported_to = nullptr);
    // Gives up all that is queued, and waits for librdkafka's threads but for no broker.
    ~KafkaHandle();
    KafkaHandle(const KafkaHandle&) = delete;
    KafkaHandle& operator=(const KafkaHandle&) = delete;

    rd_kafka_t* get() const { return handle_; }

    // The error for what librdkafka reported; `what` begins its sentence ("topic payments").
    Error error(rd_kafka_resp_err_t code, std::string_view what, std::string_view text = {});
    Error error(const rd_kafka_error_t& error, std::string_view what);

    // Repeats a request until it succeeds, or fails for another reason than that no broker answers. An attempt has a
    // part of the time only: a broker that was paused or cut off answers nothing, and the next attempt asks the one
    // that has taken over from it. Returns the error of the last attempt.
    rd_kafka_resp_err_t ask(std::int64_t timeout_ms, const std::function<rd_kafka_resp_err_t(int)>& attempt);

    // Runs the callbacks that wait.
    void poll() { rd_kafka_poll(handle_, 0); }
    // That no broker can be reached, or that the login failed, once each time that it happens.
    std::optional<Error> take_outage();

    // EndTxn requests that were written to a connection since the last reset.
    void reset_ends_sent() { ends_sent_ = 0; }
    int ends_sent() const { return ends_sent_; }

  private:
    explicit KafkaHandle(KafkaWatch& watch) : watch_(watch) {}

    static void on_log(const rd_kafka_t* handle, int level, const char* kind, const char* text);
    static void on_error(rd_kafka_t* handle, int code, const char* text, void* self);
    static rd_kafka_resp_err_t on_new(rd_kafka_t* handle, const rd_kafka_conf_t* conf, void* self, char* text,
                                      std::size_t text_bytes);
    static rd_kafka_resp_err_t on_request_sent(rd_kafka_t* handle, int socket, const char* broker, std::int32_t node,
                                               std::int16_t kind, std::int16_t version, std::int32_t number,
                                               std::size_t bytes, void* self);
    static rd_kafka_resp_err_t on_broker_state(rd_kafka_t* handle, std::int32_t node, const char* protocol,
                                               const char* name, int port, const char* state, void* self);

    KafkaWatch& watch_;
    rd_kafka_t* handle_ = nullptr;
    ReportCallback report_ = nullptr;
    void* reported_to_ = nullptr;
    std::atomic<int> ends_sent_ = 0;

    std::mutex mutex_;                                                   // guards what follows
    std::set<std::string> up_;                                           // brokers that this instance is connected to
    std::optional<std::pair<rd_kafka_resp_err_t, std::string>> login_;   // why the login failed, unless a broker is up
    std::optional<std::pair<rd_kafka_resp_err_t, std::string>> outage_;  // not yet taken
};

}  // namespace duewheel
