// Another due time for a waiting message: at its client's request, or now.
#include <cassert>

#include "engine/engine.h"

namespace duewheel {

Error Engine::not_waiting(State state) {
    if (state == State::prepared) {
        return {"not_waiting",
                "the message is prepared, so it can only be committed, rolled back or cancelled: commit it first"};
    }
    return {"not_waiting", "the message is " + std::string(state_name(state)) +
                               ", so it has no due time to change: return it to its queue with kick first"};
}

Verdict Engine::reschedule(PendingCommand& pending, const RescheduleCommand& command) {
    const Result<DueMs> due = resolve(command.when);
    if (!due) return replied(pending, due.error());
    if (Status fits = seconds_.check_flex(command.flex_ms); !fits) return replied(pending, std::move(fits).error());
    const char* field = command.when.at_ms ? "due" : "delay";
    return move(pending, command.id, command.name_space, *due, Cause::rescheduled, field, command.flex_ms);
}

Verdict Engine::fire(PendingCommand& pending, const FireCommand& command) {
    return move(pending, command.id, command.name_space, now_, Cause::fired_now, "");
}

Verdict Engine::move(PendingCommand& pending, MessageId id, const std::string& name_space, DueMs due, Cause cause,
                     const char* field, std::int64_t flex_ms) {
    const Known known = find_message(pending, id, &name_space);
    if (const auto verdict = answer_unless_here(known, pending, id)) return *verdict;
    if (known.what == Known::What::ended) return replied(pending, ended_answer(known.ended));
    const Entry& entry = recent_.entry(known.entry);
    ChangeAnswer answer{cause == Cause::fired_now ? ChangeOutcome::fired : ChangeOutcome::rescheduled, entry.begun,
                        entry.maybe_delivered || entry.from_past, due};
    if (const auto late = too_late(entry)) {
        reply(pending.token, *late);
        return withdraw(known), Verdict::settled;
    }
    if (is_purged(entry)) return purge(known, pending, purged_answer(answer));
    if (entry.is_recurring) {
        reply(pending.token, is_recurring_message());
        return withdraw(known), Verdict::settled;
    }
    if (entry.state == State::held || entry.state == State::prepared) {
        reply(pending.token, not_waiting(entry.state));
        return withdraw(known), Verdict::settled;
    }
    if (cause == Cause::fired_now && entry.due_ms <= now_) {  // already due: there is nothing to write
        answer.due_ms = entry.due_ms;
        reply(pending.token, answer);
        return withdraw(known), Verdict::settled;
    }
    if (due >= expiry(known.entry)) {
        reply(pending.token, expires_too_soon(field));
        return withdraw(known), Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::change)) return withdraw(known), Verdict::settled;
    if (cause == Cause::rescheduled) {
        const DueMs latest = seconds_.latest_due(due, flex_ms, entry.has_rare ? recent_.expires_ms(known.entry) : 0);
        const QueueNumber queue = entry.queue;
        const Second own = second_of(entry.due_ms);
        const Seconds::Search search = seconds_.find(queue, due, latest, batch().seconds, own);
        if (search.what == Seconds::Search::What::needs_lookup || search.what == Seconds::Search::What::wait) {
            withdraw(known);
            return *seconds_.await(search, pending, queue, latest);
        }
        const Result<DueMs> log_position = seconds_.place(queue, due, latest, own);
        if (!log_position) {
            reply(pending.token, log_position.error());
            return withdraw(known), Verdict::settled;
        }
        answer.due_ms = due = *log_position;
        if (second_of(due) != own) seconds_.take(queue, due);
    }
    assert(is_legal_move(entry.state, State::scheduled));
    Record record = changed(entry, RecordKind::change, cause);
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

}  // namespace duewheel
