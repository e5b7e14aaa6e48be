#include "engine/puts/puts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "message/records/content.h"

namespace duewheel {
namespace {

std::string key_name_of(const PutCommand& put) {
    return key_name(put.name_space, put.queue, put.key);
}

Error key_conflict() {
    return {
        "key_conflict"_code,
        "this key was used by a different put: use another key for a new message, or give `on_key`, \"keep\" to leave "
        "the message as it is or \"replace\" to put this one in its place. A put whose `due` was computed again is "
        "different; one with the same `delay` is not",
        "key"};
}

Error is_in_flight() {
    return {"in_flight"_code,
            "a consumer has leased the message of this key, and nothing was changed: try again after the lease has "
            "ended, or use another key",
            "key"};
}

Error not_replaceable(bool is_recurring) {
    if (is_recurring) {
        return {"repeats"_code,
                "the message of this key is recurring, and its times follow from its rule: cancel it first, or use "
                "another key",
                "key"};
    }
    return {"not_waiting"_code,
            "the message of this key is prepared, so it can only be committed, rolled back or cancelled: commit it "
            "first",
            "key"};
}

// Gives a new message what it has been through on another server.
void restore(const WorkHistory& history, MessageRecord& record) {
    MessageState& state = record.state;
    state.attempts = history.attempts;
    state.attempts_forgiven = history.attempts - history.attempts_counted;
    state.maybe_delivered = history.maybe_delivered;
    if (history.nominal_due_ms != 0 && history.nominal_due_ms < state.due_ms) {
        state.nominal_due_ms = history.nominal_due_ms;
        if (!state.key.empty()) state.first_due_ms = state.due_ms;
    }
    if (history.is_retrying && state.state == State::scheduled) {
        state.state = State::retrying;
        record.reason = history.reason;
    }
    WorkState work;
    work.progress = history.progress;
    work.checkpoint = history.checkpoint;
    work.past_attempts = history.past_attempts;
    state.work.set(std::move(work));
}

bool has_ended(const KeyFacts& holder) {
    return holder.holder.ended_ms != 0;
}

// Whether the put changes the message of its key.
bool replaces(const PutCommand& put, const KeyFacts& holder) {
    return put.on_key == OnKey::replace && !has_ended(holder);
}

}  // namespace

Verdict Puts::decide(PendingCommand& pending, PutCommand& command) {
    std::vector<Holder> holders;
    if (const auto verdict = look_up(pending, {&command, 1}, holders)) return *verdict;
    const std::size_t before = batch().count();
    PutResult result = put_one(command, holders.front());
    withdraw(holders);
    Reply answer = std::visit([](auto& value) { return Reply(std::move(value)); }, result);
    if (batch().count() == before) return replied(pending, std::move(answer));
    batch().answer_with_last(pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Puts::decide(PendingCommand& pending, PutBatchCommand& command) {
    std::vector<Holder> holders;
    if (const auto verdict = look_up(pending, command.puts, holders)) return *verdict;
    const std::size_t before = batch().count();
    PutBatchAnswer answer;
    answer.results.reserve(command.puts.size());
    HeldKeys held_here;
    for (std::size_t i = 0; i < command.puts.size(); ++i) {
        PutCommand& put = command.puts[i];
        answer.results.push_back(put_one_of(put, holders[i], held_here));
    }
    withdraw(holders);
    if (batch().count() == before) return replied(pending, std::move(answer));
    // All of them are in one commit, so the reply is sent with the last.
    batch().answer_with_last(pending.token, std::move(answer));
    return Verdict::settled;
}

std::optional<Verdict> Puts::look_up(PendingCommand& pending, std::span<const PutCommand> puts,
                                     std::vector<Holder>& holders) {
    std::optional<Verdict> verdict = look_up_keys(pending, puts, holders);
    if (verdict) withdraw(holders);
    return verdict;
}

// Sets the holder of each key; nothing if a put has no key, or its key is free. Otherwise returns why the puts cannot
// be decided yet.
std::optional<Verdict> Puts::look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                          std::vector<Holder>& holders) {
    const bool fresh = pending.key_facts && lookups_.is_fresh(pending.key_facts_generation);
    holders.resize(puts.size());
    bool needs_lookup = false;
    std::size_t keyed = 0;
    for (std::size_t i = 0; i < puts.size(); ++i) {
        if (puts[i].key.empty()) continue;
        const KeyLookup found = finder_.look_up_key(puts[i].name_space, puts[i].queue, puts[i].key,
                                                    fresh ? &(*pending.key_facts)[keyed] : nullptr);
        ++keyed;
        if (found.what == KeyLookup::What::busy) return Verdict::deferred;
        if (found.what == KeyLookup::What::needs_lookup) needs_lookup = true;
        if (found.what != KeyLookup::What::held) continue;
        holders[i].facts = found.holder;
        if (puts[i].on_key == OnKey::once || has_ended(found.holder)) continue;
        const Known known = finder_.find_holder(found.holder, pending);
        if (known.what == Known::What::busy) return Verdict::deferred;
        if (known.what == Known::What::needs_lookup) needs_lookup = true;
        if (known.what == Known::What::entry) holders[i].known = known;
    }
    if (!needs_lookup) return std::nullopt;
    FindKeys wanted;
    wanted.keys.reserve(keyed);
    for (const PutCommand& put : puts) {
        if (!put.key.empty()) wanted.keys.push_back({put.name_space, put.queue, put.key});
    }
    lookups_.start(std::move(wanted), KeysLookup{std::move(pending)});
    return Verdict::looking_up;
}

void Puts::withdraw(const std::vector<Holder>& holders) {
    for (const Holder& holder : holders) finder_.withdraw(holder.known);
}

// ---- one put

PutResult Puts::put_one_of(PutCommand& put, Holder& holder, HeldKeys& held_here) {
    if (put.key.empty()) return put_one(put, holder);
    std::string name = key_name_of(put);
    if (const auto held = held_here.find(name); held != held_here.end()) holder = held->second;
    const std::uint64_t hash = put.request_hash;
    const bool is_recurring = put.repeat.has_value();
    PutResult result = put_one(put, holder);
    const auto* made = std::get_if<PutAnswer>(&result);
    if (made != nullptr && !made->repeated) {
        held_here[std::move(name)] = {
            KeyFacts{{made->id, hash, made->due_ms, 0}, made->state, is_recurring, {}}, {}, batch().count() - 1};
    }
    return result;
}

// When the message is due at the latest, so that puts which replace each other do not postpone it for ever.
DueMs Puts::latest_due(const PutCommand& command, DueMs first_put_ms) const {
    if (command.within_ms == 0) return INT64_MAX;
    return std::max(now_, (first_put_ms != 0 ? first_put_ms : now_) + command.within_ms);
}

// The rule of the recurring message that is put. It refers to the texts of the command.
Result<Repeat> Puts::chosen_recurring(const PutCommand& command, DueMs start) const {
    if (command.expires && command.expires->at_ms) {
        return Error{"conflicting_members"_code,
                     "all occurrences of a recurring message would expire at the same instant: give `expires_in`, "
                     "which counts from the due time of each, or `repeat.until`, after which there are none",
                     "expires"};
    }
    if (command.expires) {
        if (const Result<DueMs> at = resolve(*command.expires, "expires_in", "expires"); !at) return at.error();
        if (command.expires->delay_ms < 1) return expires_too_soon("expires_in");
    }
    if (start < now_ - kRepeatEveryMaxMs) {
        return Error{"out_of_range"_code,
                     "a recurring message makes up for all times since its first, which can be up to 3660 days ago: "
                     "give a later time, in milliseconds if it is a number",
                     "due"};
    }
    const Result<RepeatRule> rule = chosen_repeat(*command.repeat, start, options_.repeat_times_max);
    if (!rule) return rule.error();
    return Repeat{*rule, command.order_key, command.expires ? command.expires->delay_ms : 0};
}

// The reply to a put that changes nothing, because its key is held; nothing if it does.
std::optional<PutResult> Puts::answer_of(const PutCommand& command, const Holder& holder) const {
    const KeyFacts& facts = *holder.facts;
    PutAnswer answer{facts.holder.id, facts.state, facts.holder.due_ms, true};
    if (command.on_key == OnKey::once) {
        const std::uint64_t hash = facts.holder.request_hash;
        if (hash != command.request_hash && (command.text_hash == 0 || hash != command.text_hash)) {
            return key_conflict();
        }
    } else if (has_ended(facts) || command.on_key == OnKey::replace) {
        return std::nullopt;
    } else {
        answer.kept = true;
        if (holder.known.what == Known::What::entry) {
            const Entry& entry = recent_.entry(holder.known.entry);
            answer.due_ms = entry.durable_state == State::prepared ? entry.nominal_due_ms : entry.due_ms;
        }
    }
    if (waits_for_due(answer.state) && !facts.is_recurring && answer.due_ms <= now_) answer.state = State::ready;
    return answer;
}

// The record that replaces the message, with what it keeps. Codes: in_flight, not_waiting, repeats.
Result<MessageRecord> Puts::replacing(const Holder& holder) const {
    const KeyFacts& facts = *holder.facts;
    const bool is_entry = holder.known.what == Known::What::entry;
    const State state = is_entry ? recent_.entry(holder.known.entry).state() : facts.state;
    if (state == State::leased) return is_in_flight();
    if (facts.is_recurring || state == State::prepared) return not_replaceable(facts.is_recurring);
    MessageRecord record = is_entry ? changed(recent_.entry(holder.known.entry), RecordKind::replace, Cause::none)
                                    : changed_again(*holder.operation, RecordKind::replace);
    record.time_ms = 0;  // content.put_ms contains it
    record.state.state = state == State::held ? State::held : State::scheduled;
    record.state.attempts_forgiven = record.state.attempts;
    record.state.first_due_ms = 0;
    record.state.work.clear();
    return record;
}

// Adds the record of the put to the batch, or returns the error. Moves from the command.
PutResult Puts::put_one(PutCommand& command, const Holder& holder) {
    std::optional<MessageRecord> former;
    if (holder.facts) {
        if (std::optional<PutResult> answer = answer_of(command, holder)) return *std::move(answer);
        if (replaces(command, *holder.facts)) {
            Result<MessageRecord> replaced = replacing(holder);
            if (!replaced) return std::move(replaced).error();
            former = *std::move(replaced);
        }
    }
    if (segment_.refuses_puts()) {  // a repeated one was answered before
        ++counters_.refused_full;
        return store_full();
    }
    Result<DueMs> due = resolve(command.when);
    if (!due) return due.error();
    const DueMs first_put_ms = former && former->state.first_put_ms != 0 ? former->state.first_put_ms : now_;
    due = std::min(*due, latest_due(command, first_put_ms));
    DueMs expires = 0;
    std::optional<Repeat> repeat;
    if (command.repeat) {
        const Result<Repeat> chosen = chosen_recurring(command, *due);
        if (!chosen) return chosen.error();
        repeat = *chosen;
    } else if (command.expires) {
        const Result<DueMs> at = resolve(*command.expires, "expires_in", "expires");
        if (!at) return at.error();
        if (*at <= std::max(*due, now_)) return expires_too_soon(command.expires->at_ms ? "expires" : "expires_in");
        expires = *at;
    }
    assert(!(command.is_held && command.transaction));
    assert(!former || (!command.transaction && !command.repeat));
    if (command.transaction) {
        if (Status fits = transactions_.check_rule(command); !fits) return std::move(fits).error();
    }
    const QueueNumber queue = recent_.queues().find(command.name_space, command.queue);
    std::optional<RetryRule> retry;
    if (!command.retry.is_empty()) {
        const Result<RetryRule> chosen = chosen_rule(command.retry, queues_.retry_rule(queue));
        if (!chosen) return chosen.error();
        retry = *chosen;
    }
    Namespace* space = queues_.limited_space(queue, command.name_space);
    if (Status fits = queues_.check_put_rate(space); !fits) return std::move(fits).error();
    if (command.transaction) {
        if (Status fits = transactions_.check_queue(command); !fits) return std::move(fits).error();
    }
    if (!former) {
        if (Status fits = queues_.check_room(queue, command.name_space, command.queue, repeat.has_value()); !fits) {
            return std::move(fits).error();
        }
    }
    const bool is_held = command.is_held || (former && former->state.state == State::held);
    // It is accepted from here on.
    if (!former) queues_.count_put(queue, command.name_space, command.queue);
    if (space != nullptr) space->puts.take();
    if (!command.key.empty()) batch().keys.insert(key_name_of(command));
    MessageRecord record;
    if (former) {
        record = *std::move(former);
        const MessageState& before = record.state;
        if (before.expires_ms != expires || before.order_key != command.order_key || before.group != command.group) {
            record.previous.rows.set({true, before.expires_ms, before.order_key, before.group});
        }
    } else {
        record.kind = RecordKind::put;
        record.id = next_id();
        record.time_ms = 0;  // content.put_ms contains it
        record.state.name_space = std::move(command.name_space);
        record.state.queue = std::move(command.queue);
        record.state.key = std::move(command.key);
        if (repeat) record.state.next_occurrence = 1;
    }
    record.state.due_ms = record.state.nominal_due_ms = *due;
    record.state.expires_ms = expires;
    record.state.priority = command.priority;
    record.state.retry = retry;
    record.state.order_key = repeat ? std::string() : std::move(command.order_key);
    record.state.group = std::move(command.group);
    record.state.request_hash = command.request_hash;
    if (!record.state.key.empty()) record.state.first_put_ms = first_put_ms;
    record.content.put_ms = now_;
    copy_content(command, record.content);
    record.content.repeat = repeat;
    PutAnswer answer{record.id, *due <= now_ && !repeat ? State::ready : State::scheduled, *due};
    answer.replaced = record.kind == RecordKind::replace;
    if (is_held) record.state.state = answer.state = State::held;
    if (command.transaction) {
        record.state.state = answer.state = State::prepared;
        record.state.transaction = MessageState::kOpen;
        record.state.due_ms = due_after(command.transaction->check_after_ms);
        record.content.transaction = std::move(command.transaction);
    }
    if (command.imported.is_set()) {
        assert(!former && !repeat && !record.content.transaction);
        restore(*command.imported, record);
        if (answer.state == State::scheduled) answer.state = record.state.state;
    }
    add(answer.replaced ? holder.known.entry : kNoEntry, std::move(record), 0, Error{});
    return answer;
}

}  // namespace duewheel
