// The effect of each command, which is validated against the applied state while a batch is built. This file is long
// because there are many commands.
#include <algorithm>
#include <cassert>

#include "calendar/duration.h"
#include "engine/copy_content.h"
#include "engine/engine.h"
#include "engine/live_state.h"
#include "engine/refusals.h"

namespace duewheel {

Error Engine::unknown_id(MessageId id) {
    return {"unknown_id", "no message with id " + std::to_string(id) + " was ever accepted: check the id", "id"};
}

Error Engine::gone() {
    return {"gone",
            "this message ended longer ago than outcomes are kept; the history of its queue may still show how"};
}

Verdict Engine::validate(PendingCommand& pending) {
    return std::visit(
        [&](auto& command) -> Verdict {
            using T = std::decay_t<decltype(command)>;
            if constexpr (std::is_same_v<T, PutCommand>) return put(pending, command);
            if constexpr (std::is_same_v<T, PutBatchCommand>) return put_batch(pending, command);
            if constexpr (std::is_same_v<T, TakeRecordsCommand>) return take_records(pending, command);
            if constexpr (std::is_same_v<T, CancelCommand> || std::is_same_v<T, RescheduleCommand>) {
                const auto verdict = name_by_key(pending, command.name_space, command.by_key, command.id);
                if (verdict) return *verdict;
            }
            if constexpr (std::is_same_v<T, CancelCommand>) return cancel(pending, command);
            if constexpr (std::is_same_v<T, RescheduleCommand>) return reschedule(pending, command);
            if constexpr (std::is_same_v<T, FireCommand>) return fire(pending, command);
            if constexpr (std::is_same_v<T, SettleCommand>) return settle_transaction(pending, command);
            if constexpr (std::is_same_v<T, AckCommand>) return ack(pending, command);
            if constexpr (std::is_same_v<T, FailCommand>) return fail(pending, command);
            if constexpr (std::is_same_v<T, ExtendCommand>) return extend(pending, command);
            if constexpr (std::is_same_v<T, ReleaseCommand>) return release(pending, command);
            if constexpr (std::is_same_v<T, RelocateCommand>) return relocate(pending, command);
            if constexpr (std::is_same_v<T, RelocateOutcomesCommand>) return relocate_outcomes(pending, command);
            if constexpr (std::is_same_v<T, RelocationDoneCommand>) return relocation_done(pending, command);
            if constexpr (std::is_same_v<T, HoldCommand>) return hold(pending, command);
            if constexpr (std::is_same_v<T, HoldLeaseCommand>) return hold_lease(pending, command);
            if constexpr (std::is_same_v<T, KickCommand>) return kick(pending, command);
            if constexpr (std::is_same_v<T, DiscardCommand>) return discard(pending, command);
            if constexpr (std::is_same_v<T, ConfigureQueueCommand>) return settings_.configure(pending, command);
            if constexpr (std::is_same_v<T, RelocateSettingsCommand>) {
                if (command.subject == kSubjectToken) return tokens_.relocate(pending, command);
                if (command.subject == kSubjectInput) return relocate_input(pending, command);
                if (command.subject == kSubjectNamespace) return settings_.relocate_namespace(pending, command);
                return settings_.relocate_queue(pending, command);
            }
            if constexpr (std::is_same_v<T, ConfigureNamespaceCommand>) return settings_.configure(pending, command);
            if constexpr (std::is_same_v<T, PutScheduleCommand>) return put_schedule(pending, command);
            if constexpr (std::is_same_v<T, ControlScheduleCommand>) return control_schedule(pending, command);
            if constexpr (std::is_same_v<T, PutWatchdogCommand>) return put_watchdog(pending, command);
            if constexpr (std::is_same_v<T, FeedWatchdogCommand>) return feed_watchdog(pending, command);
            if constexpr (std::is_same_v<T, RemoveWatchdogCommand>) return remove_watchdog(pending, command);
            if constexpr (std::is_same_v<T, PatchQueueCommand>) return settings_.patch(pending, command);
            if constexpr (std::is_same_v<T, PatchNamespaceCommand>) return settings_.patch(pending, command);
            if constexpr (std::is_same_v<T, PatchScheduleCommand>) return patch(pending, command);
            if constexpr (std::is_same_v<T, PatchWatchdogCommand>) return patch(pending, command);
            if constexpr (std::is_same_v<T, ChangeTokenCommand>) return tokens_.change(pending, command);
            if constexpr (std::is_same_v<T, RelocateRuleCommand>) {
                return command.subject == kSubjectWatchdog ? relocate_watchdog(pending, command)
                                                           : relocate_schedule(pending, command);
            }
            assert(false && "a command that changes nothing is answered when it is submitted");
            return Verdict::settled;
        },
        pending.command);
}

// ---- finding a message

Engine::Known Engine::find_message(PendingCommand& pending, MessageId id, const std::string* name_space) {
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
        known.what = is_foreign(entry.queue) ? What::unknown : What::entry;
        if (entry.in_batch) known.what = What::busy;
        return expire_or(known);
    }
    if (const Outcome* outcome = recent_.outcome(id)) {
        if (is_foreign(outcome->queue)) return known.what = What::unknown, known;
        known.what = What::ended;
        known.ended.id = id;
        known.ended.state.state = outcome->state;
        known.ended.state.attempts = outcome->attempts;
        known.ended.state.version = outcome->version;
        known.ended.state.transaction = outcome->transaction;
        known.ended.state.maybe_delivered = outcome->maybe_delivered;
        known.ended.ended_ms = outcome->ended_ms;
        known.ended.lease_attempt = outcome->lease_attempt;
        known.ended.lease_incarnation = outcome->lease_incarnation;
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
    known.entry = admit(row);
    known.admitted = true;
    return expire_or(known);
}

// An expired message can only end: the command waits until its end is durable.
Engine::Known Engine::expire_or(Known known) {
    if (known.what != Known::What::entry || !has_expired(known.entry)) return known;
    begin_expiry(known.entry);
    known.what = Known::What::busy;
    return known;
}

// Returns an entry that was loaded for a command to its former state; the command changed nothing.
void Engine::withdraw(const Known& known) {
    if (known.admitted && !recent_.entry(known.entry).in_batch) drop(known.entry);
}

// Defers or answers the command, or looks the message up, if there is no entry; nothing if there is one, or an outcome.
std::optional<Verdict> Engine::answer_unless_here(const Known& known, PendingCommand& pending, MessageId id) {
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

Error Engine::unknown_key() {
    return {"unknown_key",
            "no message of this queue has this key, or it ended longer ago than keys are kept: check the key, the "
            "queue and the namespace",
            "key"};
}

// Sets `id` if the command identifies its message by key. Otherwise answers or defers the command, or looks the key up,
// and returns which. If another message than in an earlier call holds the key by then, it is in the recent tier: the
// earlier lookup result is not used for it.
std::optional<Verdict> Engine::name_by_key(PendingCommand& pending, const std::string& name_space,
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

// A record with the next version of the message; the caller sets the members that change.
Record Engine::changed(const Entry& entry, RecordKind kind, Cause cause) const {
    Record record;
    record.kind = kind;
    record.id = entry.id;
    record.log_position = entry.log_position;
    record.record_bytes = entry.record_bytes;
    record.time_ms = now_;
    record.cause = cause;
    record.state = recent_.durable_state(entry);
    record.previous = {record.state.state, record.state.version, record.state.due_ms, record.state.queue, 0, 0, 0};
    if (record.state.state == State::dead) {
        record.previous.ended_ms = recent_.ended_ms(entry);
    } else {
        record.previous.term = digest_term(entry.id, record.state);
    }
    if (!record.state.order_key.empty() && record.state.nominal_due_ms != record.state.due_ms) {
        record.previous.nominal_due_ms = record.state.nominal_due_ms;
    }
    record.state.version += 1;
    record.state.attempts = entry.begun;
    record.state.maybe_delivered |= entry.from_past;
    return record;
}

// ---- commands on a message

ChangeAnswer Engine::ended_answer(const MessageRow& row) {
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

// The reply if the command comes too late for the entry; nothing if its state can still change.
std::optional<ChangeAnswer> Engine::too_late(const Entry& entry) const {
    if (entry.state != State::leased && entry.state != State::dead) return std::nullopt;
    ChangeAnswer answer;
    answer.outcome = entry.state == State::leased ? ChangeOutcome::in_flight : ChangeOutcome::dead;
    answer.attempts = entry.begun;
    answer.maybe_delivered = entry.maybe_delivered || entry.from_past;
    return answer;
}

Verdict Engine::cancel(PendingCommand& pending, const CancelCommand& command) {
    const Known known = find_message(pending, command.id, &command.name_space);
    if (const auto verdict = answer_unless_here(known, pending, command.id)) return *verdict;
    if (known.what == Known::What::ended) return replied(pending, ended_answer(known.ended));
    const Entry& entry = recent_.entry(known.entry);
    if (const auto late = too_late(entry)) {
        reply(pending.token, *late);
        return withdraw(known), Verdict::settled;
    }
    if (refuse_for_space(pending, Adds::end)) return withdraw(known), Verdict::settled;
    assert(is_legal_move(entry.state, State::cancelled));
    Record record = changed(entry, RecordKind::end, Cause::cancelled);
    record.state.state = State::cancelled;
    const ChangeAnswer answer{ChangeOutcome::cancelled, record.state.attempts, record.state.maybe_delivered, 0};
    add(known.entry, std::move(record), pending.token, answer);
    return Verdict::settled;
}

// ---- commands on a lease

// Finds the message that `lease` still holds. Otherwise answers or defers the command, or looks the message up, and
// returns which.
std::optional<Verdict> Engine::find_leased(PendingCommand& pending, const LeaseToken& lease, Known& known) {
    if (!signer_.is_genuine(lease)) {
        return replied(
            pending,
            Error{"bad_lease_token",
                  "this is not a lease token of this server: use the string from the response to the lease call",
                  "lease"});
    }
    known = find_message(pending, lease.id, nullptr);
    switch (known.what) {
        case Known::What::busy:
        case Known::What::needs_lookup:
            return answer_unless_here(known, pending, lease.id);
        case Known::What::unknown:
        case Known::What::gone:
            return replied(pending, LeaseEndAnswer{});
        case Known::What::ended: {
            LeaseEndAnswer answer;
            const bool ended_by_it = known.ended.state.state == State::done &&
                                     known.ended.lease_attempt == lease.attempt &&
                                     known.ended.lease_incarnation == lease.incarnation;
            if (ended_by_it && std::holds_alternative<AckCommand>(pending.command)) answer.outcome = LeaseOutcome::done;
            return replied(pending, answer);
        }
        case Known::What::entry:
            break;
    }
    const auto held = leases_.find(lease.id);
    const bool holds = held != leases_.end() && lease.incarnation == context_.incarnation &&
                       held->second.attempt == lease.attempt && held->second.until_ms > now_;
    if (holds) return std::nullopt;
    reply(pending.token, LeaseEndAnswer{});
    withdraw(known);
    return Verdict::settled;
}

Verdict Engine::ack(PendingCommand& pending, const AckCommand& command) {
    Known known;
    if (const auto verdict = find_leased(pending, command.lease, known)) return *verdict;
    const Entry& entry = recent_.entry(known.entry);
    if (refuse_for_space(pending, Adds::end)) return Verdict::settled;
    assert(is_legal_move(entry.state, State::done));
    Record record = changed(entry, RecordKind::end, Cause::acknowledged);
    record.state.state = State::done;
    record.lease_attempt = command.lease.attempt;
    record.lease_incarnation = command.lease.incarnation;
    record.lateness_ms = leases_.at(entry.id).delivered_ms - entry.nominal_due_ms;
    add(known.entry, std::move(record), pending.token, LeaseEndAnswer{LeaseOutcome::done, 0, 0});
    return Verdict::settled;
}

Verdict Engine::extend(PendingCommand& pending, const ExtendCommand& command) {
    if (command.lease_ms) {
        if (Status legal = check_lease_time(*command.lease_ms); !legal) {
            return replied(pending, std::move(legal).error());
        }
    }
    Known known;
    if (const auto verdict = find_leased(pending, command.lease, known)) return *verdict;
    Lease& lease = leases_.at(command.lease.id);
    // Without a time the lease is extended by the default, and never shortened.
    const std::int64_t by_queue = queues_.lease_time(queues_.at(recent_.entry(known.entry).queue));
    const DueMs until = command.lease_ms ? now_ + *command.lease_ms : std::max(lease.until_ms, now_ + by_queue);
    lease.until_ms = until;
    arm(known.entry, until);
    return replied(pending, LeaseEndAnswer{LeaseOutcome::extended, 0, until});
}

// ---- compaction

Verdict Engine::relocate(PendingCommand& pending, const RelocateCommand& command) {
    const MessageId id = command.row.id;
    const Known known = find_message(pending, id, nullptr);
    switch (known.what) {
        case Known::What::busy:
        case Known::What::needs_lookup:
            return *answer_unless_here(known, pending, id);
        case Known::What::unknown:
        case Known::What::gone:
            return replied(pending, RelocateAnswer{});
        case Known::What::ended:
            return replied(pending, RelocateAnswer{});
        case Known::What::entry:
            break;
    }
    const Entry& entry = recent_.entry(known.entry);
    if (entry.log_position != command.row.log_position) {
        reply(pending.token, RelocateAnswer{});
        return withdraw(known), Verdict::settled;
    }
    Result<Record> whole = decode_record(command.record_kind, command.record_body);
    if (!whole) return reply(pending.token, std::move(whole).error()), withdraw(known), Verdict::settled;
    Record record;
    record.kind = RecordKind::relocate;
    record.id = entry.id;
    record.log_position = entry.log_position;
    record.record_bytes = entry.record_bytes;
    record.time_ms = now_;
    const MessageRow row = recent_.row(entry);
    record.state = row.state;
    record.ended_ms = row.ended_ms;
    record.lease_attempt = row.lease_attempt;
    record.lease_incarnation = row.lease_incarnation;
    record.reason = row.reason;
    record.content = whole->content;
    add(known.entry, std::move(record), pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

Verdict Engine::relocate_outcomes(PendingCommand& pending, const RelocateOutcomesCommand& command) {
    Record record;
    record.kind = RecordKind::outcomes;
    record.time_ms = now_;
    record.value = command.rows;
    record.count = command.count;
    record.segment = command.segment;
    record.up_to = command.up_to;
    add(kNoEntry, std::move(record), pending.token, RelocateAnswer{false, batch().next_sequence()});
    return Verdict::settled;
}

Verdict Engine::relocation_done(PendingCommand& pending, const RelocationDoneCommand& command) {
    Record record;
    record.kind = RecordKind::relocation_done;
    record.time_ms = now_;
    record.up_to = command.up_to;
    record.live_count = batch().totals().live_count;
    record.digest = batch().totals().digest;
    add(kNoEntry, std::move(record), pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

// ---- commands that change nothing durable

// A put in the current batch does not hold its key yet.
void Engine::get_by_key(PendingCommand pending) {
    const GetCommand command = std::get<GetCommand>(pending.command);
    const ReplyToken token = pending.token;
    MessageId id = 0;
    const std::optional<Verdict> verdict = name_by_key(pending, command.name_space, command.by_key, id);
    if (!verdict) return get({command.name_space, id}, token, pending.limits);
    if (verdict == Verdict::deferred) reply(token, unknown_key());
}

void Engine::get(const GetCommand& command, ReplyToken token, const SharedLimits& limits) {
    const auto is_foreign = [&](std::string_view of_namespace, std::string_view of_queue) {
        return of_namespace != command.name_space || (limits && !limits->admits_queue(of_queue));
    };
    PendingCommand pending;
    pending.limits = limits;
    pending.command = command;
    pending.token = token;
    if (command.by_key.is_given()) return get_by_key(std::move(pending));
    const MessageId id = command.id;
    if (id == 0 || id % kShardsMax != options_.shard || id / kShardsMax > batches_.totals().id_counter) {
        return reply(token, unknown_id(id));
    }
    const EntryNumber number = recent_.find(id);
    if (number != kNoEntry) {
        const Entry& entry = recent_.entry(number);
        MessageRow row = recent_.row(entry);
        row.state.state = entry.state;
        row.state.attempts = entry.begun;
        row.state.maybe_delivered |= entry.from_past;
        if (entry.begun != entry.attempts) row.reason.clear();  // another attempt has started
        if (is_foreign(row.state.name_space, row.state.queue)) return reply(token, unknown_id(id));
        const bool makes_one = entry.spawning && !entry.in_batch;
        return answer_get(std::move(row), token, makes_one ? blocking_reason(number) : "");
    }
    if (const Outcome* outcome = recent_.outcome(id)) {
        const QueueName& name = recent_.queues().name(outcome->queue);
        if (is_foreign(name.name_space, name.queue)) return reply(token, unknown_id(id));
        if (is_forgotten(outcome->ended_ms)) return reply(token, gone());
        MessageRow row;
        row.id = id;
        row.state.state = outcome->state;
        row.state.attempts = outcome->attempts;
        row.state.version = outcome->version;
        row.state.maybe_delivered = outcome->maybe_delivered;
        row.state.due_ms = row.state.nominal_due_ms = outcome->due_ms;
        row.state.name_space = name.name_space;
        row.state.queue = name.queue;
        row.ended_ms = outcome->ended_ms;
        return answer_get(std::move(row), token);
    }
    lookups_.start(FindMessage{id}, FactsLookup{std::move(pending)});
}

void Engine::finish(FactsLookup lookup, std::optional<MessageRow> row, Generation generation) {
    PendingCommand& pending = lookup.command;
    if (std::holds_alternative<GetCommand>(pending.command)) return finish_get(pending, std::move(row), generation);
    pending.facts = std::move(row);
    pending.facts_generation = generation;
    commands_.push_looked_up(std::move(pending));
}

void Engine::finish_get(const PendingCommand& pending, std::optional<MessageRow> row, Generation generation) {
    const GetCommand& command = std::get<GetCommand>(pending.command);
    const SharedLimits& limits = pending.limits;
    if (!lookups_.is_fresh(generation) || recent_.find(command.id) != kNoEntry ||
        recent_.outcome(command.id) != nullptr) {
        return get(command, pending.token, limits);
    }
    // Its namespace is not known any more.
    if (!row) return reply(pending.token, limits ? unknown_id(command.id) : gone());
    if (row->state.name_space != command.name_space || (limits && !limits->admits_queue(row->state.queue))) {
        return reply(pending.token, unknown_id(command.id));
    }
    row->state.maybe_delivered |= !is_ended(row->state.state) && earlier_runs_.may_have_delivered(row->id, row->state);
    answer_get(*std::move(row), pending.token);
}

void Engine::finish(KeysLookup lookup, std::vector<std::optional<KeyFacts>> facts, Generation generation) {
    PendingCommand& pending = lookup.command;
    pending.key_facts = std::move(facts);
    pending.key_facts_generation = generation;
    if (std::holds_alternative<GetCommand>(pending.command)) return get_by_key(std::move(pending));
    commands_.push_looked_up(std::move(pending));
}

// Completes the reply with the content of the message, which is in the log.
void Engine::answer_get(MessageRow row, ReplyToken token, std::string_view blocked_by) {
    row.state.state = live_state(row.state.state, row.state.due_ms, row.state.is_recurring(), now_);
    MessageLookup read;
    read.token = token;
    read.answer.blocked_by = blocked_by;
    if (const auto held = leases_.find(row.id); held != leases_.end())
        read.answer.lease_until_ms = held->second.until_ms;
    read.answer.row = std::move(row);
    const bool has_content = !is_ended(read.answer.row.state.state) || read.answer.row.state.state == State::dead;
    if (!has_content) return reply(token, std::move(read.answer));
    if (lookups_.shown_bytes() >= options_.reading_bytes_max) return reply(token, too_busy());
    read.shown_bytes = read.answer.row.record_bytes;
    ReadRecords wanted{{read.answer.row.log_position}};
    lookups_.start(std::move(wanted), std::move(read));
}

void Engine::finish(MessageLookup lookup, const FoundRecords& records, Generation) {
    MessageAnswer& message = lookup.answer;
    Result<Record> whole = decode_record(RecordKind::relocate, records.front().body);
    if (!whole) {
        effects_.fatal_error = std::move(whole).error();
        return;
    }
    const MessageContent& content = whole->content;
    message.has_content = true;
    message.put_ms = content.put_ms;
    copy_content(content, message);
    if (content.repeat) {
        message.repeat = content.repeat->rule;
        message.row.state.order_key = content.repeat->order_key;
        message.expires_in_ms = content.repeat->expires_after_ms;
    }
    message.transaction = content.transaction;
    if (message.row.state.state == State::prepared && message.transaction) {
        message.blocked_by = why_check_waits(message.row.state, *message.transaction);
    }
    message.parent = content.parent;
    message.occurrence = content.occurrence;
    message.schedule = content.schedule;
    message.watchdog = content.watchdog;
    message.fed_ms = content.fed_ms;
    reply(lookup.token, std::move(message));
}

void Engine::lease(const LeaseCommand& command, ReplyToken token) {
    if (command.lease_ms && !command.stays) {
        if (Status legal = check_lease_time(*command.lease_ms); !legal) return reply(token, std::move(legal).error());
    }
    if (command.max == 0 || (command.max > options_.lease_batch_max && !command.stays)) {
        return reply(token,
                     Error{"bad_max", "`max` must be from 1 to " + std::to_string(options_.lease_batch_max), "max"});
    }
    if (command.wait_ms < 0 || command.wait_ms > options_.wait_max_ms) {
        return reply(token, Error{"wait_too_long",
                                  "`wait` must be from 0 to " + std::to_string(options_.wait_max_ms) +
                                      " ms: repeat the call after that",
                                  "wait"});
    }
    QueueNumber number = recent_.queues().find(command.name_space, command.queue);
    if (number == kNoQueue) {
        // A queue that does not exist has no messages, and a lease request does not create it.
        if (command.wait_ms == 0 && !command.stays) {
            LeaseAnswer none;
            none.queue = command.queue;
            return reply(token, std::move(none));
        }
        if (Status free = queues_.check_new_queue(command.name_space, command.queue); !free) {
            return reply(token, std::move(free).error());
        }
        number = recent_.queues().number(command.name_space, command.queue);
        queues_.at(number).only_waited_for = true;
    }
    Queue& at = queues_.at(number);
    if (at.waiters.size() >= options_.waiters_per_queue_max) {
        return reply(token, Error{"waiter_limit", "too many consumers already wait on this queue: try again later"});
    }
    at.asked_ms = now_;
    const std::uint64_t waiter = next_waiter_++;
    waiters_[waiter] = {token, number, command.max, command.lease_ms.value_or(queues_.lease_time(at)), {}};
    if (token != 0) waiter_of_reply_[token] = waiter;
    at.waiters.push_back(waiter);
    queues_.mark(number);
    if ((command.wait_ms == 0 && !command.stays) || context_.stopping) {
        while (context_.serving && waiters_.contains(waiter) && serve_next(number) > 0) continue;
        if (!waiters_.contains(waiter)) return;
        // Messages that were due before the request are not withheld because a lookup is pending.
        if (context_.stopping || !is_read_for(at)) return drop_waiter(waiter);
        return wait_briefly(waiter, waiters_.at(waiter));
    }
    if (command.stays) return;
    waiters_.at(waiter).timer = wheel_.schedule(static_cast<Tick>(now_ + command.wait_ms), kWaiterCookie | waiter, 0);
}

}  // namespace duewheel
