// Batches from construction to application: which commands are included, when a segment is closed, and the effects of
// durable records.
#include <algorithm>
#include <cassert>
#include <span>

#include "engine/command_size.h"
#include "engine/engine.h"

namespace duewheel {

bool Engine::must_close_segment() const {
    if (segment_.is_empty()) return false;
    if (segment_.is_close_wanted()) return true;
    std::size_t next = std::max(segment_.unfit_bytes(), next_own_bytes());
    if (!context_.serving || batches_.confirm_at_ms() <= now_) next = std::max(next, kRecordOverheadMax);
    return next != 0 && !segment_.fits(next);
}

// A constant load of commands, such as the feeds of thousands of watchdogs, leaves three quarters of a batch to
// internal work, and internal work leaves a quarter to puts. The others use what is left of a share.
void Engine::build_batch() {
    if (batches_.is_in_flight() || !context_.started) return;
    segment_.begin_batch();
    batches_.begin();
    queues_.begin_batch();
    settings_.begin_batch();
    if (segment_.is_stalled()) {
        answer_without_log();
        if (segment_.cleaning_may_write()) build_for_cleaning();
        if (!batches_.is_in_flight()) batches_.discard();
        return;
    }
    const bool closes = must_close_segment();
    segment_.forget_unfit();
    if (closes) {
        add_cursors();
        return submit_batch(true);
    }
    if (!context_.serving) return add_epoch();
    const auto take_commands_to = [this](std::size_t quarters) {
        take_commands(commands_.looked_up(), Takes::commands, quarters);
        take_commands(commands_.others(), Takes::commands, quarters);
    };
    for (const BatchSource& source : kBatchSources) {
        (this->*source.add)();
        if (&source == &kBatchSources.front()) take_commands_to(1);
    }
    take_commands_to(3);
    take_commands(commands_.looked_up_puts(), Takes::puts);
    take_commands(commands_.puts(), Takes::puts);
    take_commands_to(4);
    const bool time_is_wanted = segment_.attempts_wait() && !held_.empty();
    if (!batch().empty() || batches_.confirm_at_ms() <= now_ || time_is_wanted) return submit_batch(false);
    if (segment_.unfit_bytes() != 0) {
        add_cursors();
        return submit_batch(true);
    }
    batches_.discard();
}

// With an empty batch, unless its segment is full: then the batch that closes the segment saves the time.
bool Engine::save_time() {
    if (batches_.is_in_flight() || !context_.serving || segment_.is_stalled() ||
        batches_.totals().server_time_ms >= now_)
        return false;
    batches_.confirm_at(now_);
    build_batch();
    return batches_.is_in_flight();
}

// The record with which a run starts to serve.
void Engine::add_epoch() {
    Record epoch;
    epoch.kind = RecordKind::epoch;
    epoch.time_ms = now_;
    epoch.incarnation = context_.incarnation;
    batch().add(epoch, kNoEntry, 0, Error{});
    submit_batch(false);
}

void Engine::take_commands(CommandQueue::Lines& from, Takes what, std::size_t quarters) {
    const bool puts = what == Takes::puts;
    const std::size_t operations_max = options_.batch_operations_max * quarters / 4;
    const std::size_t bytes_max = options_.batch_bytes_max / 4 * quarters;
    const bool is_refused = what != Takes::cleaning && segment_.is_stalled();  // or answered without a record
    const auto is_left = [&](const Command& command) {
        if (what == Takes::cleaning) return !is_of_cleaning(command);
        return (what == Takes::others && is_of_cleaning(command)) || is_held_back(command);
    };
    std::vector<PendingCommand> deferred;
    for (std::size_t left = from.size(); left > 0; --left) {
        const Command& next = from.next().command;
        if (is_left(next)) {
            deferred.push_back(from.take(0));
            continue;
        }
        const std::size_t at_most = record_bytes_at_most(next, kRecordOverheadMax);
        const bool is_full =
            batch().count() + record_count(next) > operations_max || batch().bytes() + at_most > bytes_max;
        if (is_full && !batch().empty()) break;
        if (puts && segment_.puts_stalled()) break;
        if (!is_refused && !has_room(at_most)) {
            segment_.note_unfit(at_most);
            break;
        }
        PendingCommand pending = from.take(static_cast<std::int64_t>(at_most));
        [[maybe_unused]] const std::size_t before = batch().bytes();
        const LineKey line = pending.line;
        const std::size_t bytes = pending.bytes;
        const Verdict verdict = validate(pending);
        // Entries that it found in memory have checked for capacity themselves.
        assert(batch().bytes() <=
               before + std::max(at_most, record_bytes_at_most(pending.command, kRecordOverheadMax)));
        switch (verdict) {
            case Verdict::settled:
                commands_.release(line, bytes);
                break;
            case Verdict::deferred:
                ++counters_.deferred;
                if (is_refused) {  // the record that it waits for is not written either
                    commands_.release(line, bytes);
                    reply(pending.token, segment_.no_space_for(Adds::end));
                    break;
                }
                deferred.push_back(std::move(pending));
                break;
            case Verdict::looking_up:
                break;
        }
    }
    // They keep their order, before the commands that were not examined.
    for (auto last = deferred.rbegin(); last != deferred.rend(); ++last) {
        from.put_back(last->line, last->weight, std::move(*last));
    }
}

// A started attempt is written in the next batch; no caller waits for that.
void Engine::add_attempts() {
    if (segment_.attempts_wait()) return keep_attempts_waiting();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
        const EntryNumber number = recent_.find(attempts_[i]);
        if (number == kNoEntry) continue;
        Entry& entry = recent_.entry(number);
        if (!entry.attempt_queued) continue;
        if (entry.in_batch || !has_room(kRecordOverheadMax) || batch().count() >= options_.batch_operations_max) {
            attempts_[kept++] = attempts_[i];
            continue;
        }
        entry.attempt_queued = false;
        if (entry.begun == entry.attempts) continue;  // a record of a change contains it
        add(number, changed(entry, RecordKind::attempt, Cause::none), 0, Error{});
    }
    attempts_.resize(kept);
}

