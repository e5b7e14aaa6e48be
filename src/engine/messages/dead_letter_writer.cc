#include "engine/messages/dead_letter_writer.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {

void DeadLetterWriter::start(const RedriveCommand& command, ReplyToken token) {
    const std::uint64_t max = command.max.value_or(options_.redrive_max);
    if (max == 0 || max > options_.redrive_max) {
        return reply(token, Error{"bad_max"_code,
                                  "`max` must be from 1 to " + std::to_string(options_.redrive_max) +
                                      ": call again for the others",
                                  "max"});
    }
    if (recent_.queues().find(command.name_space, command.queue) == kNoQueue) return reply(token, unknown_queue());
    if (!segment_.may_add(Adds::change)) {
        ++counters_.changes_refused_full;
        return reply(token, segment_.no_space_for(Adds::change));
    }
    if (!dead_letters_.may_begin_redrive(command.name_space)) return reply(token, too_busy());
    dead_letters_.begin_redrive({command.name_space, command.queue}, token, max);
}

bool DeadLetterWriter::has_work() const {
    const std::deque<DeadWalk>& walks = dead_letters_.walks();
    if (walks.empty() || segment_.puts_stalled()) return false;
    return std::any_of(walks.begin(), walks.end(), [this](const DeadWalk& walk) {
        return !walk.lookup_open && !(walk.expires && segment_.is_stalled());
    });
}

void DeadLetterWriter::add_to_batch() {
    if (segment_.puts_stalled()) return;
    if (!segment_.may_add(Adds::change)) end_redrives();
    if (has_to_expire()) dead_letters_.begin_expiry();
    std::deque<DeadWalk>& walks = dead_letters_.walks();
    for (auto walk = walks.begin(); walk != walks.end();) {
        walk = !walk->lookup_open && add_next(*walk) ? walks.erase(walk) : std::next(walk);
    }
}

// Adds the next messages of the walk to the batch. True if it is complete: its reply is sent with the last of them, or
// at once if there are none, because earlier batches are durable.
bool DeadLetterWriter::add_next(DeadWalk& walk) {
    using What = DeadLetters::Next::What;
    if (!lookups_.is_fresh(walk.generation)) return dead_letters_.look_up(walk), false;
    const QueueNumber queue = recent_.queues().find(walk.queue.name_space, walk.queue.queue);
    if (!walk.expires && queue != kNoQueue && queue < queues_.size()) {  // a discarded one is not redriven
        walk.from = std::max(walk.from, {queues_[queue].discard_before_ms, 0});
    }
    std::uint32_t added = 0;
    bool has_more = true;
    std::optional<Error> refused;
    DuePosition after = kNoBacklog;  // the first one that is not ended
    while (has_more && walk.done < walk.max) {
        const bool is_full = added == options_.redrive_chunk || batch().count() >= options_.batch_operations_max ||
                             !has_room(kRecordOverheadMax);
        if (is_full) return false;
        const DeadLetters::Next letter = dead_letters_.next(walk, queue);
        if (letter.what == What::wait) return false;
        after = letter.at;
        has_more = letter.what != What::none;
        if (!has_more) break;
        if (const std::size_t bytes = bytes_max(letter); !has_room(bytes)) {
            segment_.note_unfit(bytes);
            return false;
        }
        if (Status room = walk.expires ? Status() : queues_.take_room(queue, walk.queue.name_space, walk.queue.queue);
            !room) {
            refused = std::move(room).error();
            break;
        }
        const EntryNumber number = letter.row != nullptr ? lifecycle_.admit(*letter.row) : letter.entry;
        dead_letters_.pass(walk, letter);
        const Entry& entry = recent_.entry(number);
        add(number, walk.expires ? expire_dead(entry, walk.cause) : redrive_record(entry, walk.cause), 0, Error{});
        ++added;
    }
    if (walk.expires) return finish_expiry(walk, after);
    const RedriveAnswer answer{walk.done, has_more};
    if (walk.done == 0 && refused) {
        reply(walk.token, *std::move(refused));
    } else if (added == 0) {
        reply(walk.token, answer);
    } else {
        batch().answer_with_last(walk.token, answer);
    }
    return true;
}

// The most that its record takes.
std::size_t DeadLetterWriter::bytes_max(const DeadLetters::Next& letter) const {
    if (letter.row == nullptr) return change_bytes_max(recent_.entry(letter.entry));
    const Boxed<WorkState>& work = letter.row->state.work;
    return kRecordOverheadMax + (work.is_set() ? work->bytes_max() : 0);
}

bool DeadLetterWriter::has_to_expire() const {
    return !segment_.puts_stalled() && !segment_.is_stalled() && dead_letters_.next_expiry_ms() <= now_;
}

// `next`: the dead letters after those that were ended. False if the mark of a discard cannot be removed yet.
bool DeadLetterWriter::finish_expiry(const DeadWalk& walk, DuePosition next) {
    const QueueNumber number = walk.expiring_queue;
    Queue& at = queues_.at(number);
    if (walk.cause == Cause::discarded && at.discard_before_ms != 0) {
        if (at.next_settings || !has_room(kSettingsRecordBytesMax)) return false;
        QueueSettings settings = at.conf->settings;
        settings.revision += 1;
        settings.discard_before_ms = 0;
        settings.discard_started_ms = 0;
        queues_.add_settings(number, settings, 0, Error{});
    }
    dead_letters_.end_expiry(walk, next);
    return true;
}

void DeadLetterWriter::end_redrives() {
    std::erase_if(dead_letters_.walks(), [this](const DeadWalk& walk) {
        if (walk.lookup_open || walk.expires) return false;
        if (walk.done > 0) return reply(walk.token, RedriveAnswer{walk.done, true}), true;
        ++counters_.changes_refused_full;
        return reply(walk.token, segment_.no_space_for(Adds::change)), true;
    });
}

// ---- records

MessageRecord DeadLetterWriter::redrive_record(const Entry& entry, Cause cause) const {
    assert(is_legal_move(entry.state(), State::scheduled));
    MessageRecord record = changed(entry, RecordKind::change, cause);
    record.state.state = State::scheduled;
    if (!recent_.is_recurring(entry))
        record.state.due_ms = std::max(entry.due_ms, now_);  // a recurring message catches up
    record.state.attempts_forgiven = record.state.attempts;
    if (entry.state() == State::dead) record.state.expires_ms = 0;
    return record;
}

MessageRecord DeadLetterWriter::expire_dead(const Entry& entry, Cause cause) const {
    const State end = cause == Cause::discarded ? State::cancelled : State::expired;
    assert(is_legal_move(entry.state(), end));
    MessageRecord record = changed(entry, RecordKind::end, cause);
    record.state.state = end;
    return record;
}

bool DeadLetterWriter::is_discarded(const Entry& entry) const {
    return entry.state() == State::dead && entry.queue < queues_.size() &&
           recent_.ended_ms(entry) < queues_[entry.queue].discard_before_ms;
}

}  // namespace duewheel
