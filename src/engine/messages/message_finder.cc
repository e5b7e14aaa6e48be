#include "engine/messages/message_finder.h"

#include <utility>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"
#include "engine/commands/refusals.h"
#include "message/records/past_attempts.h"

namespace duewheel {

Known MessageFinder::find(PendingCommand& pending, MessageId id, const std::string* name_space) {
    using What = Known::What;
    Known known;
    if (id == 0 || id % kShardsMax != options_.shard || id / kShardsMax > batches_.totals().id_counter) {
        return known.what = What::unknown, known;
    }
    const auto is_outside = [&](const std::string& of_namespace, const std::string& of_queue) {
        if (name_space != nullptr && of_namespace != *name_space) return true;
        return pending.limits && !pending.limits->admits(of_namespace, of_queue);
    };
    const auto is_foreign = [&](QueueNumber queue) {
        const QueueName& name = recent_.queues().name(queue);
        return is_outside(name.name_space, name.queue);
    };
    known.entry = recent_.find(id);
    if (known.entry != kNoEntry) {
        const Entry& entry = recent_.entry(known.entry);
        if (is_foreign(entry.queue)) return known.what = What::unknown, known;
        known.what = entry.in_batch ? What::busy : What::entry;
        return usable(known, pending);
    }
    if (const Outcome* outcome = recent_.outcome(id)) {
        if (is_foreign(outcome->queue)) return known.what = What::unknown, known;
        known.what = What::ended;
        known.ended = recent_.row(id, *outcome);
        return known;
    }
    const bool fresh = pending.facts && lookups_.is_fresh(pending.facts_generation);
    if (!fresh) return known.what = What::needs_lookup, known;
    if (!*pending.facts) {  // its namespace is not known any more
        known.what = pending.limits ? What::unknown : What::gone;
        return known;
    }
    const MessageRow& row = **pending.facts;
    if (is_outside(row.state.name_space, row.state.queue)) return known.what = What::unknown, known;
    if (is_ended(row.state.state) && row.state.state != State::dead) {
        known.what = What::ended;
        known.ended = row;
        return known;
    }
    known.what = What::entry;
    known.entry = lifecycle_.admit(row);
    known.admitted = true;
    return usable(known, pending);
}

// A message that has expired, or whose cancel was requested while it was leased, can only end: the command waits until
// its end is durable. One whose record does not fit waits for the next batch.
Known MessageFinder::usable(Known known, const PendingCommand& pending) {
    if (known.what != Known::What::entry) return known;
    if (lifecycle_.is_cancel_due(recent_.entry(known.entry))) {
        lifecycle_.place(known.entry);
        return known.what = Known::What::busy, known;
    }
    if (lifecycle_.has_expired(known.entry)) {
        lifecycle_.begin_expiry(known.entry);
        return known.what = Known::What::busy, known;
    }
    const std::size_t work_bytes = work_bytes_max(recent_.entry(known.entry));
    if (work_bytes == 0) return known;
    const std::size_t bytes = record_bytes_max(pending.command) + work_bytes;
    if (has_room(bytes)) return known;
    segment_.note_unfit(bytes);
    withdraw(known);
    return known.what = Known::What::busy, known;
}

std::optional<Verdict> MessageFinder::answer_unless_here(const Known& known, PendingCommand& pending, MessageId id) {
    switch (known.what) {
        case Known::What::unknown:
            return replied(pending, unknown_id(id));
        case Known::What::busy:
            return Verdict::deferred;
        case Known::What::needs_lookup:
            lookups_.start(FindMessage{id}, FactsLookup{std::move(pending)});
            return Verdict::looking_up;
        case Known::What::gone:
            return replied(pending, ChangeAnswer{});
        case Known::What::entry:
        case Known::What::ended:
            return std::nullopt;
    }
    return std::nullopt;
}

void MessageFinder::withdraw(const Known& known) {
    if (!known.admitted) return;
    const Entry& entry = recent_.entry(known.entry);
    if (!entry.in_batch && entry.waits_for == WaitsFor::none) lifecycle_.drop(known.entry);
}

Verdict MessageFinder::replied_unchanged(const Known& known, const PendingCommand& pending, Reply with) {
    reply(pending.token, std::move(with));
    return withdraw(known), Verdict::settled;
}

Verdict MessageFinder::purge(const Known& known, PendingCommand& pending, Reply with) {
    if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
    lifecycle_.purge(known.entry, pending.token, std::move(with));
    return Verdict::settled;
}

// The response to a command that repeats the one which ended the last attempt of the message; otherwise `expired`. Its
// due time is that of now.
LeaseEndAnswer MessageFinder::repeated_end(const Entry& entry, const LeaseToken& lease, const Command& command) const {
    LeaseEndAnswer answer;
    const auto attempts = decode_past_attempts(recent_.work(entry).past_attempts);
    if (!attempts || attempts->empty()) return answer;
    const PastAttempt& last = attempts->back();
    if (last.attempt != lease.attempt || last.incarnation != lease.incarnation) return answer;
    if (std::holds_alternative<FailCommand>(command) && last.outcome == AttemptOutcome::failed) {
        const bool is_dead = entry.durable_state == State::dead;
        answer.outcome = is_dead ? LeaseOutcome::dead : LeaseOutcome::retrying;
        if (!is_dead) answer.due_ms = entry.due_ms;
    } else if (std::holds_alternative<ReleaseCommand>(command) && last.outcome == AttemptOutcome::released) {
        answer.outcome = LeaseOutcome::released;
        answer.due_ms = entry.due_ms;
    } else if (std::holds_alternative<HoldLeaseCommand>(command) && last.outcome == AttemptOutcome::held) {
        answer.outcome = LeaseOutcome::held;
    }
    answer.repeated = answer.outcome != LeaseOutcome::expired;
    return answer;
}

std::optional<Verdict> MessageFinder::find_leased(PendingCommand& pending, const LeaseToken& lease, Known& known) {
    if (!signer_.is_genuine(lease)) {
        return replied(
            pending,
            Error{"bad_lease_token"_code,
                  "this is not a lease token of this server: use the string from the response to the lease call",
                  "lease"});
    }
    known = find(pending, lease.id, nullptr);
    LeaseEndAnswer answer;
    switch (known.what) {
        case Known::What::busy:
        case Known::What::needs_lookup:
            return answer_unless_here(known, pending, lease.id);
        case Known::What::unknown:
        case Known::What::gone:
            return replied(pending, answer);
        case Known::What::ended: {
            const bool ended_by_it =
                known.ended.lease_attempt == lease.attempt && known.ended.lease_incarnation == lease.incarnation;
            const State state = known.ended.state.state;
            const bool is_ack = std::holds_alternative<AckCommand>(pending.command);
            const bool is_extend = std::holds_alternative<ExtendCommand>(pending.command);
            if (ended_by_it && is_ack && state == State::done) answer.outcome = LeaseOutcome::done;
            if (ended_by_it && !is_ack && !is_extend && state == State::cancelled) {
                answer.outcome = LeaseOutcome::cancelled;
            }
            answer.repeated = answer.outcome != LeaseOutcome::expired;
            return replied(pending, answer);
        }
        case Known::What::entry:
            break;
    }
    const auto held = lifecycle_.leases().find(lease.id);
    const bool is_its_own = held != lifecycle_.leases().end() && held->second.attempt == lease.attempt &&
                            held->second.incarnation == lease.incarnation;
    if (is_its_own && held->second.until_ms > now_) return std::nullopt;
    if (!is_its_own) {
        answer = repeated_end(recent_.entry(known.entry), lease, pending.command);
        answer.by_restart = !answer.repeated && lifecycle_.was_lost_by_restart(known.entry, lease);
    }
    reply(pending.token, answer);
    withdraw(known);
    return Verdict::settled;
}

// ---- keys

KeyLookup MessageFinder::look_up_key(std::string_view name_space, std::string_view queue_name, std::string_view key,
                                     const std::optional<KeyFacts>* facts) const {
    using What = KeyLookup::What;
    if (batches_.has_batch() && !batch().keys.empty() && batch().keys.contains(key_name(name_space, queue_name, key))) {
        return {What::busy, {}};
    }
    const QueueNumber queue = recent_.queues().find(name_space, queue_name);
    const RecentKey* recent = queue == kNoQueue ? nullptr : recent_.key_holder(queue, key);
    const bool decides = recent != nullptr && recent->is_put_here;
    if (!decides && facts == nullptr) return {What::needs_lookup, {}};
    KeyFacts found;
    if (!decides && *facts) found = **facts;
    // The newer of two messages with the key holds it.
    if (recent != nullptr && recent->id >= found.holder.id) {
        found.holder = {recent->id, recent->request_hash, recent->due_ms, recent->ended_ms};
        if (found.row->id != recent->id) found.row.clear();
    }
    if (found.holder.id == 0) return {What::free, {}};
    if (is_forgotten(found.holder.ended_ms)) return {What::free, {}};
    if (const EntryNumber number = recent_.find(found.holder.id); number != kNoEntry) {
        found.state = recent_.entry(number).state();
        found.is_recurring = recent_.is_recurring(recent_.entry(number));
    } else if (const Outcome* outcome = recent_.outcome(found.holder.id)) {
        found.state = outcome->state;
    }
    return {What::held, found};
}

Known MessageFinder::find_holder(const KeyFacts& holder, const PendingCommand& pending) {
    Known known;
    known.entry = recent_.find(holder.holder.id);
    if (known.entry == kNoEntry) {
        if (!holder.row.is_set()) return known.what = Known::What::needs_lookup, known;
        known.entry = lifecycle_.admit(*holder.row);
        known.admitted = true;
    }
    known.what = Known::What::entry;
    const Entry& entry = recent_.entry(known.entry);
    if (entry.in_batch) return known.what = Known::What::busy, known;
    // One of a purge can only end, as one that has expired.
    if (lifecycle_.is_purged(entry) && entry.state() != State::leased) {
        static_cast<void>(lifecycle_.take_for_purge(known.entry));
        return known.what = Known::What::busy, known;
    }
    return usable(known, pending);
}

std::optional<Verdict> MessageFinder::name_by_key(PendingCommand& pending, const std::string& name_space,
                                                  const MessageKey& by_key, MessageId& id) {
    if (!by_key.is_given()) return std::nullopt;
    const bool fresh = pending.key_facts && lookups_.is_fresh(pending.key_facts_generation);
    const KeyLookup found =
        look_up_key(name_space, by_key.queue, by_key.key, fresh ? &pending.key_facts->front() : nullptr);
    switch (found.what) {
        case KeyLookup::What::busy:
            return Verdict::deferred;
        case KeyLookup::What::free:
            return replied(pending, unknown_key());
        case KeyLookup::What::held:
            id = found.holder.holder.id;
            return std::nullopt;
        case KeyLookup::What::needs_lookup:
            break;
    }
    FindKeys wanted;
    wanted.keys.push_back({name_space, by_key.queue, by_key.key});
    lookups_.start(std::move(wanted), KeysLookup{std::move(pending)});
    return Verdict::looking_up;
}

}  // namespace duewheel