// The commit that closes a segment contains the positions from which a restart has to read: the load cursor, and for
// each queue a lower bound of its due and unfinished messages. A queue cursor that becomes lower must be written, one
// that becomes higher may be.
void Engine::add_cursors() {
    const std::uint64_t room = segment_.room_to_close();
    auto fits = [&] {
        return batch().count() < options_.cursor_records_max &&
               segment_.size_of(batch().bytes() + kRecordOverheadMax) <= room;
    };
    auto add_cursor = [&](const QueueName* name, DuePosition position) {
        Record cursor;
        cursor.kind = RecordKind::cursor;
        cursor.time_ms = now_;
        cursor.state.due_ms = cursor.state.nominal_due_ms = position.due_ms;
        if (name != nullptr) {
            cursor.state.name_space = name->name_space;
            cursor.state.queue = name->queue;
            cursor.id = position.id;
            cursor.removed = position == kNoBacklog;
        }
        batch().add(cursor, kNoEntry, 0, Error{});
    };
    std::vector<std::pair<QueueNumber, DuePosition>> rising;
    bool all_falling_fit = true;
    const std::vector<DuePosition> bounds = order_lines_.bounds(queues_.size());
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        Queue& at = queues_[number];
        DuePosition low = std::min({at.cursor, at.reading_from.value_or(kNoBacklog), bounds[number]});
        if (const FiredKey* first = queues_.first_fired(at)) low = std::min(low, first->position);
        if (low == at.durable_cursor) continue;
        if (low > at.durable_cursor) {
            rising.emplace_back(number, low);
        } else if (fits()) {
            add_cursor(&recent_.queues().name(number), low);
        } else {
            all_falling_fit = false;
        }
    }
    const DueMs load = load_cursor();
    if (all_falling_fit && load > durable_load_cursor_ms_ && fits()) add_cursor(nullptr, {load, 0});
    for (const auto& [number, low] : rising) {
        if (!fits()) break;
        add_cursor(&recent_.queues().name(number), low);
    }
    // The name of a segment is its first sequence number, so every segment must contain a record. This one may contain
    // only commits that save the time.
    if (batch().empty()) add_cursor(nullptr, {durable_load_cursor_ms_, 0});
}

void Engine::submit_batch(bool closes_segment) {
    effects_.commit = batches_.submit(now_, closes_segment);
    segment_.add_commit(effects_.commit->records.size(), closes_segment);
}

void Engine::committed() {
    batches_.committed();
    apply_durable();
}

// Applies a part of the durable batch in each iteration. Commands are answered in the iteration in which they are
// applied, so that no change is visible before its response; the rest of the batch counts as not durable yet. The next
// batch is submitted before the last responses are sent.
void Engine::apply_durable() {
    if (!batches_.is_durable()) return;
    const std::span<Operation> operations = batches_.take(options_.apply_chunk);
    for (Operation& operation : operations) apply_next(operation);
    std::unique_ptr<Batch> finished;
    if (batches_.is_taken()) finished = finish_commit();
    for (Operation& operation : operations) reply(operation.token, std::move(operation.reply));
    if (finished) batches_.recycle(std::move(finished));
}

