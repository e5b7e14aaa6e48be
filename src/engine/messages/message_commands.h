// Commands that change one message: cancel, move, hold, kick, and those that end or extend a lease; and the relocation
// of messages for compaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/batch_writer.h"
#include "engine/messages/dead_letter_writer.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/message_finder.h"
#include "engine/settings/queues.h"

namespace duewheel {

class MessageCommands : Uses<RecentTier, ServerTime, Lookups, OpenSegment, Effects, TimeRules, BatchWriter> {
  public:
    MessageCommands(const Uses& uses, Queues& queues, Lifecycle& lifecycle, MessageFinder& finder,
                    DeadLetterWriter& dead_writer)
        : Uses(uses), queues_(queues), lifecycle_(lifecycle), finder_(finder), dead_writer_(dead_writer) {}

    Verdict decide(PendingCommand& pending, CancelCommand& command);
    Verdict decide(PendingCommand& pending, RescheduleCommand& command);
    Verdict decide(PendingCommand& pending, PatchMessageCommand& command);
    Verdict decide(PendingCommand& pending, const FireCommand& command);
    Verdict decide(PendingCommand& pending, const HoldCommand& command);
    Verdict decide(PendingCommand& pending, const KickCommand& command);
    // Ends one dead letter. A message that is not dead stays as it is: a client ends it with a cancel.
    Verdict decide(PendingCommand& pending, const DiscardCommand& command);

    Verdict decide(PendingCommand& pending, const AckCommand& command);
    Verdict decide(PendingCommand& pending, const FailCommand& command);
    Verdict decide(PendingCommand& pending, const ReleaseCommand& command);
    Verdict decide(PendingCommand& pending, const HoldLeaseCommand& command);
    Verdict decide(PendingCommand& pending, const ExtendCommand& command);

    Verdict decide(PendingCommand& pending, const RelocateCommand& command);
    Verdict decide(PendingCommand& pending, const RelocateOutcomesCommand& command);
    Verdict decide(PendingCommand& pending, const RelocationDoneCommand& command);

  private:
    // Another due time for a waiting message; `field` is the member of the command.
    Verdict move(PendingCommand& pending, MessageId id, const std::string& name_space, DueMs due, Cause cause,
                 const char* field);
    Result<MessageRecord> patched(const PatchMessageCommand& command, const Known& known,
                                  std::optional<DueMs> due) const;
    std::optional<Verdict> find_unfinished(PendingCommand& pending, MessageId id, const std::string& name_space,
                                           Known& known);
    MessageRecord changed_by(const LeaseToken& lease, const Entry& entry, RecordKind kind, Cause cause) const;
    std::optional<Verdict> end_with_lease(PendingCommand& pending, const LeaseToken& lease, EntryNumber number);
    Verdict request_cancel(PendingCommand& pending, EntryNumber number);
    std::optional<ChangeAnswer> too_late(const Entry& entry) const;

    Queues& queues_;
    Lifecycle& lifecycle_;
    MessageFinder& finder_;
    DeadLetterWriter& dead_writer_;
};

}  // namespace duewheel
