// Batches from construction to application: which commands are included, when a segment is closed, and the effects of
// durable records.
#include <algorithm>
#include <cassert>
#include <span>
#include <tuple>
#include <variant>

#include "engine/commands/command_traits.h"
#include "engine/core/engine.h"
#include "engine/core/part_by_type.h"

namespace duewheel {

bool Engine::has_own_work() const {
    return std::apply([](const BatchSource auto&... source) { return (source.has_work() || ...); }, sources_of(*this));
}

bool Engine::is_own_work_done() const {
    return std::apply([](const auto&... source) { return (source.is_idle() && ...); }, sources_of(*this));
}

// The most that the first of any kind adds to a batch; 0: there is none.
std::size_t Engine::next_own_bytes() const {
    return std::apply([](const auto&... source) { return std::max({source.next_bytes()...}); }, sources_of(*this));
}

bool Engine::needs_own_batch() const {
    return (segment_.is_close_wanted() || has_own_work()) && !segment_.is_stalled();
}

bool Engine::may_build_batch() const {
    return !batches_.is_in_flight() && (!is_batch_delayed_ || needs_own_batch());
}

bool Engine::must_close_segment() const {
    if (segment_.is_empty()) return false;
    if (segment_.is_close_wanted()) return true;
    std::size_t next = std::max(segment_.unfit_bytes(), next_own_bytes());
    if (!run_.serving || batches_.confirm_at_ms() <= now_) next = std::max(next, kRecordOverheadMax);
    return next != 0 && !segment_.fits(next);
}

// A constant load of commands, such as the feeds of thousands of watchdogs, leaves three quarters of a batch to
// internal work, and internal work leaves a quarter to puts. The others use what is left of a share.
void Engine::build_batch() {
    if (!run_.started || !may_build_batch()) return;
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
        loader_.add_cursors();
        return submit_batch(true);
    }
    if (!run_.serving) return add_epoch();
    const auto take_commands_to = [this](std::size_t quarters) {
        take_commands(commands_.looked_up(), Takes::commands, quarters);
        take_commands(commands_.others(), Takes::commands, quarters);
    };
    std::apply(
        [&](auto& before_commands, auto&... sources) {
            before_commands.add_to_batch();
            take_commands_to(1);
            (sources.add_to_batch(), ...);
        },
        sources_of(*this));
    take_commands_to(3);
    take_commands(commands_.looked_up_puts(), Takes::puts);
    take_commands(commands_.puts(), Takes::puts);
    take_commands_to(4);
    const bool saves_time = batches_.confirm_at_ms() <= now_ || dispatcher_.has_held();
    if (!batch().empty() || saves_time) return submit_batch(false);
    if (segment_.unfit_bytes() != 0) {
        loader_.add_cursors();
        return submit_batch(true);
    }
    batches_.discard();
}

// With an empty batch, unless its segment is full: then the batch that closes the segment saves the time.
bool Engine::save_time() {
    if (batches_.is_in_flight() || !run_.serving || segment_.is_stalled() || batches_.totals().server_time_ms >= now_)
        return false;
    batches_.confirm_at(now_);
    is_batch_delayed_ = false;
    build_batch();
    return batches_.is_in_flight();
}

// The record with which a run starts to serve.
void Engine::add_epoch() {
    batch().add(EpochRecord{.time_ms = now_, .incarnation = run_.incarnation}, kNoEntry, 0, Error{});
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
    std::vector<PendingPtr> deferred;
    for (std::size_t left = from.size(); left > 0; --left) {
        const Command& next = from.next()->command;
        if (is_left(next)) {
            deferred.push_back(from.take(0));
            continue;
        }
        const std::size_t at_most = record_bytes_max(next);
        const bool is_full =
            batch().count() + record_count(next) > operations_max || batch().bytes() + at_most > bytes_max;
        if (is_full && !batch().empty()) break;
        if (puts && segment_.puts_stalled()) break;
        if (!is_refused && !has_room(at_most)) {
            segment_.note_unfit(at_most);
            break;
        }
        PendingPtr taken = from.take(static_cast<std::int64_t>(at_most));
        PendingCommand& pending = *taken;
        [[maybe_unused]] const std::size_t before = batch().bytes();
        const LineKey line = pending.line;
        const std::size_t bytes = pending.bytes;
        const Verdict verdict = validate(pending);
        // Entries that it found in memory have checked for capacity themselves.
        assert(batch().bytes() <= before + std::max(at_most, record_bytes_max(pending.command)) + kWorkBytesMax);
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
                deferred.push_back(std::move(taken));
                break;
            case Verdict::looking_up:
                break;
        }
    }
    // They keep their order, before the commands that were not examined.
    for (auto last = deferred.rbegin(); last != deferred.rend(); ++last) {
        const LineKey line = (*last)->line;
        const std::uint32_t weight = (*last)->weight;
        from.put_back(line, weight, std::move(*last));
    }
}

Verdict Engine::validate(PendingCommand& pending) {
    return std::visit(
        [&]<class Command>(Command& command) {
            return std::apply(
                [&]<class... Parts>(Parts&... parts) {
                    constexpr int kFunctions = kDeciders<Command, Parts...> + kReaders<Command, Parts...>;
                    static_assert(kFunctions == 1 || HasSubject<Command>,
                                  "no part, or more than one, decides this command or reads this query");
                    return decide_in(pending, command, parts...);
                },
                parts());
        },
        pending.command);
}

