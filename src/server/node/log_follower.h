// The thread of a standby node that follows the log: copies it from the topic, keeps its index, and takes the log over
// when the owner has released it or shows no sign of life.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "kafka/client/kafka.h"
#include "replication/topic_copy.h"
#include "server/limits/server_options.h"
#include "server/shard/standby_index.h"
#include "shared/system_clock.h"
#include "store/rocks_rows.h"

namespace duewheel {

// How far a standby node is.
struct StandbyStatus {
    std::int64_t epoch = -1;        // of the owner that it follows; -1: there was none yet
    std::uint64_t commit = 0;       // the newest one on its disk
    std::uint64_t lag_records = 0;  // of the topic, not read yet
    std::uint64_t segments_sealed = 0;
};

class LogFollower {
  public:
    // `url`: of this node, for its claim. `on_owner` gets the URL of each new owner, on the thread of follow().
    // `now_ns`: the time since the boot. All arguments outlive it.
    LogFollower(const ServerOptions& options, std::string url, KafkaCluster& cluster,
                std::function<void(const std::string&)> on_owner, LogSink& log,
                std::function<std::int64_t()> now_ns = boot_now_ns);

    // Returns after the takeover, nothing after stop(), or an error that ends the process.
    Result<std::optional<TopicChain>> follow(std::uint64_t node);
    // Both: any thread.
    void stop();
    StandbyStatus status() const;

  private:
    template <class Step>
    Status retry(Step run);
    Status open();
    Status step();
    Status measure_lag();
    Result<std::int64_t> ask_lag();
    Status keep_index();
    Status claim(std::uint64_t node);
    void apply(const TopicCopy::Progress& progress);
    void allow_for_slow_brokers(std::int64_t began_ns);
    bool is_free() const;
    bool is_due() const;
    void pause();

    const ServerOptions& options_;
    const std::string url_;
    KafkaCluster& cluster_;
    const std::function<void(const std::string&)> on_owner_;
    LogSink& log_;
    const std::function<std::int64_t()> now_ns_;
    FileSystem& files_;
    std::unique_ptr<TopicCopy> copy_;
    std::optional<TopicChain> chain_;
    std::int64_t owner_epoch_ = -1;  // of the owner that was reported
    std::int64_t alive_ns_ = 0;      // of the boot clock: the last sign of life
    bool is_released_ = false;
    bool is_away_ = false;
    bool is_caught_up_ = false;
    Retention retention_;
    RocksRowStorage rows_;
    StandbyIndex index_;

    std::int64_t measure_at_ns_ = 0;

    mutable std::mutex mutex_;
    StandbyStatus status_;  // guarded by mutex_
    std::condition_variable stopping_;
    std::atomic<bool> is_stopping_{false};  // set under mutex_
};

}  // namespace duewheel
