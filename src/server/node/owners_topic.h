// The topic with the URL of each shard's owner, which all nodes follow, so that each can redirect a request to the
// right one. It is compacted: key = number of the shard, value = URL. One partition.
//
// It is a hint. A node writes its URL when it has taken its shard over, and again if it then reads another one for its
// shard, as of a former owner whose record came late. While the topic cannot be read or written, what was known stays;
// that is repeated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/status.h"
#include "kafka/client/kafka.h"
#include "server/shard/shard_owners.h"

namespace duewheel {

class OwnersTopic {
  public:
    // All must outlive this.
    OwnersTopic(KafkaCluster& cluster, std::string topic, ShardOwners& owners, LogSink& log);
    ~OwnersTopic();

    // Follows the topic from its beginning, on a thread of its own.
    void start();

    // This node owns the shard, and answers there. Any thread.
    void announce(std::uint32_t shard, std::string url);

    // What the thread repeats: reads what there is, waiting for a moment, and writes the own URL if it is not there.
    // Codes: those of Kafka.
    Status step();

  private:
    struct Own {
        std::uint32_t shard = 0;
        std::string url;
    };

    void run();
    Status open();
    void apply(const KafkaRecord& record);
    Status write(const Own& own);
    std::optional<Own> own() const;
    void wait() const;

    KafkaCluster& cluster_;
    const std::string topic_;
    ShardOwners& owners_;
    LogSink& log_;
    std::atomic<bool> is_stopping_{false};
    mutable std::mutex mutex_;
    std::optional<Own> own_;  // guarded by mutex_
    // Used by the thread only.
    std::unique_ptr<KafkaConsumer> consumer_;
    std::string written_;  // the newest URL of the own shard, by this node or as read
    ErrorCode last_error_ = ErrorCode::none;
    std::thread thread_;
};

}  // namespace duewheel
