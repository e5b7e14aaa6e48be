// Puts: one or many, with or without idempotency keys.
//
// A key belongs to a namespace and a queue, and names one message during its life and for a time after its end. What a
// put does if there is one, its `on_key` says (commands_of_messages.h). The holder of a key can be in the batch that is
// being built (the put waits for it), in the recent tier, or in the index, which is looked up.
//
// A put that replaces a message is one whole record of it, with its id and everything else of the put: its attempts
// start at the first again, and what workers said about it is dropped. One that is held stays held, since a put is no
// kick.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/messages/message_finder.h"
#include "engine/messages/transactions.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Puts : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, OpenSegment, Effects, TimeRules,
                  BatchWriter> {
  public:
    // The message that has the key of a put.
    struct Holder {
        std::optional<KeyFacts> facts;  // nothing: the key is free
        Known known;                    // of its entry, if the put keeps or replaces it
        // Its newest record, if an earlier put of the same request wrote that.
        std::optional<std::size_t> operation;
    };
    // Keys that earlier puts of the same request hold, as spelled by key_name().
    using HeldKeys = std::unordered_map<std::string, Holder>;

    Puts(const Uses& uses, Queues& queues, MessageFinder& finder, Transactions& transactions)
        : Uses(uses), queues_(queues), finder_(finder), transactions_(transactions) {}

    Verdict decide(PendingCommand& pending, PutCommand& command);
    Verdict decide(PendingCommand& pending, PutBatchCommand& command);

    // Nothing if the puts can be decided: then `holders` has the holder of each key. What is decided must be followed
    // by withdraw().
    std::optional<Verdict> look_up(PendingCommand& pending, std::span<const PutCommand> puts,
                                   std::vector<Holder>& holders);
    // One of several puts of a request: one before it may have got its key.
    PutResult put_one_of(PutCommand& command, Holder& holder, HeldKeys& held_here);
    // Drops entries that were loaded for puts that did not replace them.
    void withdraw(const std::vector<Holder>& holders);

  private:
    std::optional<Verdict> look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                        std::vector<Holder>& holders);
    DueMs latest_due(const PutCommand& command, DueMs first_put_ms) const;
    Result<Repeat> chosen_recurring(const PutCommand& command, DueMs start) const;
    std::optional<PutResult> answer_of(const PutCommand& command, const Holder& holder) const;
    Result<MessageRecord> replacing(const Holder& holder) const;
    PutResult put_one(PutCommand& command, const Holder& holder);

    Queues& queues_;
    MessageFinder& finder_;
    Transactions& transactions_;
};

}  // namespace duewheel
