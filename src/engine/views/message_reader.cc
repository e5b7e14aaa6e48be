#include "engine/views/message_reader.h"

#include <utility>

#include "base/error_codes.h"
#include "engine/commands/refusals.h"
#include "engine/messages/live_state.h"
#include "message/records/content.h"

namespace duewheel {

void MessageReader::read(const GetCommand& command, ReplyToken token, const SharedLimits& limits) {
    const auto is_foreign = [&](std::string_view of_namespace, std::string_view of_queue) {
        return of_namespace != command.name_space || (limits && !limits->admits_queue(of_queue));
    };
    if (Status legal = check_wait_time(command.wait_ms); !legal) return reply(token, std::move(legal).error());
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
        const auto held = lifecycle_.leases().find(id);
        std::vector<PastAttempt> timeline =
            timeline_of(row, held == lifecycle_.leases().end() ? 0 : held->second.attempt);
        row.state.state = entry.state();
        row.state.attempts = entry.begun;
        row.state.maybe_delivered |= entry.from_past;
        if (entry.has_unwritten_attempt()) row.reason.clear();  // another attempt has started
        if (is_foreign(row.state.name_space, row.state.queue)) return reply(token, unknown_id(id));
        if (must_wait(command, row.state.state, token)) return wait(command, id, token, limits);
        const bool makes_one = entry.waits_for == WaitsFor::occurrence && !entry.in_batch;
        return answer_get(std::move(row), std::move(timeline), token,
                          makes_one ? recurring_.why_waits(number) : ErrorCode::none);
    }
    if (const Outcome* outcome = recent_.outcome(id)) {
        MessageRow row = recent_.row(id, *outcome);
        if (is_foreign(row.state.name_space, row.state.queue)) return reply(token, unknown_id(id));
        if (is_forgotten(row.ended_ms)) return reply(token, gone());
        std::vector<PastAttempt> timeline = timeline_of(row, 0);
        return answer_get(std::move(row), std::move(timeline), token);
    }
    lookups_.start(FindMessage{id}, FactsLookup{std::move(pending)});
}

// A put in the current batch does not hold its key yet.
void MessageReader::get_by_key(PendingCommand pending) {
    const GetCommand command = std::get<GetCommand>(pending.command);
    const ReplyToken token = pending.token;
    MessageId id = 0;
    const std::optional<Verdict> verdict = finder_.name_by_key(pending, command.name_space, command.by_key, id);
    if (!verdict) return read({command.name_space, id, {}, command.wait_ms}, token, pending.limits);
    if (verdict == Verdict::deferred) reply(token, unknown_key());
}

void MessageReader::finish_get(const PendingCommand& pending, std::optional<MessageRow> row, Generation generation) {
    const GetCommand& command = std::get<GetCommand>(pending.command);
    const SharedLimits& limits = pending.limits;
    if (!lookups_.is_fresh(generation) || recent_.find(command.id) != kNoEntry ||
        recent_.outcome(command.id) != nullptr) {
        return read(command, pending.token, limits);
    }
    // Its namespace is not known any more.
    if (!row) return reply(pending.token, limits ? unknown_id(command.id) : gone());
    if (row->state.name_space != command.name_space || (limits && !limits->admits_queue(row->state.queue))) {
        return reply(pending.token, unknown_id(command.id));
    }
    if (row->state.work->cancel_requested && !is_ended(row->state.state)) {
        lifecycle_.load(*row);  // unless it is leased, it ends now; its queue may not load it for long
        return read(command, pending.token, limits);
    }
    if (must_wait(command, row->state.state, pending.token)) return wait(command, command.id, pending.token, limits);
    const DueMs kept_until_ms = is_ended(row->state.state) ? 0 : lifecycle_.kept_until(row->state.work->lease);
    const bool is_known = is_ended(row->state.state) || kept_until_ms != 0;
    row->state.maybe_delivered |= !is_known && earlier_runs_.may_have_delivered(row->id, row->state);
    std::vector<PastAttempt> timeline = timeline_of(*row, kept_until_ms == 0 ? 0 : row->state.attempts);
    answer_get(*std::move(row), std::move(timeline), pending.token);
}

// ---- requests that wait

bool MessageReader::must_wait(const GetCommand& command, State state, ReplyToken token) const {
    return command.wait_ms > 0 && !is_ended(state) && !run_.stopping && token != 0;
}

void MessageReader::wait(const GetCommand& command, MessageId id, ReplyToken token, const SharedLimits& limits) {
    if (!waits_.has_room(command.name_space)) {
        return reply(token, Error{"waiter_limit"_code,
                                  "too many requests already wait for the end of a message: try again later"});
    }
    waits_.add({token, id, command.name_space, limits}, command.wait_ms);
}

