// The commands of the engine and its replies, as plain values. Every interface (HTTP, command line, later others)
// converts its text to these and back; the engine contains no text formats.
//
// Instants are server time in milliseconds since 1970 UTC, durations milliseconds. Limits of sizes and names are
// checked by the interface that parses the text; limits that depend on state are checked by the engine.
//
// A new command is a struct in one of the files below and a name in the list. What is special about it before it is
// executed is in its traits (command_traits.h). A part of the engine executes it: in `decide` if it changes something,
// in `read` if not.
#pragma once

#include <cstdint>
#include <variant>

#include "base/status.h"
#include "engine/commands/commands_of_compaction.h"
#include "engine/commands/commands_of_groups.h"
#include "engine/commands/commands_of_leases.h"
#include "engine/commands/commands_of_messages.h"
#include "engine/commands/commands_of_queues.h"
#include "engine/commands/commands_of_rules.h"
#include "engine/commands/commands_of_tokens.h"
#include "engine/commands/commands_of_views.h"

namespace duewheel {

// Variants whose copying, moving and destruction are compiled once, in command.cc: each is a function of every
// alternative, and each file of the engine and of its interfaces would make them all again.
class Command
    : public std::variant<
          PutCommand, PutBatchCommand, GetCommand, CancelCommand, RescheduleCommand, FireCommand, LeaseCommand,
          AckCommand, FailCommand, ExtendCommand, ReleaseCommand, RelocateCommand, RelocateOutcomesCommand,
          RelocationDoneCommand, ListCommand, HistoryCommand, ConfigureQueueCommand, DescribeQueueCommand,
          ListQueuesCommand, RelocateSettingsCommand, HoldCommand, KickCommand, RedriveCommand, HoldLeaseCommand,
          DiscardCommand, PutScheduleCommand, ControlScheduleCommand, DescribeScheduleCommand, ListSchedulesCommand,
          PreviewScheduleCommand, RelocateRuleCommand, SettleCommand, PutWatchdogCommand, FeedWatchdogCommand,
          RemoveWatchdogCommand, DescribeWatchdogCommand, ListWatchdogsCommand, ConfigureNamespaceCommand,
          DescribeNamespaceCommand, ListNamespacesCommand, ForecastCommand, PatchQueueCommand, PatchNamespaceCommand,
          PatchScheduleCommand, PatchWatchdogCommand, ChangeTokenCommand, DescribeTokenCommand, ListTokensCommand,
          TakeRecordsCommand, LeaseMessageCommand, PatchMessageCommand, ChangeGroupCommand, DescribeGroupCommand,
          ListGroupsCommand> {
  public:
    using variant::variant;
    using variant::operator=;
    Command();
    Command(const Command& other);
    Command(Command&& other) noexcept;
    Command& operator=(const Command& other);
    Command& operator=(Command&& other) noexcept;
    ~Command();
};

class Reply
    : public std::variant<Error, PutAnswer, PutBatchAnswer, MessageAnswer, ChangeAnswer, LeaseAnswer, LeaseEndAnswer,
                          RelocateAnswer, ListAnswer, HistoryAnswer, QueueAnswer, QueueListAnswer, RedriveAnswer,
                          ScheduleAnswer, ScheduleListAnswer, PreviewAnswer, SettleAnswer, WatchdogAnswer, FedAnswer,
                          WatchdogListAnswer, NamespaceAnswer, NamespaceListAnswer, ForecastAnswer, TokenAnswer,
                          TokenListAnswer, TakeRecordsAnswer, GroupAnswer, GroupListAnswer> {
  public:
    using variant::variant;
    using variant::operator=;
    Reply();
    Reply(const Reply& other);
    Reply(Reply&& other) noexcept;
    Reply& operator=(const Reply& other);
    Reply& operator=(Reply&& other) noexcept;
    ~Reply();
};

// Identifies the receiver of a reply; chosen by the caller, 0 is none.
using ReplyToken = std::uint64_t;

}  // namespace duewheel
