// All parts of Kafka: the client, the senders with their threads and the pusher that a shard drives, and the reader of
// the input topics. While no broker can be reached the server runs as without Kafka, and the parts try again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "kafka/client/kafka_client.h"
#include "kafka/in/kafka_reader.h"
#include "kafka/out/kafka_plain_sender.h"
#include "kafka/out/kafka_pusher.h"
#include "kafka/out/kafka_sender.h"
#include "net/event_loop.h"
#include "server/kafka_intake.h"
#include "server/limits/kafka_options.h"
#include "server/node/kafka_log_status.h"
#include "server/shard/shard.h"
#include "server/shard/worker.h"

namespace duewheel {

struct KafkaCounters {
    KafkaOutCounters sent;
    KafkaReaderCounters received;
    KafkaStatistics connections;
};

class Kafka {
  public:
    using ConfirmOwner = std::function<Status()>;

    // Loop, shard, engine, options and log must outlive it. `owner` identifies the data directory. `confirm_owner` is
    // called on a thread of its own (KafkaSender); none where the log is not replicated. Connects later: success says
    // nothing about the brokers. Codes: those of KafkaClient::open().
    static Result<std::unique_ptr<Kafka>> open(EventLoop& loop, Shard& shard, Engine& engine,
                                               const KafkaOptions& options, std::uint32_t shards,
                                               const HttpApiOptions& limits, const std::string& owner,
                                               ConfirmOwner confirm_owner, LogSink& log);
    ~Kafka();

    KafkaPusher& pusher() { return pusher_; }

    // From now on the input topics are read; once.
    void start_reading();
    // From now on no record is taken, and no transaction begins.
    void stop();

    // The part of /v1/stats about Kafka: a JSON object.
    std::string stats(const KafkaLogStatus& log) const;
    KafkaCounters counters() const;
    std::vector<KafkaPartitionStatus> partitions() const;  // of the input topics
    const Histogram& batch_us() const { return pusher_.batch_us(); }

  private:
    Kafka(EventLoop& loop, Shard& shard, Engine& engine, const KafkaOptions& options, std::uint32_t shards,
          const HttpApiOptions& limits, const std::string& owner, ConfirmOwner confirm_owner,
          std::unique_ptr<KafkaClient> client, LogSink& log);

    EventLoop& loop_;
    const Engine& engine_;
    LogSink& log_;
    const std::unique_ptr<KafkaClient> client_;
    KafkaReaderOptions reader_options_;
    KafkaSender sender_;
    KafkaPlainSender plain_sender_;
    KafkaPusher pusher_;
    KafkaIntake intake_;
    std::unique_ptr<KafkaReader> reader_;  // null: not yet, or no input topics
    // Last: their threads end before anything that they use.
    Worker reading_{"dw-kafka-in"};
    Worker exactly_once_{"dw-kafka-once"};
    Worker at_least_once_{"dw-kafka-least"};
};

}  // namespace duewheel