void Engine::apply_next(Operation& operation) {
    const std::string_view body = batch().body(operation);
    if (operation.record.kind == RecordKind::conf) {
        if (operation.record.subject == kSubjectToken) return tokens_.apply(body, operation);
        if (operation.record.subject == kSubjectInput) return apply_input(body, operation);
        return operation.record.subject == kSubjectNamespace ? settings_.apply_namespace(body, operation)
                                                             : settings_.apply_queue(body, operation);
    }
    if (operation.record.kind == RecordKind::rule) {
        return operation.record.subject == kSubjectWatchdog ? apply_watchdog(body, operation)
                                                            : apply_rule(body, operation);
    }
    const State state = operation.record.state.state;
    const bool rests = state == State::retrying && operation.record.kind != RecordKind::attempt;
    if (state == State::dead || rests) {  // only the bytes of the commit contain its reason
        operation.record.reason = decode_record(operation.record.kind, body)->reason;
    }
    apply(operation);
    if (operation.record.kind != RecordKind::put && operation.record.kind != RecordKind::spawn) return;
    batches_.raise_id_counter(operation.record.id / kShardsMax);  // commands find it from now on
    if (const MessageState& put = operation.record.state; !put.key.empty()) {
        batch().keys.erase(key_name(put.name_space, put.queue, put.key));  // the recent tier contains its holder now
    }
    // Caches the record of a message that is due soon, so that its delivery need not read the disk.
    if (operation.record.state.due_ms <= window_.until_ms()) cache_.insert(operation.sequence, body);
}

// The whole batch is applied, and the next one may be built. Returns the finished batch.
std::unique_ptr<Batch> Engine::finish_commit() {
    std::unique_ptr<Batch> batch = batches_.finish();
    ++counters_.commits;
    counters_.records += batch->count();
    if (batch->closes_segment) {
        effects_.closed_segments.push_back(segment_.number());
        segment_.close(lookups_.sealed_through());
    }
    // A closing commit needs no confirmation: no command waits for it, and it confirms the previous commit.
    if (!batch->empty() && !batch->closes_segment) batches_.confirm_at(now_ + options_.confirm_after_ms);
    deliver_held();
    build_batch();
    return batch;
}

void Engine::apply(Operation& operation) {
    const Record& record = operation.record;
    switch (record.kind) {
        case RecordKind::epoch:
            context_.serving = true;
            return;
        case RecordKind::outcomes:  // known: the index contains their segment
            counters_.relocated += record.count;
            return;
        case RecordKind::relocation_done:
        case RecordKind::rule:  // see apply_next()
        case RecordKind::conf:  // see apply_next()
            return;
        case RecordKind::cursor:
            if (record.state.queue.empty()) {
                durable_load_cursor_ms_ = record.state.due_ms;
            } else {
                const QueueNumber number = recent_.queues().number(record.state.name_space, record.state.queue);
                queues_.at(number).durable_cursor =
                    record.removed ? kNoBacklog : DuePosition{record.state.due_ms, record.id};
            }
            return;
        default:
            break;
    }
    bool keeps_live = record.kind == RecordKind::attempt || record.kind == RecordKind::relocate;
    bool woken = false;
    QueueNumber in_queue = kNoQueue;
    if (operation.entry != kNoEntry) {
        Entry& entry = recent_.entry(operation.entry);
        in_queue = entry.queue;
        assert(entry.id == record.id && entry.in_batch);
        entry.in_batch = false;
        woken = entry.woken;
        entry.woken = false;
        if (!keeps_live) {
            Queue& at = queues_.at(entry.queue);
            queues_.count_in_queue(at, entry.durable_state, false);
            at.last_segment = segment_.number();
            if (entry.purging && record.kind == RecordKind::end) {
                entry.purging = false;
                --at.purging;
                ++at.purged;
            }
            if (record.cause == Cause::discarded && record.previous.ended_ms < at.discard_before_ms) ++at.discarded;
            if (record.kind == RecordKind::end) cache_.erase(entry.log_position);
            order_lines_.leave(operation.entry, Leaving::changes);
            unlist(operation.entry);
        }
    } else {
        assert(record.previous.version == 0);  // a changed message is in memory
        keeps_live = false;
    }
    if (record.kind == RecordKind::relocate && operation.entry != kNoEntry)
        views_.forecasts.note_relocated(operation.entry);
    const EntryNumber number = recent_.apply(record, operation.sequence, segment_.number(), operation.frame_bytes);
    if (in_queue == kNoQueue && number != kNoEntry) {
        in_queue = recent_.entry(number).queue;
        static_cast<void>(queues_.at(in_queue));  // it exists from now on
    }
    count(record, in_queue);
    if (record.kind == RecordKind::end) wake_schedule(schedules_.ended(record.id));
    if (number != kNoEntry) {
        if (!keeps_live) {
            const Entry& entry = recent_.entry(number);
            Queue& at = queues_.at(entry.queue);
            queues_.count_in_queue(at, entry.durable_state, true);
            at.last_segment = segment_.number();
            at.only_waited_for = false;
            join_line(number);
        }
        place_applied(number, keeps_live, woken);
    }
    if (record.state.order_key.empty()) return;
    const QueueNumber of_line = recent_.queues().number(record.state.name_space, record.state.queue);
    advance_line(OrderLines::name(of_line, record.state.order_key));
}

