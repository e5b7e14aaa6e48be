#include "kafka/client/kafka_client.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "kafka/client/kafka_appender.h"
#include "kafka/client/kafka_client_file.h"
#include "kafka/client/kafka_consumer.h"
#include "kafka/client/kafka_handle.h"
#include "kafka/client/kafka_producer.h"

namespace duewheel {
namespace {

using EventPtr = CPointer<rd_kafka_event_t, rd_kafka_event_destroy>;
using NewTopicPtr = CPointer<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;
using ResourcePtr = CPointer<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>;
using DeletionPtr = CPointer<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy>;
using OptionsPtr = CPointer<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;

constexpr std::array<std::string_view, 6> kCheckedSettings{
    "cleanup.policy",  "max.message.bytes", "min.insync.replicas",
    "retention.bytes", "retention.ms",      "unclean.leader.election.enable",
};
constexpr std::size_t kTextBytes = 512;
// How long a broker may leave a request about topics unanswered before it is disconnected, in milliseconds.
constexpr char kAdminTimeout[] = "3000";

}  // namespace

struct KafkaClient::Parts {
    KafkaConfPtr conf;           // of all connections
    KafkaConfPtr producer_conf;  // also of producers
    std::unique_ptr<KafkaHandle> admin;

    // Waits for the result of an admin request; `start` gets its options and queue.
    template <class Start>
    Result<EventPtr> request(rd_kafka_admin_op_t kind, std::int64_t timeout_ms, std::string_view what, Start start) {
        const KafkaQueuePtr queue(rd_kafka_queue_new(admin->get()));
        const OptionsPtr options(rd_kafka_AdminOptions_new(admin->get(), kind));
        std::array<char, kTextBytes> text{};
        rd_kafka_AdminOptions_set_request_timeout(options.get(), to_rdkafka_timeout(timeout_ms), text.data(),
                                                  text.size());
        start(options.get(), queue.get());
        // The request has its own timeout; this one only ends the wait for its result.
        EventPtr event(rd_kafka_queue_poll(queue.get(), to_rdkafka_timeout(timeout_ms) + 1000));
        if (!event) return admin->error(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
        if (const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return admin->error(error, what, rd_kafka_event_error_string(event.get()));
        }
        return event;
    }

    Result<KafkaTopic> describe(const std::string& topic, std::int64_t timeout_ms);
    Status read_settings(KafkaTopic& topic, std::int64_t timeout_ms);
};

KafkaClient::KafkaClient(LogSink& log) : watch_(log), parts_(std::make_unique<Parts>()) {}

KafkaClient::~KafkaClient() = default;

Result<std::unique_ptr<KafkaClient>> KafkaClient::open(const KafkaConnection& connection, LogSink& log) {
    std::unique_ptr<KafkaClient> made(new KafkaClient(log));
    Parts& parts = *made->parts_;
    parts.conf.reset(rd_kafka_conf_new());
    const std::string timeout = std::to_string(connection.transaction_timeout_ms);
    const std::initializer_list<std::pair<std::string, std::string>> properties{
        {"bootstrap.servers", connection.bootstrap},
        {"client.id", "duewheel"},
        {"log_level", "4"},  //
        {"log.connection.close", "false"},
        {"reconnect.backoff.max.ms", "2000"},
        {"socket.timeout.ms", timeout},
        {"socket.keepalive.enable", "true"},
        {"socket.nagle.disable", "true"},
        {"socket.connection.setup.timeout.ms", "10000"},
        // A broker that was killed, paused or cut off does not say that another one leads its partitions now. So the
        // client asks the others each second; by default it would ask every five minutes.
        {"topic.metadata.refresh.interval.ms", "1000"},
        {"metadata.max.age.ms", "900000"},  // three such intervals, unless it is set
        // How long a topic may be missing before its records fail, and before reading it does.
        {"topic.metadata.propagation.max.ms", "3000"},
    };
    for (const auto& [name, value] : properties) {
        if (Status set = set_kafka_property(*parts.conf, name, value); !set) return set.error();
    }
    if (!connection.client_file.empty()) {
        const Result<std::vector<KafkaClientProperty>> read = read_kafka_client_file(connection.client_file);
        if (!read) return read.error();
        for (const KafkaClientProperty& property : *read) {
            Status set = set_kafka_property(*parts.conf, property.name, std::string(property.value.reveal()));
            if (!set) return kafka_client_file_error(connection.client_file, property.line, set.error().message);
        }
    }
    parts.producer_conf.reset(rd_kafka_conf_dup(parts.conf.get()));
    for (const std::string name : {"transaction.timeout.ms", "message.timeout.ms"}) {
        if (Status set = set_kafka_property(*parts.producer_conf, name, timeout); !set) return set.error();
    }
    // A consumer, because a producer would create the topics that it asks about where brokers allow that.
    // It asks the broker that it has used last, as long as that one is connected.
    Result<std::unique_ptr<KafkaHandle>> admin =
        KafkaHandle::open(RD_KAFKA_CONSUMER, *parts.conf,
                          {{"allow.auto.create.topics", "false"}, {"socket.timeout.ms", kAdminTimeout}}, made->watch_);
    if (!admin) return std::move(admin).error();
    parts.admin = std::move(*admin);
    return made;
}

Result<std::unique_ptr<KafkaProducer>> KafkaClient::open_producer(const std::string& transactional_id) {
    return RdkafkaProducer::open(*parts_->producer_conf, transactional_id, watch_);
}

Result<std::unique_ptr<KafkaConsumer>> KafkaClient::open_consumer() {
    return RdkafkaConsumer::open(*parts_->conf, watch_);
}

Result<std::unique_ptr<KafkaAppender>> KafkaClient::open_appender(const std::string& topic, std::int32_t partition) {
    return RdkafkaAppender::open(*parts_->producer_conf, topic, partition, watch_);
}

Result<KafkaTopic> KafkaClient::look_at(const std::string& topic, std::int64_t timeout_ms) {
    Result<KafkaTopic> found = parts_->describe(topic, timeout_ms);
    if (!found) return found;
    if (Status read = parts_->read_settings(*found, timeout_ms); !read && read.error().code != "kafka_refused"_code) {
        return read.error();
    }
    return found;
}

Result<KafkaTopic> KafkaClient::Parts::describe(const std::string& topic, std::int64_t timeout_ms) {
    const std::string what = "topic " + topic;
    const KafkaTopicPtr handle(rd_kafka_topic_new(admin->get(), topic.c_str(), nullptr));
    if (!handle) return admin->error(rd_kafka_last_error(), what);
    const rd_kafka_metadata_t* read = nullptr;
    const rd_kafka_resp_err_t error = admin->ask(timeout_ms, [&](int attempt_ms) {
        return rd_kafka_metadata(admin->get(), 0, handle.get(), &read, attempt_ms);
    });
    const KafkaMetadataPtr metadata(read);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return admin->error(error, what);
    if (metadata->topic_cnt != 1) return admin->error(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, what);
    const rd_kafka_metadata_topic_t& found = metadata->topics[0];
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return admin->error(found.err, what);
    KafkaTopic made{.name = topic, .partitions = found.partition_cnt, .replicas = 0, .settings = {}};
    for (int i = 0; i < found.partition_cnt; ++i) {
        const int replicas = found.partitions[i].replica_cnt;
        made.replicas = i == 0 ? replicas : std::min(made.replicas, replicas);
    }
    return made;
}

Status KafkaClient::Parts::read_settings(KafkaTopic& topic, std::int64_t timeout_ms) {
    const std::string what = "settings of topic " + topic.name;
    const ResourcePtr resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.name.c_str()));
    const Result<EventPtr> event =
        request(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_ms, what, [&](const auto* options, auto* queue) {
            std::array<rd_kafka_ConfigResource_t*, 1> all{resource.get()};
            rd_kafka_DescribeConfigs(admin->get(), all.data(), all.size(), options, queue);
        });
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_ConfigResource_t** described =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event->get()), &count);
    if (count != 1) return admin->error(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, what);
    if (const rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(described[0]);
        error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return admin->error(error, what);
    }
    const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(described[0], &count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name = rd_kafka_ConfigEntry_name(entries[i]);
        const char* value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value != nullptr && std::ranges::find(kCheckedSettings, name) != kCheckedSettings.end()) {
            topic.settings.emplace_back(name, value);
        }
    }
    std::ranges::sort(topic.settings);
    return {};
}

