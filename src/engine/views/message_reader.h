// Shows one message: its state, and its content, which is in the log. It changes nothing.
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

namespace duewheel {

class MessageReader
    : Uses<EngineOptions, RecentTier, ServerTime, Lookups, BatchPipeline, EarlierRuns, Effects, TimeRules> {
  public:
    MessageReader(const Uses& uses, Lifecycle& lifecycle, MessageFinder& finder, CommandQueue& commands,
                  RecurringMessages& recurring, Transactions& transactions)
        : Uses(uses),
          lifecycle_(lifecycle),
          finder_(finder),
          commands_(commands),
          recurring_(recurring),
          transactions_(transactions) {}

    void read(const GetCommand& command, ReplyToken token, const SharedLimits& limits);

    // Commands also have such lookups; they wait for a batch again.
    void finish(FactsLookup lookup, std::optional<MessageRow> row, Generation generation);
    void finish(KeysLookup lookup, std::vector<std::optional<KeyFacts>> facts, Generation generation);
    void finish(WholeRuleLookup lookup, FoundRecords records, Generation generation);
    void finish(MessageLookup lookup, const FoundRecords& records, Generation generation);

  private:
    void get_by_key(PendingCommand pending);
    void finish_get(const PendingCommand& pending, std::optional<MessageRow> row, Generation generation);
    void answer_get(MessageRow row, ReplyToken token, ErrorCode blocked_by = ErrorCode::none);

    Lifecycle& lifecycle_;
    MessageFinder& finder_;
    CommandQueue& commands_;
    RecurringMessages& recurring_;
    Transactions& transactions_;
};

}  // namespace duewheel
