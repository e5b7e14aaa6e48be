#include "engine/messages/puts.h"

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
        "this key was used by a different request: use another key for a new message, and repeat a request unchanged",
        "key"};
}

}  // namespace

Verdict Puts::decide(PendingCommand& pending, PutCommand& command) {
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
    batch().answer_with_last(pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Puts::decide(PendingCommand& pending, PutBatchCommand& command) {
    std::vector<std::optional<KeyFacts>> holders;
    if (const auto verdict = look_up(pending, command.puts, holders)) return *verdict;
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
    batch().answer_with_last(pending.token, std::move(answer));
    return Verdict::settled;
}

std::optional<Verdict> Puts::look_up(PendingCommand& pending, std::span<const PutCommand> puts,
                                     std::vector<std::optional<KeyFacts>>& holders) {
    if (const auto verdict = look_up_keys(pending, puts, holders)) return verdict;
    return seconds_.find_all(pending, puts, holders);
}

// Sets the holder of each key; nothing if a put has no key, or its key is free. Otherwise returns why the puts cannot
// be decided yet.
std::optional<Verdict> Puts::look_up_keys(PendingCommand& pending, std::span<const PutCommand> puts,
                                          std::vector<std::optional<KeyFacts>>& holders) {
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

// ---- one put

PutResult Puts::put_one_of(PutCommand& put, std::optional<KeyFacts>& holder, HeldKeys& held_here) {
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

// Adds the record of the put to the batch, or returns the error. Moves from the command.
PutResult Puts::put_one(PutCommand& command, const std::optional<KeyFacts>& holder) {
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
    MessageRecord record;
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
        record.state.due_ms = due_after(command.transaction->check_after_ms);
        record.content.transaction = std::move(command.transaction);
    }
    add(kNoEntry, std::move(record), 0, Error{});
    return answer;
}

}  // namespace duewheel
