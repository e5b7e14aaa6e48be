#include "http_api/answers/message_text.h"

#include <cstdint>
#include <string>

#include "http_api/answers/lease_text.h"
#include "http_api/answers/rule_text.h"
#include "http_api/fields/instant_member.h"
#include "http_api/fields/json_text.h"
#include "http_api/requests/content_text.h"

namespace duewheel {
namespace {

// Writes the members of a message except its content into the open object.
void write_row(JsonWriter& json, const MessageRow& row) {
    const MessageState& state = row.state;
    write_id(json, row.id);
    if (state.name_space != kDefaultNamespace) json.text("namespace", state.name_space);
    json.text("queue", state.queue).text("state", state_name(state.state));
    const bool was_prepared = state.transaction >= MessageState::kOpen;  // and still is, unless it has ended
    write_instant(json, "due", "due_ms", was_prepared ? state.nominal_due_ms : state.due_ms);
    if (state.state == State::prepared) {
        write_instant(json, "answer_by", "answer_by_ms", state.due_ms);
        json.number("checks", state.checks());
    } else if (!was_prepared && state.nominal_due_ms != state.due_ms) {
        json.number("nominal_due_ms", state.nominal_due_ms);
    }
    if (state.expires_ms != 0) write_instant(json, "expires", "expires_ms", state.expires_ms);
    if (!state.order_key.empty()) json.text("order_key", state.order_key);
    if (!state.group.empty()) json.text("group", state.group);
    if (!state.key.empty()) json.text("key", state.key);
    json.number("priority", state.priority).number("attempts", state.attempts);
    json.boolean("maybe_delivered", state.maybe_delivered);
    if (state.is_recurring() && !is_ended(state.state)) json.number("next_occurrence", state.next_occurrence);
}

// Writes `parent`, for an occurrence of a recurring message.
void write_parent(JsonWriter& json, MessageId parent) {
    if (parent != 0) json.text("parent", std::to_string(parent));
}

// Writes `check`: the prepared message of a check message, and the number of the check.
void write_check(JsonWriter& json, MessageId prepared, std::uint64_t number, const TransactionRule& rule) {
    json.open("check")
        .text("message", std::to_string(prepared))
        .number("number", number)
        .number("times", rule.check_times);
    json.text("otherwise", rule.otherwise_commit ? "commit" : "rollback").close();
}

// Writes what its workers have said, and its attempts.
void write_work(JsonWriter& json, const MessageAnswer& answer) {
    const WorkState& work = *answer.row.state.work;
    if (!answer.worker.empty()) json.text("worker", answer.worker);
    if (!work.progress.empty()) json.json("progress", on_one_line(work.progress));
    if (!work.checkpoint.empty()) json.json("checkpoint", on_one_line(work.checkpoint));
    if (answer.timeline.empty()) return;
    json.open_array("timeline");
    for (const PastAttempt& attempt : answer.timeline) write_attempt(json, attempt);
    json.close_array();
}

}  // namespace

void write_attempt(JsonWriter& json, const PastAttempt& attempt) {
    json.open().number("attempt", attempt.attempt);
    write_instant(json, "started", "started_ms", attempt.started_ms);
    if (attempt.ended_ms != 0) {
        write_instant(json, "ended", "ended_ms", attempt.ended_ms);
        json.text("outcome", attempt_outcome_name(attempt.outcome));
    }
    if (!attempt.reason.empty()) json.text("reason", attempt.reason);
    if (!attempt.worker.empty()) json.text("worker", attempt.worker);
    json.close();
}

void write_id(JsonWriter& json, MessageId id) {
    json.text("id", std::to_string(id));
}

void write_message(JsonWriter& json, const MessageAnswer& answer) {
    json.open();
    write_row(json, answer.row);
    if (answer.blocked_by != ErrorCode::none) json.text("blocked_by", name_of(answer.blocked_by));
    if (answer.row.state.retry) write_retry(json, *answer.row.state.retry);
    if (answer.repeat) write_repeat(json, *answer.repeat);
    if (answer.expires_in_ms != 0) json.number("expires_in_ms", answer.expires_in_ms);
    const bool is_check = answer.transaction && answer.parent != 0;
    if (answer.transaction) {
        is_check ? write_check(json, answer.parent, answer.occurrence, *answer.transaction)
                 : write_transaction(json, *answer.transaction);
    }
    if (!is_check) write_parent(json, answer.parent);
    if (!answer.schedule.empty()) json.text("schedule", answer.schedule);
    if (!answer.watchdog.empty()) {
        json.text("watchdog", answer.watchdog);
        write_instant(json, "last_fed", "last_fed_ms", answer.fed_ms);
    }
    const bool was_made = !answer.schedule.empty() || !answer.watchdog.empty();
    if ((answer.parent != 0 && !is_check) || was_made) json.number("occurrence", answer.occurrence);
    if (answer.put_ms != 0) json.number("put_ms", answer.put_ms);
    if (answer.lease_until_ms != 0) json.number("lease_until_ms", answer.lease_until_ms);
    if (answer.row.state.work->cancel_requested) json.boolean("cancel_requested", true);
    if (answer.delivered_ms != 0) json.number("delivered_ms", answer.delivered_ms);
    write_work(json, answer);
    if (answer.row.ended_ms != 0) write_instant(json, "ended", "ended_ms", answer.row.ended_ms);
    if (!answer.row.reason.empty()) json.text("reason", answer.row.reason);
    if (!answer.row.state.work->result.empty()) json.json("result", on_one_line(answer.row.state.work->result));
    if (answer.has_content) write_content(json, answer);
    if (!answer.traceparent.empty()) json.text("traceparent", answer.traceparent);
    json.close();
}

void write_delivered(JsonWriter& json, std::string_view queue, const Delivered& message) {
    json.open();
    write_id(json, message.id);
    json.text("queue", queue).text("lease", lease_text(message.lease));
    json.number("lease_until_ms", message.lease_until_ms);
    if (!message.group.empty()) json.text("group", message.group);
    if (!message.key.empty()) json.text("key", message.key);
    if (!message.checkpoint.empty()) json.json("checkpoint", on_one_line(message.checkpoint));
    write_content(json, message);
    if (!message.traceparent.empty()) json.text("traceparent", message.traceparent);
    if (message.check) write_check(json, message.parent, message.occurrence, *message.check);
    if (!message.check) write_parent(json, message.parent);
    if (!message.schedule.empty()) json.text("schedule", message.schedule);
    if (!message.watchdog.empty()) json.text("watchdog", message.watchdog).number("last_fed_ms", message.fed_ms);
    json.number("occurrence", message.check ? 0 : message.occurrence).number("due_ms", message.due_ms);
    json.number("delivered_ms", message.delivered_ms).number("lateness_ms", message.lateness_ms);
    json.number("wait_ms", message.wait_ms);
    json.number("attempt", message.attempt).boolean("maybe_delivered", message.maybe_delivered);
    json.close();
}

void write_listed(JsonWriter& json, const ListedMessage& message) {
    json.open();
    write_row(json, message.row);
    if (message.blocked_by != ErrorCode::none) json.text("blocked_by", name_of(message.blocked_by));
    if (message.lease_until_ms != 0) json.number("lease_until_ms", message.lease_until_ms);
    if (message.row.state.work->cancel_requested) json.boolean("cancel_requested", true);
    if (!message.worker.empty()) json.text("worker", message.worker);
    if (message.row.ended_ms != 0) write_instant(json, "ended", "ended_ms", message.row.ended_ms);
    if (!message.row.reason.empty()) json.text("reason", message.row.reason);
    json.close();
}

void write_ended(JsonWriter& json, std::string_view queue, const EndedRow& row) {
    json.open();
    write_id(json, row.id);
    json.text("queue", queue).text("outcome", state_name(row.outcome)).text("cause", cause_name(row.cause));
    write_instant(json, "ended", "ended_ms", row.ended_ms);
    if (row.outcome == State::done && row.attempts > 0) {
        json.number("lateness_ms", row.lateness_ms).number("wait_ms", row.wait_ms);
    }
    json.number("attempts", row.attempts).boolean("maybe_delivered", row.maybe_delivered);
    json.close();
}

}  // namespace duewheel
