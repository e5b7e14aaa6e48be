#include "engine/messages/message_commands.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"

namespace duewheel {
namespace {

ChangeAnswer ended_answer(const MessageRow& row) {
    ChangeAnswer answer;
    answer.attempts = row.state.attempts;
    answer.maybe_delivered = row.state.maybe_delivered;
    switch (row.state.state) {
        case State::done:
            answer.outcome = ChangeOutcome::delivered;
            break;
        case State::cancelled:
            answer.outcome = ChangeOutcome::cancelled;
            break;
        case State::expired:
            answer.outcome = ChangeOutcome::expired;
            break;
        default:
            answer.outcome = ChangeOutcome::gone;
            break;
    }
    return answer;
}

ChangeAnswer purged_answer(ChangeAnswer answer) {
    answer.outcome = ChangeOutcome::cancelled;
    answer.due_ms = 0;
    return answer;
}

Error not_waiting(State state) {
    if (state == State::prepared) {
        return {"not_waiting"_code,
                "the message is prepared, so it can only be committed, rolled back or cancelled: commit it first"};
    }
    return {"not_waiting"_code, "the message is " + std::string(state_name(state)) +
                                    ", so it has no due time to change: return it to its queue with kick first"};
}

Error is_recurring_message() {
    return {"repeats"_code,
            "the times of a recurring message follow from its rule: cancel it and put one with another rule, or use "
            "the id of a single occurrence"};
}

}  // namespace

// Finds the message, which has not ended or is a dead letter. Otherwise answers or defers the command, or looks the
// message up, and returns which.
std::optional<Verdict> MessageCommands::find_unfinished(PendingCommand& pending, MessageId id,
                                                        const std::string& name_space, Known& known) {
    known = finder_.find(pending, id, &name_space);
    if (const auto verdict = finder_.answer_unless_here(known, pending, id)) return verdict;
    if (known.what == Known::What::ended) return replied(pending, ended_answer(known.ended));
    return std::nullopt;
}

// The reply if the command comes too late for the entry; nothing if its state can still change.
std::optional<ChangeAnswer> MessageCommands::too_late(const Entry& entry) const {
    if (entry.state() != State::leased && entry.state() != State::dead) return std::nullopt;
    ChangeAnswer answer;
    answer.outcome = entry.state() == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::dead;
    answer.attempts = entry.begun;
    answer.maybe_delivered = entry.maybe_delivered || entry.from_past;
    return answer;
}

Verdict MessageCommands::decide(PendingCommand& pending, CancelCommand& command) {
    if (const auto verdict = finder_.name_by_key(pending, command.name_space, command.by_key, command.id))
        return *verdict;
    Known known;
    if (const auto verdict = find_unfinished(pending, command.id, command.name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (command.running && entry.state() == State::leased) return request_cancel(pending, known.entry);
    if (const auto late = too_late(entry)) {
        return finder_.replied_unchanged(known, pending, *late);
    }
    if (refuse_for_space(pending, Adds::end)) return finder_.withdraw(known), Verdict::settled;
    assert(is_legal_move(entry.state(), State::cancelled));
    MessageRecord record = changed(entry, RecordKind::end, Cause::cancelled);
    record.state.state = State::cancelled;
    const ChangeAnswer answer{ChangeOutcome::cancelled, record.state.attempts, record.state.maybe_delivered, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

// The record of its attempt holds the request, so that the message ends with this lease even after a restart.
Verdict MessageCommands::request_cancel(PendingCommand& pending, EntryNumber number) {
    const Entry& entry = recent_.entry(number);
    const ChangeAnswer answer{ChangeOutcome::cancelling, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (recent_.work(entry).cancel_requested) return replied(pending, answer);
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    MessageRecord record = lifecycle_.own_records().attempts.record_of(entry);
    record.state.work.edit([](WorkState& work) { work.cancel_requested = true; });
    add(number, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const HoldCommand& command) {
    Known known;
    if (const auto verdict = find_unfinished(pending, command.id, command.name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (const auto late = too_late(entry)) {
        return finder_.replied_unchanged(known, pending, *late);
    }
    const ChangeAnswer answer{ChangeOutcome::held, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (lifecycle_.is_purged(entry)) return finder_.purge(known, pending, purged_answer(answer));
    if (entry.state() == State::held) {  // already held: there is nothing to write
        return finder_.replied_unchanged(known, pending, answer);
    }
    if (!is_legal_move(entry.state(), State::held)) {
        return finder_.replied_unchanged(known, pending, not_waiting(entry.state()));
    }
    if (refuse_for_space(pending, Adds::change)) return finder_.withdraw(known), Verdict::settled;
    MessageRecord record = changed(entry, RecordKind::change, Cause::held);
    record.state.state = State::held;
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const KickCommand& command) {
    Known known;
    if (const auto verdict = find_unfinished(pending, command.id, command.name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{ChangeOutcome::kicked, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (lifecycle_.is_purged(entry) && entry.state() != State::leased)
        return finder_.purge(known, pending, purged_answer(answer));
    if (dead_writer_.is_discarded(entry)) {
        if (refuse_for_space(pending, Adds::end)) return finder_.withdraw(known), Verdict::settled;
        add(known.entry, dead_writer_.expire_dead(entry, Cause::discarded), pending.token, purged_answer(answer));
        return Verdict::settled;
    }
    if (entry.state() != State::held && entry.state() != State::dead) {
        answer.outcome = entry.state() == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::waiting;
        return finder_.replied_unchanged(known, pending, answer);
    }
    if (refuse_for_space(pending, Adds::change)) return finder_.withdraw(known), Verdict::settled;
    if (entry.state() == State::dead) {  // a held one is still pending
        const QueueName& at = recent_.queues().name(entry.queue);
        if (Status room = queues_.take_room(entry.queue, at.name_space, at.queue); !room) {
            return finder_.replied_unchanged(known, pending, std::move(room).error());
        }
    }
    MessageRecord record =
        dead_writer_.redrive_record(entry, entry.state() == State::dead ? Cause::redriven : Cause::kicked);
    answer.due_ms = record.state.due_ms;
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const DiscardCommand& command) {
    Known known;
    if (const auto verdict = find_unfinished(pending, command.id, command.name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{ChangeOutcome::cancelled, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (entry.state() == State::dead) {
        if (refuse_for_space(pending, Adds::end)) return finder_.withdraw(known), Verdict::settled;
        add(known.entry, dead_writer_.expire_dead(entry, Cause::discarded), pending.token, answer);
        return Verdict::settled;
    }
    if (lifecycle_.is_purged(entry) && entry.state() != State::leased) return finder_.purge(known, pending, answer);
    answer.outcome = entry.state() == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::waiting;
    return finder_.replied_unchanged(known, pending, answer);
}

// ---- moves

Verdict MessageCommands::decide(PendingCommand& pending, RescheduleCommand& command) {
    if (const auto verdict = finder_.name_by_key(pending, command.name_space, command.by_key, command.id))
        return *verdict;
    const Result<DueMs> due = resolve(command.when);
    if (!due) return replied(pending, due.error());
    const char* field = command.when.at_ms ? "due" : "delay";
    return move(pending, command.id, command.name_space, *due, Cause::rescheduled, field);
}

Verdict MessageCommands::decide(PendingCommand& pending, const FireCommand& command) {
    return move(pending, command.id, command.name_space, now_, Cause::fired_now, "");
}

Verdict MessageCommands::move(PendingCommand& pending, MessageId id, const std::string& name_space, DueMs due,
                              Cause cause, const char* field) {
    Known known;
    if (const auto verdict = find_unfinished(pending, id, name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{cause == Cause::fired_now ? ChangeOutcome::fired : ChangeOutcome::rescheduled, entry.begun,
                        entry.maybe_delivered || entry.from_past, due};
    if (const auto late = too_late(entry)) {
        return finder_.replied_unchanged(known, pending, *late);
    }
    if (lifecycle_.is_purged(entry)) return finder_.purge(known, pending, purged_answer(answer));
    if (recent_.is_recurring(entry)) {
        return finder_.replied_unchanged(known, pending, is_recurring_message());
    }
    if (entry.state() == State::held || entry.state() == State::prepared) {
        return finder_.replied_unchanged(known, pending, not_waiting(entry.state()));
    }
    if (cause == Cause::fired_now && entry.due_ms <= now_) {  // already due: there is nothing to write
        answer.due_ms = entry.due_ms;
        return finder_.replied_unchanged(known, pending, answer);
    }
    if (due >= lifecycle_.expiry(known.entry)) {
        return finder_.replied_unchanged(known, pending, expires_too_soon(field));
    }
    if (refuse_for_space(pending, Adds::change)) return finder_.withdraw(known), Verdict::settled;
    assert(is_legal_move(entry.state(), State::scheduled));
    MessageRecord record = changed(entry, RecordKind::change, cause);
    record.state.state = State::scheduled;
    if (!record.state.key.empty() && record.state.first_due_ms == 0) {
        record.state.first_due_ms = record.state.nominal_due_ms;
    }
    // A message that is fired during its backoff keeps its nominal time, and with it its position among its order key.
    record.state.nominal_due_ms = cause == Cause::fired_now ? std::min(entry.nominal_due_ms, due) : due;
    record.state.due_ms = due;
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

// ---- patches

Verdict MessageCommands::decide(PendingCommand& pending, PatchMessageCommand& command) {
    if (const auto verdict = finder_.name_by_key(pending, command.name_space, command.by_key, command.id))
        return *verdict;
    std::optional<DueMs> due;
    if (command.when) {
        const Result<DueMs> at = resolve(*command.when);
        if (!at) return replied(pending, at.error());
        due = *at;
    }
    Known known;
    if (const auto verdict = find_unfinished(pending, command.id, command.name_space, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{ChangeOutcome::changed, entry.begun, entry.maybe_delivered || entry.from_past, entry.due_ms};
    if (const auto late = too_late(entry)) return finder_.replied_unchanged(known, pending, *late);
    if (lifecycle_.is_purged(entry)) return finder_.purge(known, pending, purged_answer(answer));
    if (recent_.is_recurring(entry)) return finder_.replied_unchanged(known, pending, is_recurring_message());
    const State state = entry.state();
    if (state == State::prepared || (state == State::held && due)) {
        return finder_.replied_unchanged(known, pending, not_waiting(state));
    }
    if (command.content && segment_.refuses_puts()) {
        return finder_.replied_unchanged(known, pending, store_full());
    }
    if (command.content && command.log_position != entry.log_position) {
        command.log_position = entry.log_position;
        finder_.withdraw(known);
        lookups_.start(ReadRecords{{command.log_position}}, WholeRuleLookup{std::move(pending)});
        return Verdict::looking_up;
    }
    if (refuse_for_space(pending, Adds::change)) return finder_.withdraw(known), Verdict::settled;
    Result<MessageRecord> record = patched(command, known, due);
    if (!record) return finder_.replied_unchanged(known, pending, std::move(record).error());
    Result<MessageRecord> whole{MessageRecord()};
    Result<Content> content{Content()};
    if (command.content) {
        whole = decode_message(RecordKind::relocate, command.record_body);
        if (!whole) return finder_.replied_unchanged(known, pending, std::move(whole).error());
        content = command.content(whole->content);
        if (!content) return finder_.replied_unchanged(known, pending, std::move(content).error());
        record->content = whole->content;
        copy_content(*content, record->content);
    }
    if (due) record->state.due_ms = record->state.nominal_due_ms = answer.due_ms = *due;
    add(known.entry, *std::move(record), pending.token, answer);
    return Verdict::settled;
}

// The record of the patch, without its content. Codes: expires_too_soon, out_of_range, delay_too_long.
Result<MessageRecord> MessageCommands::patched(const PatchMessageCommand& command, const Known& known,
                                               std::optional<DueMs> due) const {
    const Entry& entry = recent_.entry(known.entry);
    MessageRecord record = changed(entry, command.content ? RecordKind::replace : RecordKind::change,
                                   due ? Cause::rescheduled : Cause::none);
    MessageState& state = record.state;
    const DueMs expired_before = state.expires_ms;
    std::string field = command.when && command.when->at_ms ? "due" : "delay";
    if (command.expires) {
        state.expires_ms = 0;
        if (const std::optional<When>& expires = *command.expires) {
            const Result<DueMs> at = resolve(*expires, "expires_in", "expires");
            if (!at) return at.error();
            state.expires_ms = *at;
            field = expires->at_ms ? "expires" : "expires_in";
        }
    }
    const bool is_checked = due || command.expires;
    if (is_checked && state.expires_ms != 0 && state.expires_ms <= std::max(due.value_or(state.due_ms), now_)) {
        return expires_too_soon(field);
    }
    if (state.expires_ms != expired_before)
        record.previous.rows.set({true, expired_before, state.order_key, state.group});
    if (command.priority) state.priority = *command.priority;
    if (command.retry) {
        state.retry.reset();
        if (!command.retry->is_empty()) {
            const Result<RetryRule> chosen = chosen_rule(*command.retry, queues_.retry_rule(entry.queue));
            if (!chosen) return chosen.error();
            state.retry = *chosen;
        }
    }
    if (due) {
        state.state = State::scheduled;
        if (!state.key.empty() && state.first_due_ms == 0) state.first_due_ms = state.nominal_due_ms;
    } else if (state.state == State::retrying) {
        record.reason = recent_.reason(entry);
    }
    return record;
}

// ---- leases

// A record that ends the lease; it contains which one, so that the response can be repeated.
MessageRecord MessageCommands::changed_by(const LeaseToken& lease, const Entry& entry, RecordKind kind,
                                          Cause cause) const {
    MessageRecord record = changed(entry, kind, cause);
    record.lease_attempt = lease.attempt;
    record.lease_incarnation = lease.incarnation;
    return record;
}

// Ends the message if it may not return, because its queue is purged, its cancel was requested, or it has expired.
std::optional<Verdict> MessageCommands::end_with_lease(PendingCommand& pending, const LeaseToken& lease,
                                                       EntryNumber number) {
    const bool is_to_purge = lifecycle_.is_purged(recent_.entry(number));
    const bool is_to_cancel = recent_.work(recent_.entry(number)).cancel_requested;
    if (!is_to_purge && !is_to_cancel && lifecycle_.expiry(number) > now_) return std::nullopt;
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    if (is_to_purge) {
        lifecycle_.purge(number, pending.token, LeaseEndAnswer{LeaseOutcome::purged, 0, 0});
        return Verdict::settled;
    }
    if (is_to_cancel) {
        MessageRecord record = changed_by(lease, recent_.entry(number), RecordKind::end, Cause::cancelled);
        record.state.state = State::cancelled;
        add(number, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::cancelled, 0, 0});
        return Verdict::settled;
    }
    MessageRecord record = changed(recent_.entry(number), RecordKind::end, Cause::expired);
    record.state.state = State::expired;
    record.lateness_ms = now_ - record.state.expires_ms;
    add(number, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::expired, 0, 0});
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const AckCommand& command) {
    Known known;
    if (const auto verdict = finder_.find_leased(pending, command.lease, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    assert(is_legal_move(entry.state(), State::done));
    MessageRecord record = changed_by(command.lease, entry, RecordKind::end, Cause::acknowledged);
    record.state.state = State::done;
    if (record.state.work.is_set() || !command.result.empty()) {
        record.state.work.edit([&](WorkState& work) {
            work.progress.clear();
            work.checkpoint.clear();
            work.result = command.result;
        });
    }
    const Lease& lease = lifecycle_.leases().at(entry.id);
    record.lateness_ms = lease.lateness_ms;
    record.wait_ms = lease.wait_ms;
    add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::done, 0, 0});
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const FailCommand& command) {
    if (command.retry_in_ms) {
        if (const Result<DueMs> due = resolve({std::nullopt, *command.retry_in_ms}, "retry_in"); !due) {
            return replied(pending, due.error());
        }
    }
    Known known;
    if (const auto verdict = finder_.find_leased(pending, command.lease, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (const auto verdict = end_with_lease(pending, command.lease, known.entry)) return *verdict;
    if (command.dead || lifecycle_.is_used_up(entry)) {
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        assert(is_legal_move(entry.state(), State::dead));
        MessageRecord record = changed_by(command.lease, entry, RecordKind::end, Cause::failed);
        record.state.state = State::dead;
        record.reason = command.reason.empty() ? kNoReason : std::string_view(command.reason);
        add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::dead, 0, 0});
        return Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    assert(is_legal_move(entry.state(), State::retrying));
    const std::int64_t by_rule_ms = backoff_after_failure_ms(
        lifecycle_.retry_rule(entry), std::max(lifecycle_.attempts_counted(entry), 1u), entry.id);
    const std::int64_t rest_ms = command.retry_in_ms.value_or(std::max(by_rule_ms, command.backoff_min_ms));
    MessageRecord record = changed_by(command.lease, entry, RecordKind::change, Cause::failed);
    record.state.state = State::retrying;
    record.state.due_ms = due_after(rest_ms);
    record.reason = command.reason;
    const LeaseEndAnswer answer{LeaseOutcome::retrying, record.state.due_ms, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const ReleaseCommand& command) {
    const Result<DueMs> due = resolve({std::nullopt, command.delay_ms});
    if (!due) return replied(pending, due.error());
    Known known;
    if (const auto verdict = finder_.find_leased(pending, command.lease, known)) return *verdict;
    if (const auto verdict = end_with_lease(pending, command.lease, known.entry)) return *verdict;
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    MessageRecord record = changed_by(command.lease, recent_.entry(known.entry), RecordKind::change, Cause::released);
    record.state.state = State::scheduled;
    if (command.delay_ms > 0) record.state.due_ms = *due;  // otherwise its due time stays
    if (command.priority) record.state.priority = *command.priority;
    record.state.attempts_forgiven += 1;
    const LeaseEndAnswer answer{LeaseOutcome::released, record.state.due_ms, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const HoldLeaseCommand& command) {
    Known known;
    if (const auto verdict = finder_.find_leased(pending, command.lease, known)) return *verdict;
    if (const auto verdict = end_with_lease(pending, command.lease, known.entry)) return *verdict;
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    const Entry& entry = recent_.entry(known.entry);
    assert(is_legal_move(entry.state(), State::held));
    MessageRecord record = changed_by(command.lease, entry, RecordKind::change, Cause::held);
    record.state.state = State::held;
    if (command.priority) record.state.priority = *command.priority;
    add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::held, 0, 0});
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const ExtendCommand& command) {
    if (command.lease_ms) {
        if (Status legal = check_lease_time(*command.lease_ms); !legal) {
            return replied(pending, std::move(legal).error());
        }
    }
    Known known;
    if (const auto verdict = finder_.find_leased(pending, command.lease, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    const bool says_something = command.progress || command.checkpoint;
    if (says_something && refuse_for_space(pending, Adds::change)) return Verdict::settled;
    const std::int64_t by_queue = queues_.lease_time(queues_.at(entry.queue));
    lifecycle_.extend_lease(known.entry, now_ + command.lease_ms.value_or(by_queue));
    const DueMs until_ms = lifecycle_.leases().at(command.lease.id).until_ms;
    const LeaseEndAnswer answer{LeaseOutcome::extended, 0, until_ms, recent_.work(entry).cancel_requested};
    if (!says_something) return replied(pending, answer);
    MessageRecord record = lifecycle_.own_records().attempts.record_of(entry);
    record.state.work.edit([&](WorkState& work) {
        const auto say = [](const std::optional<std::string>& said, std::string& into) {
            if (said) into = *said == "null" ? std::string() : *said;
        };
        say(command.progress, work.progress);
        say(command.checkpoint, work.checkpoint);
    });
    lifecycle_.leases().at(entry.id).is_extended = false;  // the record says so
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

// ---- compaction

Verdict MessageCommands::decide(PendingCommand& pending, const RelocateCommand& command) {
    const MessageId id = command.row.id;
    const Known known = finder_.find(pending, id, nullptr);
    if (known.what == Known::What::busy || known.what == Known::What::needs_lookup) {
        return *finder_.answer_unless_here(known, pending, id);
    }
    if (known.what != Known::What::entry) return replied(pending, RelocateAnswer{});
    const Entry& entry = recent_.entry(known.entry);
    if (entry.log_position != command.row.log_position) {
        return finder_.replied_unchanged(known, pending, RelocateAnswer{});
    }
    Result<MessageRecord> whole = decode_message(command.record_kind, command.record_body);
    if (!whole) return finder_.replied_unchanged(known, pending, std::move(whole).error());
    MessageRecord record;
    record.kind = RecordKind::relocate;
    record.id = entry.id;
    record.log_position = entry.log_position;
    record.record_bytes = entry.record_bytes;
    record.time_ms = now_;
    const MessageRow row = recent_.row(entry);
    record.state = row.state;
    copy_end(row, record);
    record.reason = row.reason;
    record.content = whole->content;
    add(known.entry, std::move(record), pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const RelocateOutcomesCommand& command) {
    const OutcomesRecord record{.time_ms = now_,
                                .rows = command.rows,
                                .count = command.count,
                                .segment = command.segment,
                                .up_to = command.up_to};
    add(kNoEntry, record, pending.token, RelocateAnswer{false, batch().next_sequence()});
    return Verdict::settled;
}

Verdict MessageCommands::decide(PendingCommand& pending, const RelocationDoneCommand& command) {
    const RelocationDoneRecord record{.time_ms = now_,
                                      .up_to = command.up_to,
                                      .live_count = batch().totals().live_count,
                                      .digest = batch().totals().digest};
    add(kNoEntry, record, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

}  // namespace duewheel