void MessageReader::answer(MessageWaits::Wait wait) {
    read({std::move(wait.name_space), wait.id}, wait.token, wait.limits);
}

void MessageReader::answer_ended() {
    for (MessageWaits::Wait& wait : waits_.take_ended()) answer(std::move(wait));
}

void MessageReader::end_wait(std::uint64_t number) {
    if (std::optional<MessageWaits::Wait> wait = waits_.take(number)) answer(*std::move(wait));
}

void MessageReader::stop_waiting() {
    for (MessageWaits::Wait& wait : waits_.take_all()) answer(std::move(wait));
}

// Completes the reply with the content of the message, which is in the log.
void MessageReader::answer_get(MessageRow row, std::vector<PastAttempt> timeline, ReplyToken token,
                               ErrorCode blocked_by) {
    row.state.state = live_state(row.state.state, row.state.due_ms, row.state.is_recurring(), now_);
    MessageLookup read;
    read.token = token;
    read.answer.blocked_by = blocked_by;
    if (const auto held = lifecycle_.leases().find(row.id); held != lifecycle_.leases().end()) {
        read.answer.lease_until_ms = held->second.until_ms;
        read.answer.delivered_ms = held->second.began_ms;
        read.answer.worker = *held->second.worker;
    } else if (const DueMs until_ms = lifecycle_.kept_until(row.state.work->lease);
               until_ms != 0 && recent_.find(row.id) == kNoEntry) {
        row.state.state = State::leased;  // by an earlier run, and not loaded yet
        read.answer.lease_until_ms = until_ms;
        read.answer.delivered_ms = row.state.work->lease.began_ms;
        read.answer.worker = row.state.work->lease.worker;
    }
    if (read.answer.delivered_ms != 0) {
        timeline.push_back({row.state.attempts, read.answer.delivered_ms, 0, {}, {}, read.answer.worker});
    }
    read.answer.timeline = std::move(timeline);
    if (row.state.state == State::ready) {
        const QueueNumber number = recent_.queues().find(row.state.name_space, row.state.queue);
        read.answer.blocked_by = lifecycle_.turns().why_limited(number, row.state.group);
    }
    read.answer.row = std::move(row);
    const bool has_content = !is_ended(read.answer.row.state.state) || read.answer.row.state.state == State::dead;
    if (!has_content) return reply(token, std::move(read.answer));
    if (lookups_.shown_bytes() >= options_.reading_bytes_max) return reply(token, too_busy());
    read.shown_bytes = read.answer.row.record_bytes;
    ReadRecords wanted{{read.answer.row.log_position}};
    lookups_.start(std::move(wanted), std::move(read));
}

void MessageReader::finish(FactsLookup lookup, std::optional<MessageRow> row, Generation generation) {
    PendingCommand& pending = lookup.command;
    if (std::holds_alternative<GetCommand>(pending.command)) return finish_get(pending, std::move(row), generation);
    pending.facts = std::make_unique<std::optional<MessageRow>>(std::move(row));
    pending.facts_generation = generation;
    commands_.push_looked_up(std::move(pending));
}

void MessageReader::finish(KeysLookup lookup, std::vector<std::optional<KeyFacts>> facts, Generation generation) {
    PendingCommand& pending = lookup.command;
    pending.key_facts = std::move(facts);
    pending.key_facts_generation = generation;
    if (std::holds_alternative<GetCommand>(pending.command)) return get_by_key(std::move(pending));
    commands_.push_looked_up(std::move(pending));
}

void MessageReader::finish(MessageLookup lookup, const FoundRecords& records, Generation) {
    MessageAnswer& message = lookup.answer;
    Result<MessageRecord> whole = decode_message(RecordKind::relocate, records.front().body);
    if (!whole) return fail(std::move(whole).error());
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
        message.blocked_by = transactions_.why_check_waits(message.row.state, *message.transaction);
    }
    message.parent = content.parent;
    message.occurrence = content.occurrence;
    message.schedule = content.schedule;
    message.watchdog = content.watchdog;
    message.fed_ms = content.fed_ms;
    reply(lookup.token, std::move(message));
}

// The patch of a rule or a message continues with the whole record. If its segment was deleted since, the record was
// relocated, and is read again.
void MessageReader::finish(WholeRuleLookup lookup, FoundRecords records, Generation) {
    std::visit(
        [&](auto& command) {
            if constexpr (requires {
                              command.record_body;
                              command.log_position;
                          }) {
                if (records.empty()) {
                    command.log_position = 0;
                } else {
                    command.record_body = std::move(records.front().body);
                }
            }
        },
        lookup.command.command);
    commands_.push_looked_up(std::move(lookup.command));
}

}  // namespace duewheel
