// What the engine knows about a command before it executes it: the line in which it waits, what holds it back while
// there is little space, and how much it can add to a batch.
//
// Most commands have the defaults; the others are listed here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "engine/commands/command.h"
#include "message/records/past_attempts.h"
#include "message/records/subject.h"

namespace duewheel {

// The maximum size of a command's record, without its texts of variable length.
inline constexpr std::size_t kRecordOverheadMax = 1280;
inline constexpr std::size_t kSettingsRecordBytesMax = kRecordOverheadMax + kTargetBytesMax;

struct DefaultTraits {
    static constexpr bool kIsPut = false;
    static constexpr bool kIsCompaction = false;
    // Refused while too many commands wait. Compaction limits itself, and an outcome that is not relocated would be
    // lost with the front of the log; consumers have limits of their own.
    static constexpr bool kIsLimited = true;

    // A change by clients that can come at any rate.
    static bool is_move(const auto&) { return false; }
    // It makes the log longer by content, and waits with puts while there is no space for it.
    static bool brings_content(const auto&) { return false; }
    // Whether all of it may turn out to have been put before.
    static bool may_be_repeated(const auto&) { return false; }
    // The maximum number of its records, and their size.
    static std::size_t record_count(const auto&) { return 1; }
    static std::size_t record_bytes_max(const auto&) { return kRecordOverheadMax; }
    // Its content, or its patch.
    static std::size_t payload_bytes(const auto&) { return 0; }
    // Commands of a namespace with the same text are in one line; null: in the one of all others.
    static const std::string* line(const auto&) { return nullptr; }
};

template <class Command>
struct CommandTraits : DefaultTraits {};

// ---- puts

template <>
struct CommandTraits<PutCommand> : DefaultTraits {
    static constexpr bool kIsPut = true;
    static bool may_be_repeated(const PutCommand& put) { return !put.key.empty(); }
    // Puts come a thousand in a command; counting their optional fields would close segments that are half empty.
    static std::size_t record_bytes_max(const PutCommand& put) {
        constexpr std::size_t kNumbers = 192;  // the frame, and the tags and lengths of its texts, included
        constexpr std::size_t kRetryNumbers = 80;
        constexpr std::size_t kRepeatNumbers = 128;
        constexpr std::size_t kTransactionNumbers = 48;
        constexpr std::size_t kReplaceBytes = 512;  // numbers, and the order key that it had
        const std::size_t texts =
            put.name_space.size() + put.queue.size() + put.order_key.size() + put.group.size() + put.key.size();
        return kNumbers + (put.retry.is_empty() ? 0 : kRetryNumbers) + (put.repeat ? kRepeatNumbers : 0) +
               (put.transaction ? kTransactionNumbers : 0) + (put.on_key == OnKey::replace ? kReplaceBytes : 0) +
               texts + payload_bytes(put);
    }
    static std::size_t payload_bytes(const PutCommand& put) {
        constexpr std::size_t kHistoryNumbers = 128;
        return put.content_bytes() + (put.transaction ? put.transaction->check_queue.size() : 0) +
               (put.imported.is_set() ? kHistoryNumbers + put.imported->text_bytes() : 0);
    }
    static const std::string* line(const PutCommand& put) { return &put.queue; }
};

struct PutsTraits : DefaultTraits {
    static constexpr bool kIsPut = true;
    static std::size_t record_count(const auto& command) { return command.puts.size(); }
    static std::size_t record_bytes_max(const auto& command) {
        std::size_t bytes = 0;
        for (const PutCommand& put : command.puts) bytes += CommandTraits<PutCommand>::record_bytes_max(put);
        return bytes;
    }
    static std::size_t payload_bytes(const auto& command) {
        std::size_t bytes = 0;
        for (const PutCommand& put : command.puts) bytes += CommandTraits<PutCommand>::payload_bytes(put);
        return bytes;
    }
};
template <>
struct CommandTraits<PutBatchCommand> : PutsTraits {
    static bool may_be_repeated(const PutBatchCommand& batch) {
        return std::any_of(batch.puts.begin(), batch.puts.end(),
                           [](const PutCommand& put) { return !put.key.empty(); });
    }
    static const std::string* line(const PutBatchCommand& batch) { return &batch.puts.front().queue; }
};
// With the position of the input.
template <>
struct CommandTraits<TakeRecordsCommand> : PutsTraits {
    static std::size_t record_count(const auto& command) { return PutsTraits::record_count(command) + 1; }
    static std::size_t record_bytes_max(const auto& command) {
        return PutsTraits::record_bytes_max(command) + kRecordOverheadMax;
    }
    static const std::string* line(const TakeRecordsCommand& command) { return &command.input; }
};

// ---- messages

template <>
struct CommandTraits<LeaseCommand> : DefaultTraits {
    static constexpr bool kIsLimited = false;
};
struct MoveTraits : DefaultTraits {
    static bool is_move(const auto&) { return true; }
};
template <>
struct CommandTraits<RescheduleCommand> : MoveTraits {};
template <>
struct CommandTraits<PatchMessageCommand> : MoveTraits {
    static bool brings_content(const PatchMessageCommand& patch) { return patch.content != nullptr; }
    static std::size_t record_bytes_max(const PatchMessageCommand& patch) {
        return kRecordOverheadMax + patch.bytes + patch.record_body.size();
    }
    static std::size_t payload_bytes(const PatchMessageCommand& patch) { return patch.bytes; }
};
template <>
struct CommandTraits<FireCommand> : MoveTraits {};
template <>
struct CommandTraits<HoldCommand> : MoveTraits {};
template <>
struct CommandTraits<KickCommand> : MoveTraits {};
template <>
struct CommandTraits<LeaseMessageCommand> : MoveTraits {};
template <>
struct CommandTraits<AckCommand> : DefaultTraits {
    static std::size_t record_bytes_max(const AckCommand& ack) { return kRecordOverheadMax + ack.result.size(); }
    static std::size_t payload_bytes(const AckCommand& ack) { return ack.result.size(); }
};
template <>
struct CommandTraits<FailCommand> : DefaultTraits {
    static std::size_t record_bytes_max(const FailCommand& fail) {
        return kRecordOverheadMax + fail.reason.size() + std::min(fail.reason.size(), kAttemptReasonBytesMax);
    }
};
template <>
struct CommandTraits<ExtendCommand> : DefaultTraits {
    static std::size_t record_bytes_max(const ExtendCommand& extend) {
        return kRecordOverheadMax + (extend.progress ? extend.progress->size() : 0) +
               (extend.checkpoint ? extend.checkpoint->size() : 0);
    }
};

// ---- settings and tokens

struct PatchTraits : MoveTraits {
    static std::size_t payload_bytes(const auto& patch) { return patch.bytes; }
};
template <>
struct CommandTraits<ConfigureQueueCommand> : DefaultTraits {
    static bool is_move(const ConfigureQueueCommand& command) {
        using What = ConfigureQueueCommand::What;
        return command.what == What::set || command.what == What::pause;
    }
    static std::size_t record_bytes_max(const auto&) { return kSettingsRecordBytesMax; }
};
template <>
struct CommandTraits<PatchQueueCommand> : PatchTraits {
    static std::size_t record_bytes_max(const auto&) { return kSettingsRecordBytesMax; }
};
template <>
struct CommandTraits<ChangeGroupCommand> : PatchTraits {
    static std::size_t record_bytes_max(const auto&) { return kRecordOverheadMax + kGroupBytesMax; }
};
template <>
struct CommandTraits<ConfigureNamespaceCommand> : DefaultTraits {
    static bool is_move(const ConfigureNamespaceCommand& command) { return !command.removes; }
};
template <>
struct CommandTraits<PatchNamespaceCommand> : PatchTraits {};
template <>
struct CommandTraits<ChangeTokenCommand> : MoveTraits {
    static std::size_t record_bytes_max(const auto&) { return kRecordOverheadMax + kTokenBytesMax; }
};

// ---- schedules and watchdogs

template <std::size_t kRuleBytesMax>
struct PutRuleTraits : MoveTraits {
    static bool brings_content(const auto&) { return true; }
    static std::size_t record_bytes_max(const auto& put) {
        return kRecordOverheadMax + kRuleBytesMax + put.content_bytes();
    }
    static std::size_t payload_bytes(const auto& put) { return put.content_bytes(); }
};
template <std::size_t kRuleBytesMax>
struct PatchRuleTraits : PatchTraits {
    static bool brings_content(const auto&) { return true; }
    static std::size_t record_bytes_max(const auto& patch) {
        return kRecordOverheadMax + kRuleBytesMax + patch.bytes + patch.record_body.size();
    }
};
template <>
struct CommandTraits<PutScheduleCommand> : PutRuleTraits<kScheduleBytesMax> {};
template <>
struct CommandTraits<PutWatchdogCommand> : PutRuleTraits<kWatchdogBytesMax> {};
template <>
struct CommandTraits<PatchScheduleCommand> : PatchRuleTraits<kScheduleBytesMax> {};
template <>
struct CommandTraits<PatchWatchdogCommand> : PatchRuleTraits<kWatchdogBytesMax> {};
template <>
struct CommandTraits<ControlScheduleCommand> : DefaultTraits {
    using What = ControlScheduleCommand::What;
    static bool is_move(const ControlScheduleCommand& command) {
        return command.what == What::resume || command.what == What::fire;
    }
    static bool brings_content(const ControlScheduleCommand& command) { return command.what == What::fire; }
    static std::size_t record_count(const auto&) { return 2; }
    static std::size_t record_bytes_max(const ControlScheduleCommand& command) {
        return 2 * kRecordOverheadMax + kScheduleBytesMax + command.record_body.size();
    }
};
template <>
struct CommandTraits<FeedWatchdogCommand> : MoveTraits {
    static std::size_t record_bytes_max(const auto&) { return kRecordOverheadMax + kWatchdogBytesMax; }
};

// ---- compaction

struct CompactionTraits : DefaultTraits {
    static constexpr bool kIsCompaction = true;
    static constexpr bool kIsLimited = false;
};
template <>
struct CommandTraits<RelocateCommand> : CompactionTraits {
    static std::size_t record_bytes_max(const RelocateCommand& command) {
        return kRecordOverheadMax + command.record_body.size() + command.row.reason.size();
    }
};
template <>
struct CommandTraits<RelocateSettingsCommand> : CompactionTraits {
    static std::size_t record_bytes_max(const RelocateSettingsCommand& command) {
        if (command.subject == Subject::input) return kRecordOverheadMax;
        return kRecordOverheadMax + (command.subject == Subject::token ? kTokenBytesMax : kTargetBytesMax);
    }
};
template <>
struct CommandTraits<RelocateRuleCommand> : CompactionTraits {
    static std::size_t record_bytes_max(const RelocateRuleCommand& command) {
        return kRecordOverheadMax + kScheduleBytesMax + command.record_body.size();
    }
};
// Numbers, and rows for the first of them: with small segments, none may be closed for rows that do not come.
inline constexpr std::size_t kOutcomesOverheadMax = 128;
template <>
struct CommandTraits<RelocateOutcomesCommand> : CompactionTraits {
    static std::size_t record_bytes_max(const RelocateOutcomesCommand& command) {
        return kOutcomesOverheadMax + command.rows.size();
    }
};
template <>
struct CommandTraits<RelocationDoneCommand> : CompactionTraits {
    static std::size_t record_bytes_max(const auto&) { return kOutcomesOverheadMax; }
};

// ---- the same of any command

// Calls `visit` with the traits of the command, and with the command.
template <class Visit>
decltype(auto) with_traits(const Command& command, Visit&& visit) {
    return std::visit([&]<class T>(const T& of) -> decltype(auto) { return visit(CommandTraits<T>{}, of); }, command);
}
bool is_a_put(const Command& command);
bool is_of_cleaning(const Command& command);
bool is_limited(const Command& command);
bool is_a_move(const Command& command);
bool brings_content(const Command& command);
bool may_be_repeated(const Command& command);
std::size_t record_count(const Command& command);
std::size_t record_bytes_max(const Command& command);
std::size_t payload_bytes(const Command& command);

}  // namespace duewheel
