// A standby node's copy of a replicated log: extends or rebuilds the local log from the topic, follows it, and takes it
// over.
//
// The copy has the same bytes as the owner's log: the topic has the headers of the segments and the bytes of the
// commits. A local log without commits is replaced by what the topic has. A copy that was begun by this object, and has
// not caught up yet, starts again from the front when the owner removes what it was about to read. Any other may be the
// last one there is, and is never discarded.
//
// One thread. The directory is locked by the caller, and nothing else has the log open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "journal/local_journal.h"
#include "kafka/client/kafka.h"
#include "replication/position_file.h"
#include "replication/topic_chain.h"

namespace duewheel {

struct TopicCopyOptions {
    TopicLog log;
    std::string directory;  // the data directory; the log is in DIR/journal
    JournalOptions journal;
};

class TopicCopy {
  public:
    // Opens the local log, if there is one, and finds where to read on. Codes: as of LocalJournal::open(), those of
    // Kafka, and `copy_too_old` (the topic no longer has what follows the local log).
    static Result<std::unique_ptr<TopicCopy>> open(FileSystem& files, KafkaCluster& cluster,
                                                   const TopicCopyOptions& options);

    struct Progress {
        std::size_t records = 0;    // that were read
        bool is_alive = false;      // an owner wrote some of them
        bool is_released = false;   // the owner has ended: take over
        bool starts_again = false;  // the local log was discarded: it is copied from the front of the topic again
    };
    // Reads what there is, waiting up to this long for the first record, and applies it durably. Codes: those of Kafka
    // (try again), `copy_too_old`, `damaged_topic`, `newer_format`, `log_forked` (the local log is another one, or has
    // a commit that the topic has otherwise), those of LocalJournal.
    Result<Progress> follow(std::int64_t timeout_ms);

    // After `copy_too_old`: that error, or `log_went_back` if the topic ends before what was read.
    Error explain(Error copy_too_old);

    // How many records the topic has now that were not read yet. At 0 the copy has caught up.
    Result<std::int64_t> lag(std::int64_t timeout_ms);

    // Appends a record that counts for nothing, and reads up to it. Brokers show no record before all replicas in sync
    // have it, so an owner whose records wait for a replica that failed seems to be silent: after this they are read.
    // Codes: as of follow(), and `log_went_back`.
    Result<Progress> probe(std::uint64_t node, std::int64_t timeout_ms);

    // Takes the log over: appends a claim, and reads up to it. The local log then has all that counts, and is closed:
    // the owner opens it. Codes: as of follow(), and `log_went_back` (the local log has commits that the topic lacks;
    // if the topic has no log at all, nothing is appended).
    Result<TopicChain> claim(std::uint64_t node, const std::string& url, std::int64_t timeout_ms);

    const TopicChain& chain() const { return chain_; }
    // Null before the first segment was read. Between the calls of follow(), for sealing and removing segments.
    LocalJournal* local() { return local_.get(); }
    // The last commit of the local log; 0: it has none.
    std::uint64_t local_commit() const { return local_ ? local_->totals().commit : 0; }

  private:
    TopicCopy(FileSystem& files, KafkaCluster& cluster, const TopicCopyOptions& options, TopicChain chain);

    Status open_local();
    Status read_on();
    Status read_from_front();
    Result<Progress> start_again(Error trimmed);
    std::string encode(TopicRecordKind kind, std::int64_t epoch, std::uint64_t node, std::string_view payload) const;
    Result<std::int64_t> append(const std::string& value, std::int64_t timeout_ms);
    Result<Progress> read_to(std::int64_t offset, std::int64_t timeout_ms);
    Status apply(TopicChain::Step step);
    Status begin_segment();
    Status check_same(std::uint64_t link) const;
    Status discard_local();
    Error too_old(const std::string& lacked) const;
    Error went_back(const std::string& how) const;
    Error other_log() const;
    Error forked() const;

    FileSystem& files_;
    KafkaCluster& cluster_;
    const TopicCopyOptions options_;
    PositionFile position_;
    TopicChain chain_;
    std::unique_ptr<LocalJournal> local_;
    std::unique_ptr<KafkaConsumer> consumer_;
    bool is_assigned_ = false;    // consumer_ reads the partition
    bool is_resuming_ = false;    // nothing was read yet since the start at a stored position
    bool is_first_copy_ = false;  // it was begun by this object, and has not caught up yet
};

}  // namespace duewheel
