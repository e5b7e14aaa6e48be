// Records that the engine writes by itself about messages in memory: attempts that started, and the ends of messages
// that expired or used up their attempts. They wait here for the next batch; a command that comes before it can still
// change the outcome.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "engine/command_traits.h"
#include "engine/engine_context.h"

namespace duewheel {

// Of a failure for which the consumer gave no reason.
inline constexpr std::string_view kNoReason = "failed without a reason";

class OwnRecords : EnginePart {
  public:
    explicit OwnRecords(EngineContext& context) : EnginePart(context) {}

    // A started attempt is written in the next batch; no caller waits for that. On a full disk they wait in memory.
    void note_attempt(MessageId id) { attempts_.push_back(id); }
    bool has_attempts() const { return !attempts_.empty(); }
    void add_attempts();

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
    void keep_attempts_waiting();
    std::string_view exhaustion_reason(const Entry& entry) const;
    std::size_t end_bytes_max(const Entry& entry) const { return kRecordOverheadMax + exhaustion_reason(entry).size(); }

    std::vector<MessageId> attempts_;   // started
    std::vector<MessageId> exhausted_;  // attempts used up
    std::deque<MessageId> expired_;
};

}  // namespace duewheel
