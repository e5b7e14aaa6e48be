// Attempts, and what happens to a message when they are used up; hold and kick.
//
// An attempt is a delivery that has started. It counts against the message's rule unless the message was released, or
// the attempt came before a kick or a redrive. When the last one that the rule allows has failed, the record of the
// failure makes the message dead. If its lease was lost, with the consumer or with the process, there is no such
// record: the engine notices it when the message would be ready again, and marks it as exhausted. An exhausted message
// is not delivered; its end is part of the next batch, like an internal command, and a command that comes before it can
// still change the outcome. So a message that kills its consumers ends among the dead letters, where an operator will
// find it.
#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/engine.h"

namespace duewheel {
namespace {

constexpr std::string_view kLeaseLost = "lease lost";
constexpr std::string_view kNoReason = "failed without a reason";

}  // namespace

const RetryRule& Engine::retry_rule(const Entry& entry) const {
    const RetryRule* own = recent_.retry_rule(entry);
    return own != nullptr ? *own : queues_.retry_rule(entry.queue);
}

std::uint32_t Engine::attempts_counted(const Entry& entry) const {
    const std::uint32_t forgiven = recent_.attempts_forgiven(entry);
    return entry.begun > forgiven ? entry.begun - forgiven : 0;
}

bool Engine::is_used_up(const Entry& entry) const {
    return entry.begun > 0 && attempts_counted(entry) >= retry_rule(entry).attempts;
}

// ---- how a lease ends without an ack

// Ends the message if it may not return, because its queue is purged or it has expired.
std::optional<Verdict> Engine::end_with_lease(PendingCommand& pending, EntryNumber number) {
    const bool is_to_purge = is_purged(recent_.entry(number));
    if (!is_to_purge && expiry(number) > now_) return std::nullopt;
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    if (is_to_purge) return purge(number, pending, LeaseEndAnswer{LeaseOutcome::purged, 0, 0});
    return expire(number, pending);
}

Verdict Engine::fail(PendingCommand& pending, const FailCommand& command) {
    if (command.retry_in_ms) {
        if (const Result<DueMs> due = resolve({std::nullopt, *command.retry_in_ms}, "retry_in"); !due) {
            return replied(pending, due.error());
        }
    }
    Known known;
    if (const auto verdict = find_leased(pending, command.lease, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (const auto verdict = end_with_lease(pending, known.entry)) return *verdict;
    if (is_used_up(entry)) {
        if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
        assert(is_legal_move(entry.state, State::dead));
        Record record =
            dead_letter_record(entry, command.reason.empty() ? kNoReason : std::string_view(command.reason));
        record.cause = Cause::failed;
        record.lease_attempt = command.lease.attempt;
        record.lease_incarnation = command.lease.incarnation;
        add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::dead, 0, 0});
        return Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    assert(is_legal_move(entry.state, State::retrying));
    const std::int64_t by_rule_ms =
        backoff_after_failure_ms(retry_rule(entry), std::max(attempts_counted(entry), 1u), entry.id);
    const std::int64_t rest_ms = command.retry_in_ms.value_or(std::max(by_rule_ms, command.backoff_min_ms));
    Record record = changed(entry, RecordKind::change, Cause::failed);
    record.state.state = State::retrying;
    record.state.due_ms = now_ + std::max<std::int64_t>(rest_ms, 0);
    record.lease_attempt = command.lease.attempt;
    record.lease_incarnation = command.lease.incarnation;
    record.reason = command.reason;
    const LeaseEndAnswer answer{LeaseOutcome::retrying, record.state.due_ms, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict Engine::release(PendingCommand& pending, const ReleaseCommand& command) {
    const Result<DueMs> due = resolve({std::nullopt, command.delay_ms});
    if (!due) return replied(pending, due.error());
    Known known;
    if (const auto verdict = find_leased(pending, command.lease, known)) return *verdict;
    if (const auto verdict = end_with_lease(pending, known.entry)) return *verdict;
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    Record record = changed(recent_.entry(known.entry), RecordKind::change, Cause::released);
    record.state.state = State::scheduled;
    if (command.delay_ms > 0) record.state.due_ms = *due;  // otherwise its due time stays
    record.state.attempts_forgiven += 1;
    record.lease_attempt = command.lease.attempt;
    record.lease_incarnation = command.lease.incarnation;
    const LeaseEndAnswer answer{LeaseOutcome::released, record.state.due_ms, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Record Engine::dead_letter_record(const Entry& entry, std::string_view reason) const {
    Record record = changed(entry, RecordKind::end, Cause::attempts_used_up);
    record.state.state = State::dead;
    record.reason = reason;
    return record;
}

void Engine::mark_exhausted(EntryNumber number) {
    Entry& entry = recent_.entry(number);
    if (entry.exhausted) return;
    static_cast<void>(wheel_.cancel(TimerHandle{entry.timer}));
    // Its line delivers no other message before the end of this one is on disk.
    order_lines_.take_back(number);
    entry.exhausted = true;
    exhausted_.push_back(entry.id);
    // A restart before its end is durable must find it again: it bounds its queue's cursor like a ready message.
    if (!entry.in_fired) queues_.at(entry.queue).fired.push({{entry.due_ms, entry.id}, number});
    entry.in_fired = true;
}

// A message may be exhausted although its last attempt ended with a failure: its rule may allow fewer attempts now.
std::string_view Engine::exhaustion_reason(const Entry& entry) const {
    if (entry.lease_lost || entry.durable_state != State::retrying) return kLeaseLost;
    const std::string_view reason = recent_.reason(entry);
    if (!reason.empty()) return reason;
    return entry.from_past ? kLeaseLost : kNoReason;
}

std::size_t Engine::next_exhausted_bytes() const {
    if (exhausted_.empty()) return 0;
    const EntryNumber first = recent_.find(exhausted_.front());
    return first != kNoEntry ? dead_letter_bytes_max(recent_.entry(first)) : kRecordOverheadMax;
}

void Engine::add_exhausted() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < exhausted_.size(); ++i) {
        const EntryNumber number = recent_.find(exhausted_[i]);
        if (number == kNoEntry) continue;
        const Entry& entry = recent_.entry(number);
        if (!entry.exhausted || entry.purging) continue;  // a command changed it, or a purge ends it
        const bool fits = has_room(dead_letter_bytes_max(entry)) && batch().count() < options_.batch_operations_max;
        if (entry.in_batch || !fits) {
            exhausted_[kept++] = exhausted_[i];
            continue;
        }
        assert(is_legal_move(entry.state, State::dead));
        add(number, dead_letter_record(entry, exhaustion_reason(entry)), 0, Error{});
    }
    exhausted_.resize(kept);
}

// ---- hold and kick

Verdict Engine::hold(PendingCommand& pending, const HoldCommand& command) {
    const Known known = find_message(pending, command.id, &command.name_space);
    if (const auto verdict = answer_unless_here(known, pending, command.id)) return *verdict;
    if (known.what == Known::What::ended) return replied(pending, ended_answer(known.ended));
    const Entry& entry = recent_.entry(known.entry);
    if (const auto late = too_late(entry)) {
        reply(pending.token, *late);
        return withdraw(known), Verdict::settled;
    }
    const ChangeAnswer answer{ChangeOutcome::held, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (is_purged(entry)) return purge(known, pending, purged_answer(answer));
    if (entry.state == State::held) {  // already held: there is nothing to write
        reply(pending.token, answer);
        return withdraw(known), Verdict::settled;
    }
    if (!is_legal_move(entry.state, State::held)) {
        reply(pending.token, not_waiting(entry.state));
        return withdraw(known), Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return withdraw(known), Verdict::settled;
    Record record = changed(entry, RecordKind::change, Cause::held);
    record.state.state = State::held;
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

Verdict Engine::hold_lease(PendingCommand& pending, const HoldLeaseCommand& command) {
    Known known;
    if (const auto verdict = find_leased(pending, command.lease, known)) return *verdict;
    if (const auto verdict = end_with_lease(pending, known.entry)) return *verdict;
    if (refuse_for_space(pending, Adds::change)) return Verdict::settled;
    const Entry& entry = recent_.entry(known.entry);
    assert(is_legal_move(entry.state, State::held));
    Record record = changed(entry, RecordKind::change, Cause::held);
    record.state.state = State::held;
    record.lease_attempt = command.lease.attempt;
    record.lease_incarnation = command.lease.incarnation;
    add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::held, 0, 0});
    return Verdict::settled;
}

// Due as before, or now if that has passed, with all attempts of its rule. A dead letter has no expiry any more: its
// return was requested, however late.
Record Engine::redrive_record(const Entry& entry, Cause cause) const {
    assert(is_legal_move(entry.state, State::scheduled));
    Record record = changed(entry, RecordKind::change, cause);
    record.state.state = State::scheduled;
    if (!entry.is_recurring) record.state.due_ms = std::max(entry.due_ms, now_);  // a recurring message catches up
    record.state.attempts_forgiven = record.state.attempts;
    if (entry.state == State::dead) record.state.expires_ms = 0;
    return record;
}

Verdict Engine::kick(PendingCommand& pending, const KickCommand& command) {
    const Known known = find_message(pending, command.id, &command.name_space);
    if (const auto verdict = answer_unless_here(known, pending, command.id)) return *verdict;
    if (known.what == Known::What::ended) return replied(pending, ended_answer(known.ended));
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{ChangeOutcome::kicked, entry.begun, entry.maybe_delivered || entry.from_past, 0};
    if (is_purged(entry) && entry.state != State::leased) return purge(known, pending, purged_answer(answer));
    if (is_discarded(entry)) {
        if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
        add(known.entry, expire_dead(entry, Cause::discarded), pending.token, purged_answer(answer));
        return Verdict::settled;
    }
    if (entry.state != State::held && entry.state != State::dead) {
        answer.outcome = entry.state == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::waiting;
        reply(pending.token, answer);
        return withdraw(known), Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return withdraw(known), Verdict::settled;
    if (entry.state == State::dead) {  // a held one is still pending
        const QueueName& at = recent_.queues().name(entry.queue);
        if (Status room = queues_.take_room(entry.queue, at.name_space, at.queue); !room) {
            reply(pending.token, std::move(room).error());
            return withdraw(known), Verdict::settled;
        }
    }
    Record record = redrive_record(entry, entry.state == State::dead ? Cause::redriven : Cause::kicked);
    answer.due_ms = record.state.due_ms;
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

}  // namespace duewheel
