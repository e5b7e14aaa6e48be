// The settings of groups, which override those that their queue has for all groups.
//
// They are `conf` records of their own (resource/group_settings.h), applied when they are durable. Settings that were
// nothing but a backoff are removed when it has passed: the engine adds the record of that to a batch itself.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/batch_writer.h"
#include "engine/core/engine_start.h"
#include "engine/messages/turns.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Groups : Uses<EngineOptions, RecentTier, ServerTime, OpenSegment, Effects, BatchWriter> {
  public:
    static constexpr bool owns(Subject subject) { return subject == Subject::group; }

    Groups(const Uses& uses, Queues& queues, Turns& turns) : Uses(uses), queues_(queues), turns_(turns) {}

    // What a start finds in the log.
    void install(const GroupConfStart& start);

    Verdict decide(PendingCommand& pending, const ChangeGroupCommand& command);
    // Compaction writes the settings again, or their removal.
    Verdict decide(PendingCommand& pending, const RelocateSettingsCommand& command);
    // The record is durable.
    void apply(Operation& operation, const ConfRecord& record);

    // Backoffs that have passed: a source of work for batches (part_by_type.h).
    bool has_work() const { return !turns_.ended_backoffs().empty(); }
    std::size_t next_bytes() const;
    void add_to_batch();
    bool is_idle() const { return !has_work(); }

  private:
    using Name = std::pair<std::string, std::string>;  // the namespace, and the name in the record

    void add(const Name& name, QueueNumber number, std::string_view group, const GroupSettings& settings,
             ReplyToken token, Reply with);

    Queues& queues_;
    Turns& turns_;
    std::size_t with_settings_ = 0;  // groups
    std::size_t new_in_batch_ = 0;
    std::map<Name, GroupSettings> in_batch_;
};

}  // namespace duewheel
