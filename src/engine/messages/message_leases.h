// Leases of a given message, for a consumer that chooses it by its id.
//
// A ready message is leased at once. One that waits for its due time, is held, or is a dead letter is made due now, as
// by a fire or a kick. That takes a record; when it is durable, the message is leased to this consumer before any other
// can get it. From then on it is leased like any other message: if the lease is lost, it is ready.
//
// A message with an order key can be leased only while it is ready: its key decides which one is next.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "engine/core/batch_writer.h"
#include "engine/messages/dead_letter_writer.h"
#include "engine/messages/dispatcher.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/message_finder.h"
#include "engine/settings/queues.h"

namespace duewheel {

class MessageLeases : Uses<RecentTier, ServerTime, RunState, Effects, TimeRules, BatchWriter> {
  public:
    MessageLeases(const Uses& uses, Queues& queues, Lifecycle& lifecycle, Dispatcher& dispatcher, MessageFinder& finder,
                  DeadLetterWriter& dead_writer)
        : Uses(uses),
          queues_(queues),
          lifecycle_(lifecycle),
          dispatcher_(dispatcher),
          finder_(finder),
          dead_writer_(dead_writer) {}

    Verdict decide(PendingCommand& pending, const LeaseMessageCommand& command);
    // A change of the message is durable. If that made it due for a consumer, it is leased; or, if that is not possible
    // any more, it stays ready (made_ready).
    void lease_promised(MessageId id);
    // The consumer is gone: the message becomes ready instead. O(promises).
    void forget(ReplyToken token);

  private:
    // The lease of a message that becomes due with the batch.
    struct Promise {
        ReplyToken token = 0;
        LeaseTerms terms;
    };

    // Why the message cannot be leased; nothing if it can.
    std::optional<Error> find_obstacle(EntryNumber number) const;
    MessageRecord due_now(const Entry& entry) const;

    Queues& queues_;
    Lifecycle& lifecycle_;
    Dispatcher& dispatcher_;
    MessageFinder& finder_;
    DeadLetterWriter& dead_writer_;
    std::unordered_map<MessageId, Promise> promises_;
};

}  // namespace duewheel
