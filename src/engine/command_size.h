// How much a command can add to a batch: records and bytes, before it is validated.
#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/command.h"

namespace duewheel {

// The maximum size of a command's record, without its texts of variable length.
inline constexpr std::size_t kRecordOverheadMax = 1280;
inline constexpr std::size_t kSettingsRecordBytesMax = kRecordOverheadMax + kTargetBytesMax;

template <class Put>
std::size_t content_bytes(const Put& put) {
    return put.body.size() + put.headers.size() + put.content_type.size() + put.traceparent.size();
}
inline std::size_t content_bytes(const PutCommand& put) {
    return content_bytes<PutCommand>(put) + (put.transaction ? put.transaction->check_queue.size() : 0);
}

inline bool is_a_put(const Command& command) {
    return std::holds_alternative<PutCommand>(command) || std::holds_alternative<PutBatchCommand>(command) ||
           std::holds_alternative<TakeRecordsCommand>(command);
}

// Commands of compaction, which limits itself.
inline bool is_of_cleaning(const Command& command) {
    return std::holds_alternative<RelocateCommand>(command) ||
           std::holds_alternative<RelocateOutcomesCommand>(command) ||
           std::holds_alternative<RelocateSettingsCommand>(command) ||
           std::holds_alternative<RelocateRuleCommand>(command) ||
           std::holds_alternative<RelocationDoneCommand>(command);
}

// Changes of a message or a queue by clients, which can come at any rate.
inline bool is_a_move(const Command& command) {
    if (const auto* change = std::get_if<ConfigureQueueCommand>(&command)) {
        using What = ConfigureQueueCommand::What;
        return change->what == What::set || change->what == What::pause;
    }
    if (const auto* change = std::get_if<ControlScheduleCommand>(&command)) {
        using What = ControlScheduleCommand::What;
        return change->what == What::resume || change->what == What::fire;
    }
    if (const auto* change = std::get_if<ConfigureNamespaceCommand>(&command)) return !change->removes;
    return std::holds_alternative<PatchQueueCommand>(command) ||
           std::holds_alternative<PatchNamespaceCommand>(command) ||
           std::holds_alternative<ChangeTokenCommand>(command) ||
           std::holds_alternative<PatchScheduleCommand>(command) ||
           std::holds_alternative<PatchWatchdogCommand>(command) ||
           std::holds_alternative<PutScheduleCommand>(command) || std::holds_alternative<PutWatchdogCommand>(command) ||
           std::holds_alternative<FeedWatchdogCommand>(command) || std::holds_alternative<RescheduleCommand>(command) ||
           std::holds_alternative<FireCommand>(command) || std::holds_alternative<HoldCommand>(command) ||
           std::holds_alternative<KickCommand>(command);
}

// The maximum number of records of a command.
inline std::size_t record_count(const Command& command) {
    const auto* batch = std::get_if<PutBatchCommand>(&command);
    if (std::holds_alternative<ControlScheduleCommand>(command)) return 2;
    if (const auto* records = std::get_if<TakeRecordsCommand>(&command)) return records->puts.size() + 1;
    return batch != nullptr ? batch->puts.size() : 1;
}

// Makes the log longer by content, and waits with puts while there is no space for it.
inline bool brings_content(const Command& command) {
    if (const auto* change = std::get_if<ControlScheduleCommand>(&command)) {
        return change->what == ControlScheduleCommand::What::fire;
    }
    return std::holds_alternative<PutScheduleCommand>(command) || std::holds_alternative<PutWatchdogCommand>(command) ||
           std::holds_alternative<PatchScheduleCommand>(command) ||
           std::holds_alternative<PatchWatchdogCommand>(command);
}

// Content of a put, and a patch.
inline std::size_t put_bytes(const Command& command) {
    if (const auto* patch = std::get_if<PatchQueueCommand>(&command)) return patch->bytes;
    if (const auto* patch = std::get_if<PatchNamespaceCommand>(&command)) return patch->bytes;
    if (const auto* patch = std::get_if<PatchScheduleCommand>(&command)) return patch->bytes;
    if (const auto* patch = std::get_if<PatchWatchdogCommand>(&command)) return patch->bytes;
    if (const auto* put = std::get_if<PutCommand>(&command)) return content_bytes(*put);
    if (const auto* schedule = std::get_if<PutScheduleCommand>(&command)) return content_bytes(*schedule);
    if (const auto* watchdog = std::get_if<PutWatchdogCommand>(&command)) return content_bytes(*watchdog);
    std::size_t bytes = 0;
    if (const auto* batch = std::get_if<PutBatchCommand>(&command)) {
        for (const PutCommand& put : batch->puts) bytes += content_bytes(put);
    }
    if (const auto* records = std::get_if<TakeRecordsCommand>(&command)) {
        for (const PutCommand& put : records->puts) bytes += content_bytes(put);
    }
    return bytes;
}

// Puts come a thousand in a command; counting their optional fields would close segments that are half empty.
inline std::size_t record_bytes_at_most(const PutCommand& put) {
    constexpr std::size_t kNumbers = 192;  // the frame, and the tags and lengths of its texts, included
    constexpr std::size_t kRetryNumbers = 80;
    constexpr std::size_t kLoopNumbers = 128;
    constexpr std::size_t kTransactionNumbers = 48;
    const std::size_t texts = put.name_space.size() + put.queue.size() + put.order_key.size() + put.key.size();
    return kNumbers + (put.retry.is_empty() ? 0 : kRetryNumbers) + (put.repeat ? kLoopNumbers : 0) +
           (put.transaction ? kTransactionNumbers : 0) + texts + content_bytes(put);
}

// `overhead`: the maximum size of a record, without its texts of variable length.
inline std::size_t record_bytes_at_most(const Command& command, std::size_t overhead) {
    if (const auto* put = std::get_if<PutCommand>(&command)) return record_bytes_at_most(*put);
    if (const auto* batch = std::get_if<PutBatchCommand>(&command)) {
        std::size_t bytes = 0;
        for (const PutCommand& put : batch->puts) bytes += record_bytes_at_most(put);
        return bytes;
    }
    if (const auto* records = std::get_if<TakeRecordsCommand>(&command)) {
        std::size_t bytes = overhead;  // of the position
        for (const PutCommand& put : records->puts) bytes += record_bytes_at_most(put);
        return bytes;
    }
    if (const auto* relocate = std::get_if<RelocateCommand>(&command)) {
        return overhead + relocate->record_body.size() + relocate->row.reason.size();
    }
    if (const auto* relocate = std::get_if<RelocateSettingsCommand>(&command)) {
        if (relocate->subject == kSubjectInput) return overhead;
        return overhead + (relocate->subject == kSubjectToken ? kTokenBytesMax : kTargetBytesMax);
    }
    if (std::holds_alternative<ConfigureQueueCommand>(command) || std::holds_alternative<PatchQueueCommand>(command)) {
        return overhead + kTargetBytesMax;
    }
    if (std::holds_alternative<ChangeTokenCommand>(command)) return overhead + kTokenBytesMax;
    if (std::holds_alternative<PutScheduleCommand>(command)) {
        return overhead + kScheduleBytesMax + put_bytes(command);
    }
    if (const auto* change = std::get_if<ControlScheduleCommand>(&command)) {
        return 2 * overhead + kScheduleBytesMax + change->record_body.size();
    }
    if (const auto* patch = std::get_if<PatchScheduleCommand>(&command)) {
        return overhead + kScheduleBytesMax + patch->bytes + patch->record_body.size();
    }
    if (const auto* patch = std::get_if<PatchWatchdogCommand>(&command)) {
        return overhead + kWatchdogBytesMax + patch->bytes + patch->record_body.size();
    }
    if (std::holds_alternative<PutWatchdogCommand>(command) || std::holds_alternative<FeedWatchdogCommand>(command)) {
        return overhead + kWatchdogBytesMax + put_bytes(command);
    }
    if (const auto* relocate = std::get_if<RelocateRuleCommand>(&command)) {
        return overhead + kScheduleBytesMax + relocate->record_body.size();
    }
    // Numbers, and rows for the first of them: with small segments, none may be closed for rows that do not
    // come.
    constexpr std::size_t kNumbers = 128;
    if (const auto* relocate = std::get_if<RelocateOutcomesCommand>(&command)) return kNumbers + relocate->rows.size();
    if (std::holds_alternative<RelocationDoneCommand>(command)) return kNumbers;
    if (const auto* fail = std::get_if<FailCommand>(&command)) return overhead + fail->reason.size();
    return overhead;
}

// Whether all of it may turn out to have been put before.
inline bool may_be_repeated(const Command& command) {
    if (const auto* put = std::get_if<PutCommand>(&command)) return !put->key.empty();
    const auto* batch = std::get_if<PutBatchCommand>(&command);
    return batch != nullptr &&
           std::any_of(batch->puts.begin(), batch->puts.end(), [](const PutCommand& put) { return !put.key.empty(); });
}

}  // namespace duewheel
