// Shows one message: its state, and its content, which is in the log. It changes nothing. A request may wait for the
// end of the message: it is answered when the end is durable, or after its wait with the state of then.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/core/command_queue.h"
#include "engine/core/uses.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/message_finder.h"
#include "engine/messages/recurring_messages.h"
#include "engine/messages/transactions.h"
#include "engine/views/message_waits.h"

namespace duewheel {

class MessageReader : Uses<EngineOptions, RecentTier, ServerTime, Lookups, TimerLanes, BatchPipeline, EarlierRuns,
                           RunState, Effects, TimeRules> {
  public:
    MessageReader(const Uses& uses, Lifecycle& lifecycle, MessageFinder& finder, CommandQueue& commands,
                  RecurringMessages& recurring, Transactions& transactions)
        : Uses(uses),
          lifecycle_(lifecycle),
          finder_(finder),
          commands_(commands),
          recurring_(recurring),
          transactions_(transactions),
          waits_(uses) {}

    void read(const GetCommand& command, ReplyToken token, const SharedLimits& limits);

    // Commands also have such lookups; they wait for a batch again.
    void finish(FactsLookup lookup, std::optional<MessageRow> row, Generation generation);
    void finish(KeysLookup lookup, std::vector<std::optional<KeyFacts>> facts, Generation generation);
    void finish(WholeRuleLookup lookup, FoundRecords records, Generation generation);
    void finish(MessageLookup lookup, const FoundRecords& records, Generation generation);

    // The end of this message is applied; answer_ended() answers those that wait for it.
    void note_end(MessageId id) { waits_.note_end(id); }
    void answer_ended();
    // The timer of a waiting request fired.
    void end_wait(std::uint64_t number);
    // As the engine offers them (engine.h).
    void forget(ReplyToken token) { waits_.forget(token); }
    void stop_waiting();

    std::size_t waiting() const { return waits_.size(); }
    // Verifies every invariant; aborts with a message.
    void check() const { waits_.check(); }

  private:
    void get_by_key(PendingCommand pending);
    void finish_get(const PendingCommand& pending, std::optional<MessageRow> row, Generation generation);
    bool must_wait(const GetCommand& command, State state, ReplyToken token) const;
    void wait(const GetCommand& command, MessageId id, ReplyToken token, const SharedLimits& limits);
    void answer(MessageWaits::Wait wait);
    void answer_get(MessageRow row, std::vector<PastAttempt> timeline, ReplyToken token,
                    ErrorCode blocked_by = ErrorCode::none);

    Lifecycle& lifecycle_;
    MessageFinder& finder_;
    CommandQueue& commands_;
    RecurringMessages& recurring_;
    Transactions& transactions_;
    MessageWaits waits_;
};

}  // namespace duewheel
