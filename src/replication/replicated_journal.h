// The log of the owner: each commit is on its partition before it is on the local disk, and on both before it counts.
//
// The order of the partition is the fence. The offsets of what this owner appends are those that follow its claim; any
// other offset means that someone else wrote, or that a copy of its own arrived late, and the records in between say
// which. A newer claim ends this owner (`log_fenced`): nothing that it appended after that claim counts, and it answers
// nothing. Lower offsets mean that the topic has lost records that were acknowledged (`log_went_back`).
//
// Kafka first: the sealer may index a closed segment before the engine knows of the commit, and must never index
// what the topic does not have. A crash in between leaves a commit in the topic that the local log lacks; the next
// start reads it from there.
//
// While no broker can be reached, commit() waits. It sends the same bytes again with a new connection; readers ignore
// the copies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "journal/local_journal.h"
#include "kafka/client/kafka.h"
#include "replication/position_file.h"
#include "replication/topic_chain.h"

namespace duewheel {

struct ReplicationCounters {
    std::uint64_t commits = 0;
    std::uint64_t appenders_recreated = 0;
    std::uint64_t gaps_read = 0;
    std::uint64_t ignored = 0;  // records of the topic that do not count: late copies, and those of former owners
    std::int64_t next_offset = 0;
    // An append was not acknowledged in time, and none has been since.
    bool is_waiting = false;
    std::string waiting_for;  // the error of the last append that failed
};

class ReplicatedJournal final : public Journal {
  public:
    // Waits for this long; false if the process is ending, which ends the waiting for brokers (`log_unavailable`).
    using Wait = std::function<bool(std::int64_t ms)>;

    // `chain` has taken everything up to this node's own claim, and the local log has the same commits.
    ReplicatedJournal(KafkaCluster& cluster, LocalJournal& local, PositionFile position, TopicChain chain,
                      std::uint64_t node, Wait wait);

    // Codes: `no_space` as of LocalJournal; and errors after which the process ends: `log_fenced`, `log_went_back`,
    // `damaged_topic`, `log_unavailable`, `log_failed`.
    Status commit(const Commit& commit) override;

    // Tells the standby nodes that this owner is alive; called about once a second when nothing is committed, from any
    // thread. Codes as of commit().
    Status beat();
    // Tells them that it has ended, so that one takes over at once. Nothing can be committed after that.
    Status release();

    // Any thread; does not wait for a commit that is in progress.
    ReplicationCounters counters() const;
    std::int64_t epoch() const { return epoch_; }

    // How long one append may take before it is sent again.
    static constexpr std::int64_t kAppendTimeoutMs = 5'000;
    static constexpr std::int64_t kRetryMs = 200;

  private:
    enum class Sent : std::uint8_t { as_expected, among_others };

    // Returns when these values are in the topic and counted; `is_counted` is asked where others are among them.
    Result<Sent> send(const std::vector<std::string>& values, const std::function<bool()>& is_counted);
    Status send_commit(const Commit& commit, const CommitPlace& place);
    Status send_note(TopicRecordKind kind);
    Status read_to(std::int64_t offset);
    std::string encode(TopicRecordKind kind, std::uint64_t commit, std::string_view payload, std::uint32_t part = 0,
                       std::uint32_t parts = 1) const;
    Status fail(Error error);
    void count(const std::function<void(ReplicationCounters&)>& change);
    Error fenced() const;
    Error unavailable(const std::string& reason) const;

    KafkaCluster& cluster_;
    LocalJournal& local_;
    const std::uint64_t node_;
    const Wait wait_;
    const std::int64_t epoch_;

    mutable std::mutex mutex_;  // guards what follows
    PositionFile position_;
    TopicChain chain_;
    std::unique_ptr<KafkaAppender> appender_;
    std::optional<Error> failed_;

    mutable std::mutex counters_mutex_;
    ReplicationCounters counters_;  // guarded by counters_mutex_
};

}  // namespace duewheel
