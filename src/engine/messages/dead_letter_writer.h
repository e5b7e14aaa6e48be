// The dead letters of a queue as a whole: what is written for each that a walk reaches (dead_letters.h).
//
// A discard is a mark in the queue's settings, like a purge: an instant before which dead letters are ended. From the
// moment at which it is applied, marked dead letters do not return: a kick ends them, and a redrive skips them. The
// scan ends them all, and removes the mark with the last; after a crash the mark is still there, and the scan starts
// again. Messages that become dead letters during the scan are not marked: the mark is never later than the call.
#pragma once

#include "engine/commands/command_traits.h"
#include "engine/core/batch_writer.h"
#include "engine/messages/dead_letters.h"
#include "engine/messages/lifecycle.h"
#include "engine/settings/queues.h"

namespace duewheel {

class DeadLetterWriter
    : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, OpenSegment, Effects, BatchWriter> {
  public:
    DeadLetterWriter(const Uses& uses, DeadLetters& dead_letters, Queues& queues, Lifecycle& lifecycle)
        : Uses(uses), dead_letters_(dead_letters), queues_(queues), lifecycle_(lifecycle) {}

    // The reply comes with the last message that it redrives.
    void start(const RedriveCommand& command, ReplyToken token);

    // Some can be added to a batch without another lookup.
    bool has_work() const;
    // The last record contains settings.
    std::size_t next_bytes() const { return has_work() ? kSettingsRecordBytesMax : 0; }
    // Redriven messages fill segments and memory like puts, and like them wait for segments to be sealed.
    void add_to_batch();
    bool is_idle() const { return dead_letters_.walks().empty(); }
    // The retention of dead letters has ended, or some are to be discarded.
    bool has_to_expire() const;
    // There is no space. What a redrive has returned so far is durable; the rest stays dead.
    void end_redrives();

    // Due as before, or now if that has passed, with all attempts of its rule. A dead letter has no expiry any more:
    // its return was requested, however late.
    MessageRecord redrive_record(const Entry& entry, Cause cause) const;
    // Ends a dead letter, which is discarded or was kept long enough.
    MessageRecord expire_dead(const Entry& entry, Cause cause) const;
    // It belongs to a discard.
    bool is_discarded(const Entry& entry) const;

  private:
    bool add_next(DeadWalk& walk);
    std::size_t bytes_max(const DeadLetters::Next& letter) const;
    bool finish_expiry(const DeadWalk& walk, DuePosition next);

    DeadLetters& dead_letters_;
    Queues& queues_;
    Lifecycle& lifecycle_;
};

}  // namespace duewheel
