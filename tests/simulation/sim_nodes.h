// The two nodes of one shard with a replicated log: the machine of the owner, which the simulation has, and the one of
// the standby node, which is here. Both do what the server does (server/node/log_follower.h,
// server/node/log_replication.h), but in one thread, a step at a time, at moments that the seed chooses.
//
//     owner ──commit, beat, release──► partition of the shard ──follow──► standby: log and index
//                                                             ◄──claim──  (its node is the next owner)
//
// When a process ends, the next owner runs on either machine. Each start begins as a standby node and claims the log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error_codes.h"
#include "base/log.h"
#include "replication/replicated_journal.h"
#include "replication/topic_copy.h"
#include "server/shard/shard_parts.h"
#include "server/shard/standby_index.h"
#include "shared/random.h"
#include "simulation/event_hash.h"
#include "simulation/rare_states.h"
#include "simulation/sim_log_topic.h"
#include "simulation/sim_options.h"
#include "simulation/sim_shard.h"
#include "support/memory_rows.h"
#include "support/sim_disk.h"

namespace duewheel {

// The disks of a machine; they survive the processes.
struct SimStorage {
    std::unique_ptr<SimDisk> disk;
    std::unique_ptr<MemoryRowStorage> rows;
    bool is_new = true;  // no owner has run on it
};

class SimNodes {
  public:
    // All arguments outlive it.
    SimNodes(const SimOptions& options, SimLogTopic& topic, LogSink& log, RareStates& rare, EventHash& hash);

    // Decides what happens to the nodes.
    Random& random() { return random_; }

    // A step of the standby node: it reads what there is, or maintains its index. What Kafka prevents is tried again
    // later; an error ends the node.
    Status follow();
    // `own` is then the storage of the standby node, whose process takes the log over next.
    void exchange(SimStorage& own);
    // A node on this storage becomes the owner: reads the log, claims it, and returns the journal to write it with. An
    // error is one of the disk, or one that an operator has to see to.
    Result<ReplicateLog> take_over(SimStorage& own);
    // The journal of the newest owner, while its process lives.
    ReplicatedJournal& journal() { return *journal_; }
    // Deletes what no node needs of the front of the topic.
    void trim(const LocalJournal& local, FileSystem& files);
    // The owner's process is about to end; counts what happened to its log.
    void count_owner();
    // The standby node reads the rest: nothing else was committed, and it adds up to the same.
    Status compare(const Totals& totals);

  private:
    struct Standby {
        Standby(const SimOptions& options, SimStorage& storage, LogSink& log)
            : retention(options.keep_ms, options.history), index(*storage.rows, retention, log) {}
        std::unique_ptr<TopicCopy> copy;
        Retention retention;
        StandbyIndex index;
        bool has_caught_up = false;  // once
    };

    Result<std::unique_ptr<Standby>> open(SimStorage& storage);
    Result<bool> step(Standby& standby);
    Status catch_up(Standby& standby);
    Result<TopicChain> claim(SimStorage& own);
    void replace(SimStorage& storage);
    static bool may_be_tried_again(const Error& error) { return name_of(error.code).starts_with("kafka_"); }

    const SimOptions& options_;
    SimLogTopic& topic_;
    LogSink& log_;
    RareStates& rare_;
    EventHash& hash_;
    Random random_;
    SimStorage storage_;                // of the standby node
    std::unique_ptr<Standby> standby_;  // null: its process has not been started, or has ended
    std::unique_ptr<Standby> next_;     // of the node that takes over
    std::uint64_t processes_ = 0;
    ReplicatedJournal* journal_ = nullptr;
};

}  // namespace duewheel
