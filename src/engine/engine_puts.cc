// Puts: one or many, with or without idempotency keys.
//
// A key belongs to a namespace and a queue, and names one message during its life and for a time after its end. A
// repeated put with the same request gets the first response; with another request it is refused. The holder of a key
// can be in the batch that is being built (the put waits for it), in the recent tier, or in the index, which is looked
// up.
#include <algorithm>
#include <cassert>

#include "engine/copy_content.h"
#include "engine/engine.h"

namespace duewheel {
namespace {

std::string key_name_of(const PutCommand& put) {
    return key_name(put.name_space, put.queue, put.key);
}

Error key_conflict() {
    return {
        "key_conflict",
        "this key was used by a different request: use another key for a new message, and repeat a request unchanged",
        "key"};
}

}  // namespace

// Which message holds the key. `facts`: the lookup result of the index; null if there was no lookup, or it is older
// than the newest table. `busy`: no message holds it yet, but a put in the batch will.
Engine::KeyLookup Engine::look_up_key(std::string_view name_space, std::string_view queue_name, std::string_view key,
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
    }
    if (found.holder.id == 0) return {What::free, {}};
    if (is_forgotten(found.holder.ended_ms)) return {What::free, {}};
    if (const EntryNumber number = recent_.find(found.holder.id); number != kNoEntry) {
        found.state = recent_.entry(number).state;
        found.is_recurring = recent_.entry(number).is_recurring;
    } else if (const Outcome* outcome = recent_.outcome(found.holder.id)) {
        found.state = outcome->state;
    }
    return {What::held, found};
}

