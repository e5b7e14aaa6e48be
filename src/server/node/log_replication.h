// The replication of an owner's log: the journal that sends each commit to Kafka first, and two threads beside it. One
// shows standby nodes a sign of life while nothing is committed. The other deletes the front of the topic that no node
// needs any more, and checks each minute that the settings of the topic are still safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "journal/local_journal.h"
#include "replication/replicated_journal.h"
#include "replication/topic_front.h"
#include "server/limits/kafka_options.h"
#include "server/node/kafka_log_status.h"
#include "server/node/standby.h"

namespace duewheel {

class LogReplication {
  public:
    // `on_fatal_error` is called on any thread when this node is no longer the owner, and does not return.
    LogReplication(Takeover takeover, std::string data_directory, KafkaOptions options, LogSink& log,
                   std::function<void(const Error&)> on_fatal_error);
    ~LogReplication();

    KafkaCluster& cluster() { return *takeover_.client; }

    // Once: the journal around the local one.
    std::unique_ptr<Journal> wrap(LocalJournal& local);
    // Starts the threads.
    void start();
    // Ends them, and the waiting for brokers. Before the journals are destroyed.
    void stop();
    // Before the process ends, when nothing is committed any more: a standby node takes over at once. Ends the threads.
    void release();

    // Logs that commits wait for brokers, and that they do no longer; to be called about once a second by one thread.
    void report_waiting();

    // Any thread. Waits for brokers. Codes: those of ReplicatedJournal; any says that this node may not act as the
    // owner.
    Status confirm_owner() { return journal_->beat(); }

    // Any thread.
    KafkaLogStatus status() const;
    // No broker acknowledges commits at the moment.
    bool is_waiting() const { return journal_ != nullptr && journal_->counters().is_waiting; }

  private:
    bool wait(std::int64_t ms);
    void beat();
    void maintain_topic();
    void check_settings();

    Takeover takeover_;
    const std::string data_directory_;
    const KafkaOptions options_;
    LogSink& log_;
    const std::function<void(const Error&)> on_fatal_error_;
    LocalJournal* local_ = nullptr;         // of the shard
    ReplicatedJournal* journal_ = nullptr;  // around it
    std::vector<std::string> findings_;     // of the last check of the topic, as logged
    bool is_waiting_ = false;               // of report_waiting()
    std::atomic<std::int64_t> first_offset_{0};
    std::atomic<bool> is_topic_unsafe_{false};

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_ending_ = false;  // guarded by mutex_
    std::thread beating_;
    std::thread maintaining_;
};

}  // namespace duewheel
