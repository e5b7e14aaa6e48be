// Puts: one or many, with or without idempotency keys.
//
// A key belongs to a namespace and a queue, and names one message during its life and for a time after its end. A
// repeated put with the same request gets the first response; with another request it is refused. The holder of a key
// can be in the batch that is being built (the put waits for it), in the recent tier, or in the index, which is looked
// up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/messages/message_finder.h"
#include "engine/messages/seconds.h"
#include "engine/messages/transactions.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Puts : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, OpenSegment, Effects, TimeRules,
                  BatchWriter> {
  public:
    // Keys that earlier puts of the same request hold, as spelled by key_name().
    using HeldKeys = std::unordered_map<std::string, KeyFacts>;

    Puts(const Uses& uses, Queues& queues, MessageFinder& finder, Seconds& seconds, Transactions& transactions)
        : Uses(uses), queues_(queues), finder_(finder), seconds_(seconds), transactions_(transactions) {}

    Verdict decide(PendingCommand& pending, PutCommand& command);
    Verdict decide(PendingCommand& pending, PutBatchCommand& command);

    // Nothing if the puts can be decided: then `holders` has the holder of each key that is not free.
    std::optional<Verdict> look_up(PendingCommand& pending, std::span<const PutCommand> puts,
                                   std::vector<std::optional<KeyFacts>>& holders);
    // One of several puts of a request: one before it may have got its key.
    PutResult put_one_of(PutCommand& command, std::optional<KeyFacts>& holder, HeldKeys& held_here);

  private:
    std::optional<Verdict> look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                        std::vector<std::optional<KeyFacts>>& holders);
    Result<Repeat> chosen_recurring(const PutCommand& command, DueMs start) const;
    PutResult put_one(PutCommand& command, const std::optional<KeyFacts>& holder);

    Queues& queues_;
    MessageFinder& finder_;
    Seconds& seconds_;
    Transactions& transactions_;
};

}  // namespace duewheel