Status KafkaClient::create(const KafkaTopic& topic, std::int64_t timeout_ms) {
    const std::string what = "topic " + topic.name;
    std::array<char, kTextBytes> text{};
    const NewTopicPtr wanted(rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions > 0 ? topic.partitions : -1,
                                                   topic.replicas > 0 ? topic.replicas : -1, text.data(), text.size()));
    if (!wanted) return parts_->admin->error(RD_KAFKA_RESP_ERR__INVALID_ARG, what, text.data());
    for (const auto& [name, value] : topic.settings) {
        rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
    }
    const Result<EventPtr> event =
        parts_->request(RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout_ms, what, [&](const auto* options, auto* queue) {
            std::array<rd_kafka_NewTopic_t*, 1> all{wanted.get()};
            rd_kafka_CreateTopics(parts_->admin->get(), all.data(), all.size(), options, queue);
        });
    if (!event) return event.error();
    std::size_t count = 0;
    const rd_kafka_topic_result_t** results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
        const char* reason = rd_kafka_topic_result_error_string(results[i]);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return parts_->admin->error(error, what, reason == nullptr ? "" : reason);
        }
    }
    return {};
}

Status KafkaClient::delete_before(const std::string& topic, std::int32_t partition, std::int64_t offset,
                                  std::int64_t timeout_ms) {
    const std::string what = "topic " + topic;
    const KafkaPartitionsPtr before(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), partition)->offset = offset;
    const DeletionPtr deletion(rd_kafka_DeleteRecords_new(before.get()));
    const Result<EventPtr> event =
        parts_->request(RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout_ms, what, [&](const auto* options, auto* queue) {
            std::array<rd_kafka_DeleteRecords_t*, 1> all{deletion.get()};
            rd_kafka_DeleteRecords(parts_->admin->get(), all.data(), all.size(), options, queue);
        });
    if (!event) return event.error();
    const rd_kafka_topic_partition_list_t* results =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event->get()));
    for (int i = 0; i < results->cnt; ++i) {
        if (results->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return parts_->admin->error(results->elems[i].err, what);
        }
    }
    return {};
}

}  // namespace duewheel
