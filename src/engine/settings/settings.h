// Settings of queues and namespaces: set, patch, remove; pause, purge and discard are settings too.
//
// Settings are `conf` records (resource/queue_settings.h), applied when they are durable and before they are answered;
// so after the reply to a pause nothing is delivered any more. At most one command on the settings of a queue is in a
// batch, as for messages.
//
// A patch changes some settings and keeps the others. It is applied to the settings when the command is executed, and
// not when the request was read: of two that change different settings at the same time, both take effect. Its result
// is a command that sets all settings, and continues like one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/commands/target_queue.h"
#include "engine/core/batch_writer.h"
#include "engine/messages/dead_letters.h"
#include "engine/messages/purges.h"
#include "engine/settings/queues.h"
#include "engine/views/queue_reports.h"

namespace duewheel {

class Settings : Uses<EngineOptions, RecentTier, ServerTime, OpenSegment, Effects, TimeRules, BatchWriter> {
  public:
    static constexpr bool owns(Subject subject) { return subject == Subject::queue || subject == Subject::name_space; }

    Settings(const Uses& uses, Queues& queues, QueueReports& reports, DeadLetters& dead_letters, Purges& purges,
             Turns& turns)
        : Uses(uses), queues_(queues), reports_(reports), dead_letters_(dead_letters), purges_(purges), turns_(turns) {}

    // Another batch begins.
    void begin_batch() { namespaces_in_batch_ = 0; }

    Verdict decide(PendingCommand& pending, const ConfigureQueueCommand& command);
    Verdict decide(PendingCommand& pending, const ConfigureNamespaceCommand& command);
    Verdict decide(PendingCommand& pending, const PatchQueueCommand& command);
    Verdict decide(PendingCommand& pending, const PatchNamespaceCommand& command);
    // Compaction writes the settings again, unchanged.
    Verdict decide(PendingCommand& pending, const RelocateSettingsCommand& command);

    // The record is durable.
    void apply(Operation& operation, const ConfRecord& record);
    // These are the settings from now on.
    void install(QueueNumber number, const QueueSettings& settings, Sequence log_position, std::uint32_t record_bytes);
    void install(Namespace& space, const NamespaceSettings& settings, Sequence log_position,
                 std::uint32_t record_bytes);

    // Queues that have or had a target of this kind and changed since the last call for this kind, each once; at first
    // those of the start. A queue whose target becomes one of the other kind is among both.
    std::vector<TargetQueue> take_changed_targets(TargetKind kind);
    bool have_targets_changed(TargetKind kind) const { return !targets_[index_of(kind)].changed.empty(); }
    std::uint64_t queues_with_target(TargetKind kind) const { return targets_[index_of(kind)].queues; }

  private:
    Verdict remove(PendingCommand& pending, QueueNumber number);
    Verdict relocate_queue(PendingCommand& pending, const RelocateSettingsCommand& command);
    Verdict relocate_namespace(PendingCommand& pending, const RelocateSettingsCommand& command);
    void apply_queue(Operation& operation, const std::string& name_space);
    void apply_namespace(Operation& operation);
    Status check(const QueueSettings& settings) const;
    Status check(const NamespaceSettings& settings) const;
    void note_target(QueueNumber number, TargetKind kind, bool had_one);

    Queues& queues_;
    QueueReports& reports_;
    DeadLetters& dead_letters_;
    Purges& purges_;
    Turns& turns_;
    std::uint64_t namespaces_in_batch_ = 0;  // that get settings by the batch in construction
    struct Targets {
        std::vector<QueueNumber> changed;
        std::uint64_t queues = 0;  // that have one
    };
    std::array<Targets, kTargetKinds> targets_;  // by kind
};

}  // namespace duewheel