void Engine::count(const Record& record, QueueNumber in_queue) {
    switch (record.kind) {
        case RecordKind::put:
            ++counters_.accepted;
            queues_.count_in(in_queue, &QueueTotals::received);
            if (record.state.state == State::prepared) ++counters_.prepared;
            if (record.state.state == State::held) ++counters_.held;
            break;
        case RecordKind::spawn:
            ++(record.cause == Cause::checked ? counters_.checks : counters_.spawned);
            queues_.count_in(in_queue, &QueueTotals::received);
            break;
        case RecordKind::relocate:
            ++counters_.relocated;
            break;
        case RecordKind::change:
            if (record.cause == Cause::rescheduled) ++counters_.rescheduled;
            if (record.cause == Cause::failed) {
                ++counters_.failed;
                queues_.count_in(in_queue, &QueueTotals::failed);
            }
            if (record.cause == Cause::held) ++counters_.held;
            if (record.cause == Cause::committed || record.cause == Cause::unanswered) ++counters_.committed;
            if (record.cause == Cause::unanswered) ++counters_.unanswered;
            if (record.cause == Cause::kicked || record.cause == Cause::redriven) ++counters_.requeued;
            break;
        case RecordKind::end:
            if (record.state.state == State::done) {
                ++counters_.done;
                queues_.count_in(in_queue, &QueueTotals::acknowledged);
            }
            if (record.cause == Cause::purged) {
                ++counters_.purged;
            } else if (record.cause == Cause::discarded) {
                ++counters_.discarded;
            } else if (record.cause == Cause::rolled_back || record.cause == Cause::unanswered) {
                ++counters_.rolled_back;
                if (record.cause == Cause::unanswered) ++counters_.unanswered;
            } else if (record.state.state == State::cancelled) {
                ++counters_.cancelled;
                queues_.count_in(in_queue, &QueueTotals::cancelled);
            }
            if (record.state.state == State::dead) {
                ++counters_.dead;
                queues_.count_in(in_queue, &QueueTotals::dead_lettered);
                const QueueNumber number = recent_.queues().number(record.state.name_space, record.state.queue);
                dead_letters_.expect(number, record.time_ms);
                queues_.at(number).newest_death_ms = record.time_ms;
                if (record.cause == Cause::failed) {
                    ++counters_.failed;
                    queues_.count_in(in_queue, &QueueTotals::failed);
                }
            }
            if (record.cause == Cause::expired) {
                ++counters_.expired;
                queues_.count_in(in_queue, &QueueTotals::expired);
            }
            if (record.cause == Cause::kept_long_enough) ++counters_.let_go;
            break;
        default:
            break;
    }
}

// Puts an entry whose record was just applied where it belongs. `woken`: its timer fired meanwhile.
void Engine::place_applied(EntryNumber number, bool keeps_live, bool woken) {
    const Entry& entry = recent_.entry(number);
    if (entry.spawning && woken) return requeue_spawn(number);
    if (entry.unanswered && woken) return recheck_prepared(number);
    const bool is_live = entry.state == State::ready || entry.state == State::leased;
    if (!keeps_live || !is_live) return settle(number);
    if (woken) return wake(number);
    if (entry.state == State::ready) {  // its key may have been skipped while the message was in the batch
        queues_.at(entry.queue).ready.push({entry.priority, {entry.due_ms, entry.id}, number});
        queues_.mark(entry.queue);
    }
}

}  // namespace duewheel
