// Records that the engine writes by itself about messages in memory: attempts that started, and the ends of messages
// that expired, used up their attempts, or were cancelled while they were leased. They wait here for a batch; a command
// that comes before it can still change the outcome.
//
// An attempt waits longer than the others, because no caller waits for its record, and the record of its
// acknowledgement, failure or release contains it: only attempts that last are written, with their leases, which the
// next run keeps (lifecycle.h). An extension of such a lease waits as long, for another record of the attempt. A crash
// forgets what is not written; what was due before it is marked as maybe delivered then (earlier_runs.h).
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <string_view>
#include <vector>

#include "engine/commands/command_traits.h"
#include "engine/commands/delivery.h"
#include "engine/core/batch_writer.h"

namespace duewheel {

// The reason of a failure for which the consumer gave none.
inline constexpr std::string_view kNoReason = "failed without a reason";

// Attempts that started and last, with their leases, and how far these have been extended.
class StartedAttempts : Uses<EngineOptions, RecentTier, ServerTime, OpenSegment, Leases, RunState, BatchWriter> {
  public:
    explicit StartedAttempts(const Uses& uses) : Uses(uses) {}

    void note(MessageId id) { attempts_.push_back({id, now_}); }
    // The record of its attempt, with its lease as it is now.
    MessageRecord record_of(const Entry& entry) const;
    // When a batch must contain the first ones: at once if the engine stops; kNever if none waits, or if there is only
    // space for the ends of messages. A batch writes those that have waited half of that time, so that consumers that
    // acknowledge late cost few batches.
    DueMs due_ms() const;

    bool has_work() const { return due_ms() <= now_; }
    std::size_t next_bytes() const {
        return has_work() ? change_bytes_max(attempts_.front().id) + kRecordedLeaseBytesMax : 0;
    }
    void add_to_batch();
    bool is_idle() const { return !has_work(); }

    static constexpr DueMs kWaitMs = 200;
    static constexpr DueMs kNever = std::numeric_limits<DueMs>::max();

  private:
    struct Attempt {
        MessageId id = 0;
        DueMs began_ms = 0;
    };

    void keep_waiting();
    bool is_to_be_written(MessageId id) const;

    std::deque<Attempt> attempts_;  // in the order in which they began, or were extended
};

// Ends of messages that expired.
class ExpiredMessages : Uses<EngineOptions, RecentTier, ServerTime, BatchWriter> {
  public:
    explicit ExpiredMessages(const Uses& uses) : Uses(uses) {}

    void note(MessageId id) { expired_.push_back(id); }
    std::size_t count() const { return expired_.size(); }

    bool has_work() const { return !expired_.empty(); }
    std::size_t next_bytes() const { return has_work() ? change_bytes_max(expired_.front()) : 0; }
    // At most half of a batch, so that a million that expire at one instant leave room for commands.
    void add_to_batch();
    bool is_idle() const { return expired_.empty(); }

  private:
    std::deque<MessageId> expired_;
};

// Ends of messages that have no further attempt: they used up theirs, or a client cancelled them during the last one.
class ExhaustedMessages : Uses<EngineOptions, RecentTier, BatchWriter> {
  public:
    explicit ExhaustedMessages(const Uses& uses) : Uses(uses) {}

    void note(MessageId id) { exhausted_.push_back(id); }
    std::size_t count() const { return exhausted_.size(); }

    bool has_work() const { return !exhausted_.empty(); }
    std::size_t next_bytes() const;
    void add_to_batch();
    bool is_idle() const { return exhausted_.empty(); }

  private:
    MessageRecord end_of(const Entry& entry) const;
    std::string_view reason(const Entry& entry) const;
    std::size_t end_bytes_max(const Entry& entry) const { return change_bytes_max(entry) + reason(entry).size(); }

    std::vector<MessageId> exhausted_;
};

// Each is a source of work for batches (part_by_type.h).
struct OwnRecords {
    explicit OwnRecords(
        const Uses<EngineOptions, RecentTier, ServerTime, OpenSegment, Leases, RunState, BatchWriter>& all)
        : expired(all), attempts(all), exhausted(all) {}

    ExpiredMessages expired;
    StartedAttempts attempts;
    ExhaustedMessages exhausted;
};

}  // namespace duewheel
