// Records that the engine writes by itself about messages in memory: attempts that started, and the ends of messages
// that expired or used up their attempts. They wait here for a batch; a command that comes before it can still change
// the outcome.
//
// An attempt waits longer than the others, because no caller waits for its record, and the record of its
// acknowledgement, failure or release contains it: only attempts that last are written. A crash forgets
// those that are not written; what was due before it is marked as maybe delivered then (earlier_runs.h).
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <string_view>
#include <vector>

#include "engine/command_traits.h"
#include "engine/engine_context.h"

namespace duewheel {

// The reason of a failure for which the consumer gave none.
inline constexpr std::string_view kNoReason = "failed without a reason";

class OwnRecords : EnginePart {
  public:
    explicit OwnRecords(EngineContext& context) : EnginePart(context) {}

    void note_attempt(MessageId id) { attempts_.push_back({id, now_}); }
    // When a batch must contain the first attempts: at once if the engine stops; kNever if none waits, or if there is
    // only space for the ends of messages. A batch writes those that have waited half of that time, so that consumers
    // that acknowledge late cost few batches.
    DueMs attempts_due_ms() const;
    void add_attempts();

    static constexpr DueMs kAttemptWaitsMs = 200;
    static constexpr DueMs kNever = std::numeric_limits<DueMs>::max();

    void note_expired(MessageId id) { expired_.push_back(id); }
    std::size_t expired() const { return expired_.size(); }
    // At most half of a batch, so that a million that expire at one instant leave room for commands.
    void add_expired();

    void note_exhausted(MessageId id) { exhausted_.push_back(id); }
    std::size_t exhausted() const { return exhausted_.size(); }
    // The most that the first one adds; 0: there is none.
    std::size_t next_exhausted_bytes() const;
    void add_exhausted();

  private:
    struct Attempt {
        MessageId id = 0;
        DueMs began_ms = 0;
    };

    void keep_attempts_waiting();
    std::string_view exhaustion_reason(const Entry& entry) const;
    std::size_t end_bytes_max(const Entry& entry) const { return kRecordOverheadMax + exhaustion_reason(entry).size(); }

    std::deque<Attempt> attempts_;      // in the order in which they began
    std::vector<MessageId> exhausted_;  // attempts used up
    std::deque<MessageId> expired_;
};

}  // namespace duewheel
