// The replication of an owner's log: the journal that sends each commit to Kafka first, and the thread that shows
// standby nodes a sign of life while nothing is committed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "journal/local_journal.h"
#include "replication/replicated_journal.h"
#include "server/standby.h"

namespace duewheel {

class LogReplication {
  public:
    // `on_fatal_error` is called on any thread when this node is no longer the owner, and does not return.
    LogReplication(Takeover takeover, std::string data_directory, std::function<void(const Error&)> on_fatal_error);
    // Ends the waiting for brokers.
    ~LogReplication();

    KafkaCluster& cluster() { return *takeover_.client; }

    // Once: the journal around the local one. It is used until this is destroyed.
    std::unique_ptr<Journal> wrap(LocalJournal& local);
    // From now on there is a sign of life.
    void start_beating();
    // Before the process ends, when nothing is committed any more: a standby node takes over at once.
    void release();

  private:
    bool wait(std::int64_t ms);
    void beat();

    Takeover takeover_;
    const std::string data_directory_;
    const std::function<void(const Error&)> on_fatal_error_;
    ReplicatedJournal* journal_ = nullptr;  // of the shard

    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_ending_ = false;  // guarded by mutex_
    std::thread beating_;
};

}  // namespace duewheel
