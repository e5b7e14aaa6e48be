// The dead letters of a queue as a whole: redriving them, expiring and discarding them. They are listed in
// listings.cc.
//
// They are in two places, in the recent tier and in the index, each ordered by time of death. A job scans both, merged,
// one chunk per batch, so that a million of them delay no other work. At most one job expires or discards at a time;
// whether one must start follows from a lower bound for each queue with dead letters.
//
// A discard is a mark in the queue's settings, like a purge: an instant before which dead letters are ended. From the
// moment at which it is applied, marked dead letters do not return: a kick ends them, and a redrive skips them. The
// scan ends them all, and removes the mark with the last; after a crash the mark is still there, and the scan starts
// again. Messages that become dead letters during the scan are not marked: the mark is never later than the call.
#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "engine/engine.h"
#include "engine/refusals.h"

namespace duewheel {

void Engine::redrive(const RedriveCommand& command, ReplyToken token) {
    const std::uint64_t max = command.max.value_or(options_.redrive_max);
    if (max == 0 || max > options_.redrive_max) {
        return reply(token, Error{"bad_max",
                                  "`max` must be from 1 to " + std::to_string(options_.redrive_max) +
                                      ": call again for the others",
                                  "max"});
    }
    if (recent_.queues().find(command.name_space, command.queue) == kNoQueue) return reply(token, unknown_queue());
    if (!segment_.may_add(Adds::change)) {
        ++counters_.changes_refused_full;
        return reply(token, segment_.no_space_for(Adds::change));
    }
    if (redrives_.size() >= options_.redrives_max + (expiring_dead_ ? 1 : 0)) return reply(token, too_busy());
    Redrive& job = redrives_.emplace_back();
    job.number = next_redrive_++;
    job.token = token;
    job.queue = {command.name_space, command.queue};
    job.max = max;
    job.until_ms = now_ + 1;
    look_up_dead(job);
}

void Engine::look_up_dead(Redrive& job) {
    job.lookup_open = true;
    job.rows.clear();
    job.next_row = 0;
    // An expiry also needs the next dead letter.
    const DueMs until = job.expires ? std::numeric_limits<DueMs>::max() : job.until_ms;
    lookups_.start(ScanDead{job.queue.name_space, job.queue.queue, job.from, until, options_.redrive_chunk},
                   DeadLookup{job.number});
}

void Engine::finish(const DeadLookup& lookup, Stretch stretch, Generation generation) {
    const auto job = std::find_if(redrives_.begin(), redrives_.end(),
                                  [&](const Redrive& each) { return each.number == lookup.redrive; });
    assert(job != redrives_.end());
    job->lookup_open = false;
    job->rows = std::move(stretch.rows);
    job->next_row = 0;
    job->complete = stretch.complete;
    job->generation = generation;
}

bool Engine::has_redrives_to_add() const {
    return !segment_.puts_stalled() && std::any_of(redrives_.begin(), redrives_.end(), [this](const Redrive& job) {
        return !job.lookup_open && !(job.expires && segment_.is_stalled());
    });
}

// Redriven messages fill segments and memory like puts, and like them wait for segments to be sealed.
void Engine::add_redrives() {
    if (segment_.puts_stalled()) return;
    if (!segment_.may_add(Adds::change)) end_redrives();
    if (has_dead_to_expire()) begin_dead_expiry();
    for (auto job = redrives_.begin(); job != redrives_.end();) {
        job = !job->lookup_open && redrive_chunk(*job) ? redrives_.erase(job) : std::next(job);
    }
}

// Adds its next messages to the batch. True if the job is complete: its reply is sent with the last of them, or at once
// if there are none, because earlier batches are durable.
bool Engine::redrive_chunk(Redrive& job) {
    if (!lookups_.is_fresh(job.generation)) return look_up_dead(job), false;
    const QueueNumber queue = recent_.queues().find(job.queue.name_space, job.queue.queue);
    if (!job.expires && queue != kNoQueue && queue < queues_.size()) {  // a discarded one is not redriven
        job.from = std::max(job.from, {queues_[queue]->discard_before_ms, 0});
    }
    std::uint32_t added = 0;
    bool has_more = true;
    std::optional<Error> refused;
    DuePosition at = kNoBacklog;
    while (has_more && job.done < job.max) {
        const bool is_full = added == options_.redrive_chunk || batch_->count() >= options_.batch_operations_max ||
                             !has_room(kRecordOverheadMax);
        if (is_full) return false;
        const auto passes_over = [&](const MessageRow& row) {
            const bool is_behind = DuePosition{row.ended_ms, row.id} < job.from;
            // The recent tier is newer than the index.
            return is_behind || recent_.find(row.id) != kNoEntry || recent_.outcome(row.id) != nullptr;
        };
        while (job.next_row < job.rows.size() && passes_over(job.rows[job.next_row])) ++job.next_row;
        const bool has_row = job.next_row < job.rows.size();
        EntryNumber number = queue == kNoQueue ? kNoEntry : recent_.first_dead(queue, job.from.due_ms, job.from.id);
        at = kNoBacklog;
        if (number != kNoEntry) at = {recent_.ended_ms(recent_.entry(number)), recent_.entry(number).id};
        if (!has_row && !job.complete) {  // rows are known up to the last one; after it only the recent tier is
            DuePosition last;
            if (!job.rows.empty()) last = {job.rows.back().ended_ms, job.rows.back().id};
            if (at > last) {
                job.from = std::max(job.from, {last.due_ms, last.id + 1});
                return look_up_dead(job), false;
            }
        }
        const MessageRow* row = has_row ? &job.rows[job.next_row] : nullptr;
        if (row != nullptr && DuePosition{row->ended_ms, row->id} < at) {
            at = {row->ended_ms, row->id};
        } else {
            row = nullptr;
        }
        has_more = at.due_ms < job.until_ms;
        if (!has_more) break;
        // It was kicked, or only relocated: the next batch shows which. Checked before take_room() counts it.
        if (row == nullptr && recent_.entry(number).in_batch) return false;
        if (Status room = job.expires ? Status() : take_room(queue, job.queue.name_space, job.queue.queue); !room) {
            refused = std::move(room).error();
            break;
        }
        if (row != nullptr) {
            number = admit(*row);
            ++job.next_row;
        }
        const Entry& entry = recent_.entry(number);
        job.from = {at.due_ms, at.id + 1};
        add(number, job.expires ? expire_dead(entry, job.cause) : redrive_record(entry, job.cause), 0, Error{});
        ++job.done;
        ++added;
    }
    if (job.expires) return finish_dead_expiry(job, at);
    const RedriveAnswer answer{job.done, has_more};
    if (job.done == 0 && refused) {
        reply(job.token, *std::move(refused));
    } else if (added == 0) {
        reply(job.token, answer);
    } else {
        Operation& last = batch_->operations().back();
        last.token = job.token;
        last.reply = answer;
    }
    return true;
}

// ---- expiry of dead letters

// The queue has dead letters that died at `at_ms` or later.
void Engine::expect_dead(QueueNumber number, DueMs at_ms) {
    Queue& of = queue(number);
    if (of.dead_since_ms) return;
    of.dead_since_ms = at_ms;
    queues_with_dead_.emplace(at_ms, number);
}

void Engine::forget_dead(QueueNumber number) {
    Queue& of = queue(number);
    if (of.dead_since_ms) queues_with_dead_.erase({*of.dead_since_ms, number});
    of.dead_since_ms.reset();
}

// When the retention of the next dead letters ends, or now if some are to be discarded; kNoWakeup: there are none, or
// they are being discarded.
DueMs Engine::next_dead_expiry() const {
    if (expiring_dead_) return kNoWakeup;
    if (!discards_.empty()) return now_;
    if (queues_with_dead_.empty()) return kNoWakeup;
    return queues_with_dead_.begin()->first + options_.dead_kept_ms;
}

bool Engine::has_dead_to_expire() const {
    return !segment_.puts_stalled() && !segment_.is_stalled() && next_dead_expiry() <= now_;
}

void Engine::begin_dead_expiry() {
    expiring_dead_ = true;
    Redrive& job = redrives_.emplace_back();
    job.number = next_redrive_++;
    job.expires = true;
    job.max = std::numeric_limits<std::uint64_t>::max();
    if (discards_.empty()) {
        job.cause = Cause::kept_long_enough;
        job.expiring_queue = queues_with_dead_.begin()->second;
        job.until_ms = now_ - options_.dead_kept_ms + 1;
    } else {
        job.cause = Cause::discarded;
        job.expiring_queue = discards_.front();
        job.until_ms = queue(job.expiring_queue).discard_before_ms;
        discards_.pop_front();
    }
    job.queue = recent_.queues().name(job.expiring_queue);
    look_up_dead(job);
}

Record Engine::expire_dead(const Entry& entry, Cause cause) const {
    const State end = cause == Cause::discarded ? State::cancelled : State::expired;
    assert(is_legal_move(entry.state, end));
    Record record = changed(entry, RecordKind::end, cause);
    record.state.state = end;
    return record;
}

// `next`: the dead letters after those that were ended. False if the mark of a discard cannot be removed yet.
bool Engine::finish_dead_expiry(const Redrive& job, DuePosition next) {
    const QueueNumber number = job.expiring_queue;
    Queue& at = queue(number);
    if (job.cause == Cause::discarded && at.discard_before_ms != 0) {
        if (at.conf_in_batch || !has_room(kSettingsRecordBytesMax)) return false;
        QueueSettings settings = at.conf->settings;
        settings.revision += 1;
        settings.discard_before_ms = 0;
        settings.discard_started_ms = 0;
        add_settings(number, settings, 0, Error{});
    }
    expiring_dead_ = false;
    forget_dead(number);
    if (next != kNoBacklog) expect_dead(number, next.due_ms);
    return true;
}

// ---- discards

bool Engine::is_discarded(const Entry& entry) const {
    return entry.state == State::dead && entry.queue < queues_.size() &&
           recent_.ended_ms(entry) < queues_[entry.queue]->discard_before_ms;
}

// The mark of the queue has changed: to a later one, or to none.
void Engine::begin_discard(QueueNumber number) {
    Queue& at = queue(number);
    std::erase(discards_, number);
    const auto walking = std::find_if(redrives_.begin(), redrives_.end(), [&](const Redrive& job) {
        return job.cause == Cause::discarded && job.expiring_queue == number;
    });
    if (walking != redrives_.end()) {
        walking->until_ms = at.discard_before_ms;
    } else if (at.discard_before_ms != 0) {
        discards_.push_back(number);
    }
    if (at.discard_before_ms == 0) at.discarded = 0;
}

// Ends one dead letter. A message that is not dead stays as it is: a client ends it with a cancel.
Engine::Verdict Engine::discard(PendingCommand& pending, const DiscardCommand& command) {
    const Known known = find_message(pending, command.id, &command.name_space);
    if (const auto verdict = answer_unless_here(known, pending, command.id)) return *verdict;
    if (known.what == Known::What::ended) return reply(pending.token, ended_answer(known.ended)), Verdict::settled;
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{ChangeOutcome::cancelled, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (entry.state == State::dead) {
        if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
        add(known.entry, expire_dead(entry, Cause::discarded), pending.token, answer);
        return Verdict::settled;
    }
    if (is_purged(entry) && entry.state != State::leased) return purge(known, pending, answer);
    answer.outcome = entry.state == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::waiting;
    reply(pending.token, answer);
    return withdraw(known), Verdict::settled;
}

}  // namespace duewheel
