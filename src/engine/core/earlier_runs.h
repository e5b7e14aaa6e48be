// Which messages an earlier run of this server may have delivered, and which messages the original of a restored log
// may have created, without a record of it in this log.
//
// A crash may lose the record of a delivery. So a message that an earlier run had, and that was due before this run
// started, may have been delivered: its id shows the run, because its record may have been relocated since. The
// original of a restored log may have continued after the backup: it may have delivered messages, received the commit
// of a prepared message, or created the occurrence of a recurring message that is still to come in this log.
//
// Plain values, fixed when the run starts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "store/store.h"

namespace duewheel {

class EarlierRuns {
  public:
    // The original of a restored log may have delivered messages due until `restored_until_ms`, and have assigned ids
    // up to and including the counter `ids_from`; otherwise both are 0.
    EarlierRuns(std::uint64_t shard, DueMs restored_until_ms, std::uint64_t ids_from)
        : shard_(shard), ids_from_(ids_from), restored_until_ms_(restored_until_ms), until_ms_(restored_until_ms) {}

    // This run starts at `now`: earlier ones delivered nothing that was due after `until_ms`, saved the time last at
    // `saved_ms`, and assigned ids up to `newest_id`.
    void end(DueMs until_ms, DueMs saved_ms, DueMs now, MessageId newest_id) {
        until_ms_ = std::max(until_ms_, until_ms);
        saved_ms_ = saved_ms;
        started_ms_ = now;
        newest_id_ = newest_id;
    }
    // How long no server ran after the due time of this message, if it became due in that time. An idle server saves
    // the time rarely, and the time since then is counted.
    DueMs down_time(MessageId id, DueMs due_ms) const {
        return id <= newest_id_ && due_ms >= saved_ms_ && due_ms < started_ms_ ? started_ms_ - due_ms : 0;
    }
    // Whether a recorded lease ended before the newest commit of those runs. If it did not, they delivered the message
    // to no other consumer: before that, they save a time after its end (Dispatcher::lapse_to_save).
    bool saw_end_of(DueMs lease_until_ms) const { return lease_until_ms <= saved_ms_; }
    // The original of a restored log may have ended this lease without a record of it in this log.
    bool may_have_ended(DueMs lease_began_ms) const { return lease_began_ms <= restored_until_ms_; }
    // The ids of this run have greater counters.
    std::uint64_t ids_from() const { return ids_from_; }

    // A recurring message itself is never delivered.
    bool may_have_delivered(MessageId id, const MessageState& state) const {
        return !state.is_recurring() && may_have_delivered(id, state.state, state.due_ms, state.nominal_due_ms);
    }
    // A prepared message is not delivered in this log.
    bool may_have_delivered(MessageId id, State state, DueMs due_ms, DueMs nominal_ms) const {
        if (state == State::prepared) return may_have_created(id, nominal_ms);
        return due_ms <= until_ms_ && id <= newest_id_;
    }

    // What follows from message `id` and is due at `due_ms`, although the message is still pending in this log.
    bool may_have_created(MessageId id, DueMs due_ms) const {
        return id <= ids_from_ * kShardsMax + shard_ && may_have_created(due_ms);
    }
    // The same for messages of schedules and watchdogs: those that are newer than the restore are due after it.
    bool may_have_created(DueMs due_ms) const { return due_ms <= restored_until_ms_; }

  private:
    std::uint64_t shard_;
    std::uint64_t ids_from_;
    DueMs restored_until_ms_;
    DueMs until_ms_;
    DueMs saved_ms_ = 0;
    DueMs started_ms_ = 0;
    MessageId newest_id_ = 0;
};

}  // namespace duewheel