// Sets the holder of each key; nothing if a put has no key, or its key is free. Otherwise returns why the puts cannot
// be decided yet.
std::optional<Verdict> Engine::look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                            std::vector<std::optional<KeyFacts>>& holders) {
    const bool fresh = pending.key_facts && lookups_.is_fresh(pending.key_facts_generation);
    holders.resize(puts.size());
    bool needs_lookup = false;
    std::size_t keyed = 0;
    for (std::size_t i = 0; i < puts.size(); ++i) {
        if (puts[i].key.empty()) continue;
        const KeyLookup found =
            look_up_key(puts[i].name_space, puts[i].queue, puts[i].key, fresh ? &(*pending.key_facts)[keyed] : nullptr);
        ++keyed;
        if (found.what == KeyLookup::What::busy) return Verdict::deferred;
        if (found.what == KeyLookup::What::needs_lookup) needs_lookup = true;
        if (found.what == KeyLookup::What::held) holders[i] = found.holder;
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

Verdict Engine::put(PendingCommand& pending, PutCommand& command) {
    std::optional<KeyFacts> holder;
    if (!command.key.empty()) {
        std::vector<std::optional<KeyFacts>> holders;
        if (const auto verdict = look_up_keys(pending, {&command, 1}, holders)) return *verdict;
        holder = holders.front();
    }
    if (const auto verdict = seconds_.find_all(pending, {&command, 1}, {&holder, 1})) return *verdict;
    const std::size_t before = batch().count();
    PutResult result = put_one(command, holder);
    Reply answer = std::visit([](auto& value) { return Reply(std::move(value)); }, result);
    if (batch().count() == before) return replied(pending, std::move(answer));
    batch().operations().back().token = pending.token;
    batch().operations().back().reply = std::move(answer);
    return Verdict::settled;
}

Verdict Engine::put_batch(PendingCommand& pending, PutBatchCommand& command) {
    std::vector<std::optional<KeyFacts>> holders;
    if (const auto verdict = look_up_keys(pending, command.puts, holders)) return *verdict;
    if (const auto verdict = seconds_.find_all(pending, command.puts, holders)) return *verdict;
    const std::size_t before = batch().count();
    PutBatchAnswer answer;
    answer.results.reserve(command.puts.size());
    HeldKeys held_here;
    for (std::size_t i = 0; i < command.puts.size(); ++i) {
        PutCommand& put = command.puts[i];
        answer.results.push_back(put_one_of(put, holders[i], held_here));
    }
    if (batch().count() == before) return replied(pending, std::move(answer));
    // All of them are in one commit, so the reply is sent with the last.
    batch().operations().back().token = pending.token;
    batch().operations().back().reply = std::move(answer);
    return Verdict::settled;
}

// One of several puts of a request: one before it may have got its key.
PutResult Engine::put_one_of(PutCommand& put, std::optional<KeyFacts>& holder, HeldKeys& held_here) {
    if (put.key.empty()) return put_one(put, holder);
    std::string name = key_name_of(put);
    if (const auto held = held_here.find(name); held != held_here.end()) holder = held->second;
    const std::uint64_t hash = put.request_hash;
    const bool is_recurring = put.repeat.has_value();
    PutResult result = put_one(put, holder);
    if (const auto* made = std::get_if<PutAnswer>(&result)) {
        held_here[std::move(name)] = {{made->id, hash, made->due_ms, 0}, made->state, is_recurring};
    }
    return result;
}

// The rule of the recurring message that is put. It refers to the texts of the command.
Result<Repeat> Engine::chosen_recurring(const PutCommand& command, DueMs start) const {
    if (command.expires && command.expires->at_ms) {
        return Error{"conflicting_members",
                     "all occurrences of a recurring message would expire at the same instant: give `expires_in`, "
                     "which counts from the due time of each, or `repeat.until`, after which there are none",
                     "expires"};
    }
    if (command.expires) {
        if (const Result<DueMs> at = resolve(*command.expires, "expires_in", "expires"); !at) return at.error();
        if (command.expires->delay_ms < 1) return expires_too_soon("expires_in");
    }
    if (start < now_ - kRepeatEveryMaxMs) {
        return Error{"out_of_range",
                     "a recurring message makes up for all times since its first, which can be up to 3660 days ago: "
                     "give a later time, in milliseconds if it is a number",
                     "due"};
    }
    const Result<RepeatRule> rule = chosen_repeat(*command.repeat, start, options_.repeat_times_max);
    if (!rule) return rule.error();
    return Repeat{*rule, command.order_key, command.expires ? command.expires->delay_ms : 0};
}

// Adds the record of the put to the batch, or returns the error. Moves from the command.
PutResult Engine::put_one(PutCommand& command, const std::optional<KeyFacts>& holder) {
    if (holder) {
        if (holder->holder.request_hash != command.request_hash) return key_conflict();
        State state = holder->state;
        if (waits_for_due(state) && !holder->is_recurring && holder->holder.due_ms <= now_) state = State::ready;
        return PutAnswer{holder->holder.id, state, holder->holder.due_ms, true};
    }
    if (segment_.refuses_puts()) {  // a repeated one was answered before
        ++counters_.refused_full;
        return store_full();
    }
    Result<DueMs> due = resolve(command.when);
    if (!due) return due.error();
    if (Status fits = seconds_.check_flex(command.flex_ms); !fits) return std::move(fits).error();
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
    if (command.transaction) {
        if (Status fits = check_transaction(command); !fits) return std::move(fits).error();
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
        if (Status fits = validate_check_queue(command); !fits) return std::move(fits).error();
    }
    if (Status fits = queues_.check_room(queue, command.name_space, command.queue, repeat.has_value()); !fits) {
        return std::move(fits).error();
    }
    if (!command.is_held) {
        const DueMs before_ms = command.repeat && command.repeat->until_ms ? *command.repeat->until_ms + 1 : expires;
        due = seconds_.place(queue, *due, seconds_.latest_due(*due, command.flex_ms, before_ms), std::nullopt);
        if (!due) return due.error();
        if (repeat) repeat->rule.start_ms = *due;
    }
    // It is accepted from here on.
    queues_.count_put(queue, command.name_space, command.queue);
    if (!command.is_held && !command.transaction) seconds_.take(queue, *due);
    if (space != nullptr) space->puts.take();
    if (!command.key.empty()) batch().keys.insert(key_name_of(command));
    Record record;
    record.kind = RecordKind::put;
    record.id = next_id();
    record.time_ms = 0;  // content.put_ms contains it
    record.state.due_ms = record.state.nominal_due_ms = *due;
    record.state.expires_ms = expires;
    record.state.priority = command.priority;
    record.state.retry = retry;
    if (!repeat) record.state.order_key = std::move(command.order_key);
    if (repeat) record.state.next_occurrence = 1;
    record.state.name_space = std::move(command.name_space);
    record.state.queue = std::move(command.queue);
    record.state.key = std::move(command.key);
    record.state.request_hash = command.request_hash;
    record.content.put_ms = now_;
    copy_content(command, record.content);
    record.content.repeat = repeat;
    PutAnswer answer{record.id, *due <= now_ && !repeat ? State::ready : State::scheduled, *due};
    if (command.is_held) record.state.state = answer.state = State::held;
    if (command.transaction) {
        record.state.state = answer.state = State::prepared;
        record.state.transaction = MessageState::kOpen;
        record.state.due_ms = now_ + command.transaction->check_after_ms;
        record.content.transaction = std::move(command.transaction);
    }
    add(kNoEntry, std::move(record), 0, Error{});
    return answer;
}

}  // namespace duewheel