void Engine::submit_batch(bool closes_segment) {
    effects_.commit = batches_.submit(now_, closes_segment);
    segment_.add_commit(effects_.commit->records.size(), closes_segment);
}

void Engine::committed(Commit commit) {
    batches_.committed(std::move(commit));
    apply_durable();
}

// Applies a part of the durable batch in each iteration; the rest of the batch counts as not durable yet. Commands are
// answered as soon as they are applied, so that no change is visible before its response, not even to a command that
// the next batch executes.
void Engine::apply_durable() {
    if (!batches_.is_durable()) return;
    const std::span<Operation> operations = batches_.take(options_.apply_chunk);
    for (Operation& operation : operations) apply_next(operation);
    for (Operation& operation : operations) reply(operation.token, std::move(operation.reply));
    reader_.answer_ended();
    if (batches_.is_taken()) finish_commit();
}

void Engine::apply_next(Operation& operation) {
    std::visit(
        [&](auto& record) {
            if constexpr (requires { apply(operation, record); }) {
                apply(operation, record);
            } else {
                apply(record);
            }
        },
        operation.record);
}

void Engine::apply(Operation& operation, const ConfRecord& record) {
    std::apply([&](auto&... parts) { apply_to_owner(operation, record, parts...); }, parts());
}
void Engine::apply(Operation& operation, const RuleRecord& record) {
    std::apply([&](auto&... parts) { apply_to_owner(operation, record, parts...); }, parts());
}

void Engine::apply(Operation& operation, MessageRecord& record) {
    record.reason = operation.reason;
    views_.forecasts.note(operation.entry, record);
    count(record, lifecycle_.apply(operation, record));
    if (record.kind == RecordKind::end) {
        schedules_.end_of(record.id);
        reader_.note_end(record.id);
    }
    if (record.kind == RecordKind::change) message_leases_.lease_promised(record.id);
    if (is_new(record.kind) || record.kind == RecordKind::replace) apply_content(operation, record);
}

void Engine::apply_content(const Operation& operation, const MessageRecord& record) {
    batches_.raise_id_counter(record.id / kShardsMax);  // commands find it from now on
    if (const MessageState& put = record.state; !put.key.empty()) {
        batch().keys.erase(key_name(put.name_space, put.queue, put.key));  // the recent tier contains its holder now
    }
    // Caches the record of a message that is due soon, so that its delivery need not read the disk.
    if (record.state.due_ms <= lifecycle_.window().until_ms()) {
        cache_.insert(operation.sequence, batch().body(operation));
    }
}

// The whole batch is applied, and the next one may be built.
void Engine::finish_commit() {
    ++counters_.commits;
    counters_.records += batch().count();
    const bool is_empty = batch().empty();
    const bool closes_segment = batch().closes_segment;
    batches_.finish();
    if (closes_segment) {
        effects_.closed_segments.push_back(segment_.number());
        segment_.close(lookups_.sealed_through());
    }
    // A closing commit needs no confirmation: no command waits for it, and it confirms the previous commit.
    if (!is_empty && !closes_segment) batches_.confirm_at(now_ + options_.confirm_after_ms);
    dispatcher_.deliver_held();
    build_batch();
}

void Engine::count(const MessageRecord& record, QueueNumber in_queue) {
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
            if (record.cause == Cause::failed) queues_.count_in(in_queue, &QueueTotals::failed);
            if (record.cause == Cause::held) ++counters_.held;
            if (record.cause == Cause::committed || record.cause == Cause::unanswered) ++counters_.committed;
            if (record.cause == Cause::unanswered) ++counters_.unanswered;
            if (record.cause == Cause::kicked || record.cause == Cause::redriven) ++counters_.requeued;
            break;
        case RecordKind::end:
            if (record.state.state == State::done) queues_.count_in(in_queue, &QueueTotals::acknowledged);
            if (record.cause == Cause::purged) {
                ++counters_.purged;
            } else if (record.cause == Cause::discarded) {
                ++counters_.discarded;
            } else if (record.cause == Cause::rolled_back || record.cause == Cause::unanswered) {
                ++counters_.rolled_back;
                if (record.cause == Cause::unanswered) ++counters_.unanswered;
            } else if (record.state.state == State::cancelled) {
                queues_.count_in(in_queue, &QueueTotals::cancelled);
            }
            if (record.state.state == State::dead) {
                queues_.count_in(in_queue, &QueueTotals::dead_lettered);
                const QueueNumber number = recent_.queues().number(record.state.name_space, record.state.queue);
                dead_letters_.expect(number, record.time_ms);
                queues_.at(number).newest_death_ms = record.time_ms;
                if (record.cause == Cause::failed) queues_.count_in(in_queue, &QueueTotals::failed);
            }
            if (record.cause == Cause::expired) queues_.count_in(in_queue, &QueueTotals::expired);
            if (record.cause == Cause::kept_long_enough) ++counters_.let_go;
            break;
        default:
            break;
    }
}

}  // namespace duewheel
