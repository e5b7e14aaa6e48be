#include "ingress/answer_text.h"

#include <cassert>

#include "base/json_writer.h"
#include "ingress/content_text.h"
#include "ingress/instant_member.h"
#include "ingress/late_outcome.h"
#include "ingress/lease_text.h"
#include "ingress/list_request.h"
#include "ingress/name_cursor.h"
#include "ingress/namespace_text.h"
#include "ingress/problem.h"
#include "ingress/queue_text.h"
#include "ingress/rule_text.h"
#include "ingress/schedule_text.h"
#include "ingress/token_text.h"
#include "ingress/watchdog_text.h"

namespace duewheel {
namespace {

constexpr std::string_view kJson = "application/json";

HttpResponse json_response(int status, std::string body) {
    HttpResponse response;
    response.status = status;
    response.content_type = kJson;
    response.body = std::move(body);
    return response;
}

void write_id(JsonWriter& json, MessageId id) {
    json.text("id", std::to_string(id));
}

HttpResponse write(const Error& error) {
    return problem(error);
}

constexpr int put_status(const PutAnswer& answer) {
    return answer.repeated ? 200 : 201;
}

void write_members(JsonWriter& json, const PutAnswer& answer) {
    write_id(json, answer.id);
    json.text("state", state_name(answer.state));
    write_instant(json, "due", "due_ms", answer.due_ms);
}

HttpResponse write(const PutAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open();
    write_members(json, answer);
    json.close();
    return json_response(put_status(answer), std::move(body));
}

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
    if (!state.key.empty()) json.text("key", state.key);
    json.number("priority", state.priority).number("attempts", state.attempts);
    json.boolean("maybe_delivered", state.maybe_delivered);
    if (state.is_recurring() && !is_ended(state.state)) json.number("next_occurrence", state.next_occurrence);
}

// Of an occurrence of a recurring message.
void write_parent(JsonWriter& json, MessageId parent) {
    if (parent != 0) json.text("parent", std::to_string(parent));
}

// Of a check message: its prepared message, and the number of the check.
void write_check(JsonWriter& json, MessageId prepared, std::uint64_t number, const TransactionRule& rule) {
    json.open("check")
        .text("message", std::to_string(prepared))
        .number("number", number)
        .number("times", rule.check_times);
    json.text("otherwise", rule.otherwise_commit ? "commit" : "rollback").close();
}

HttpResponse write(const MessageAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open();
    write_row(json, answer.row);
    if (!answer.blocked_by.empty()) json.text("blocked_by", answer.blocked_by);
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
    if (answer.row.ended_ms != 0) write_instant(json, "ended", "ended_ms", answer.row.ended_ms);
    if (!answer.row.reason.empty()) json.text("reason", answer.row.reason);
    if (answer.has_content) write_content(json, answer);
    if (!answer.traceparent.empty()) json.text("traceparent", answer.traceparent);
    json.close();
    return json_response(200, std::move(body));
}

void write_members(JsonWriter& json, const ChangeAnswer& answer) {
    json.text("outcome", change_outcome_name(answer.outcome)).number("attempts", answer.attempts);
    json.boolean("maybe_delivered", answer.maybe_delivered);
    if (answer.due_ms != 0) write_instant(json, "due", "due_ms", answer.due_ms);
}

HttpResponse write(const ChangeAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open();
    write_members(json, answer);
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const SettleAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open();
    write_id(json, answer.id);
    json.text("outcome", answer.committed ? "committed" : "rolled_back").close();
    return json_response(200, std::move(body));
}

HttpResponse write(const LeaseAnswer& answer) {
    std::string body;
    std::size_t bytes = 64;
    for (const Delivered& message : answer.messages) bytes += 400 + message.body.size() + message.body.size() / 8;
    body.reserve(bytes);
    JsonWriter json(body);
    json.open().open_array("messages");
    for (const Delivered& message : answer.messages) {
        json.open();
        write_id(json, message.id);
        json.text("queue", answer.queue).text("lease", lease_text(message.lease));
        json.number("lease_until_ms", message.lease_until_ms);
        if (!message.key.empty()) json.text("key", message.key);
        write_content(json, message);
        if (!message.traceparent.empty()) json.text("traceparent", message.traceparent);
        if (message.check) write_check(json, message.parent, message.occurrence, *message.check);
        if (!message.check) write_parent(json, message.parent);
        if (!message.schedule.empty()) json.text("schedule", message.schedule);
        if (!message.watchdog.empty()) json.text("watchdog", message.watchdog).number("last_fed_ms", message.fed_ms);
        json.number("occurrence", message.check ? 0 : message.occurrence).number("due_ms", message.due_ms);
        json.number("delivered_ms", message.delivered_ms).number("lateness_ms", message.delivered_ms - message.due_ms);
        json.number("attempt", message.attempt).boolean("maybe_delivered", message.maybe_delivered);
        json.close();
    }
    json.close_array().close();
    return json_response(200, std::move(body));
}

void write_members(JsonWriter& json, const LeaseEndAnswer& answer) {
    json.text("outcome", lease_outcome_name(answer.outcome));
    if (answer.due_ms != 0) write_instant(json, "due", "due_ms", answer.due_ms);
    if (answer.lease_until_ms != 0) json.number("lease_until_ms", answer.lease_until_ms);
}

HttpResponse write(const LeaseEndAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open();
    write_members(json, answer);
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const ListAnswer& answer) {
    std::string body;
    body.reserve(64 + 260 * answer.listed.size());
    JsonWriter json(body);
    json.open().open_array("messages");
    for (const ListedMessage& message : answer.listed) {
        json.open();
        write_row(json, message.row);
        if (message.lease_until_ms != 0) json.number("lease_until_ms", message.lease_until_ms);
        if (message.row.ended_ms != 0) write_instant(json, "ended", "ended_ms", message.row.ended_ms);
        if (!message.row.reason.empty()) json.text("reason", message.row.reason);
        json.close();
    }
    json.close_array();
    if (answer.next) json.text("cursor", list_cursor_text({answer.next->due_ms, answer.next->id}, answer.query));
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const QueueAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_queue(json, answer);
    return json_response(200, std::move(body));
}

HttpResponse write(const QueueListAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().open_array("queues");
    for (const QueueAnswer& queue : answer.queues) write_queue(json, queue);
    json.close_array();
    if (!answer.complete)
        json.text("cursor", queue_cursor(answer.queues.back().name_space, answer.queues.back().queue));
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const HistoryAnswer& answer) {
    std::string body;
    body.reserve(64 + 200 * answer.ended.size());
    JsonWriter json(body);
    json.open().open_array("ended");
    for (const EndedRow& row : answer.ended) {
        json.open();
        write_id(json, row.id);
        json.text("queue", answer.queue).text("outcome", state_name(row.outcome)).text("cause", cause_name(row.cause));
        write_instant(json, "ended", "ended_ms", row.ended_ms);
        if (row.outcome == State::done && row.attempts > 0) json.number("lateness_ms", row.lateness_ms);
        json.number("attempts", row.attempts).boolean("maybe_delivered", row.maybe_delivered);
        json.close();
    }
    json.close_array();
    if (answer.next) json.text("cursor", list_cursor_text({answer.next->due_ms, answer.next->id}, answer.query));
    json.close();
    return json_response(200, std::move(body));
}

void write_counts(JsonWriter& json, const ForecastMinute& minute) {
    json.number("due", minute.due()).number("scheduled", minute.scheduled).number("retrying", minute.retrying);
    json.number("recurring", minute.recurring).number("runs", minute.runs);
}

HttpResponse write(const ForecastAnswer& answer) {
    std::string body;
    body.reserve(256 + 150 * answer.minutes.size());
    JsonWriter json(body);
    json.open();
    write_instant(json, "now", "now_ms", answer.now_ms);
    if (!answer.queue.empty()) json.text("queue", answer.queue);
    ForecastMinute total;
    for (const ForecastMinute& minute : answer.minutes) total.add(minute);
    json.boolean("exact", !total.at_least).number("step_ms", answer.step_ms).open("total");
    write_counts(json, total);
    json.close().open_array("minutes");
    for (const ForecastMinute& minute : answer.minutes) {
        json.open();
        write_instant(json, "start", "start_ms", minute.start_ms);
        write_counts(json, minute);
        if (minute.at_least) json.boolean("at_least", true);
        json.close();
    }
    json.close_array().close();
    return json_response(200, std::move(body));
}

HttpResponse write(const ScheduleAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_schedule(json, answer);
    return json_response(answer.created ? 201 : 200, std::move(body));
}

HttpResponse write(const ScheduleListAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().open_array("schedules");
    for (const ScheduleAnswer& schedule : answer.schedules) write_schedule(json, schedule);
    json.close_array();
    if (!answer.complete) {
        const ScheduleAnswer& last = answer.schedules.back();
        json.text("cursor", name_cursor(NameList::schedules, last.name_space, last.name));
    }
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const WatchdogAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_watchdog(json, answer);
    return json_response(answer.created ? 201 : 200, std::move(body));
}

HttpResponse write(const FedAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_fed(json, answer);
    return json_response(200, std::move(body));
}

HttpResponse write(const WatchdogListAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().open_array("watchdogs");
    for (const WatchdogAnswer& watchdog : answer.watchdogs) write_watchdog(json, watchdog);
    json.close_array();
    if (!answer.complete) {
        const WatchdogAnswer& last = answer.watchdogs.back();
        json.text("cursor", name_cursor(NameList::watchdogs, last.name_space, last.name));
    }
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const NamespaceAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_namespace(json, answer);
    return json_response(200, std::move(body));
}

HttpResponse write(const NamespaceListAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().open_array("namespaces");
    for (const NamespaceAnswer& name_space : answer.namespaces) write_namespace(json, name_space);
    json.close_array();
    if (!answer.complete)
        json.text("cursor", name_cursor(NameList::namespaces, "", answer.namespaces.back().name_space));
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const TokenAnswer& answer) {
    return token_text(answer, nullptr);
}

HttpResponse write(const TokenListAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().open_array("tokens");
    for (const TokenAnswer& token : answer.tokens) write_token(json, token, nullptr);
    json.close_array();
    if (!answer.complete) json.text("cursor", name_cursor(NameList::tokens, "", answer.tokens.back().token.id));
    json.close();
    return json_response(200, std::move(body));
}

HttpResponse write(const PreviewAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    write_preview(json, answer);
    return json_response(200, std::move(body));
}

HttpResponse write(const PutBatchAnswer&) {
    return problem({"internal", "a reply went astray"});
}

HttpResponse write(const RedriveAnswer& answer) {
    std::string body;
    JsonWriter json(body);
    json.open().number("redriven", answer.redriven).boolean("more", answer.more).close();
    return json_response(200, std::move(body));
}

HttpResponse write(const RelocateAnswer&) {
    return problem({"internal", "a reply went astray"});
}

HttpResponse write(const TakeRecordsAnswer&) {
    return problem({"internal", "a reply went astray"});
}

void write_part(JsonWriter& json, const Reply& part) {
    if (const auto* error = std::get_if<Error>(&part)) return write_problem(json, *error);
    if (const auto* put = std::get_if<PutAnswer>(&part)) {
        json.number("status", put_status(*put));
        return write_members(json, *put);
    }
    if (const auto* end = std::get_if<LeaseEndAnswer>(&part)) {
        if (const std::optional<Error> late = refusal_of(*end)) {
            write_problem(json, *late);
        } else {
            json.number("status", 200);
        }
        return write_members(json, *end);
    }
    assert(false && "no part of a batch is answered like this");
}

}  // namespace

HttpResponse answer_text(const Reply& reply) {
    return std::visit([](const auto& answer) { return write(answer); }, reply);
}

HttpResponse late_refusal_text(const Error& refusal, const Reply& reply) {
    return problem(refusal, [&](JsonWriter& json) {
        if (const auto* change = std::get_if<ChangeAnswer>(&reply)) write_members(json, *change);
        if (const auto* end = std::get_if<LeaseEndAnswer>(&reply)) write_members(json, *end);
    });
}

HttpResponse batch_text(const std::vector<Reply>& parts, bool of_puts) {
    std::string body;
    body.reserve(parts.size() * 120 + 16);
    JsonWriter json(body);
    if (!of_puts) json.open().open_array("results");
    for (const Reply& part : parts) {
        if (of_puts) {
            JsonWriter line(body);
            line.open();
            write_part(line, part);
            line.close();
            body += '\n';
        } else {
            json.open();
            write_part(json, part);
            json.close();
        }
    }
    if (!of_puts) json.close_array().close();
    HttpResponse response = json_response(200, std::move(body));
    if (of_puts) response.content_type = "application/x-ndjson";
    return response;
}

HttpResponse stats_text(const ServerFacts& server, const EngineCounters& counters, const QueueSums& sums,
                        const std::vector<QueueCounters>& queues, const LatenessLevels& lateness) {
    std::string body;
    JsonWriter json(body);
    json.open();
    json.text("instance", server.instance).text("version", server.version);
    json.number("server_time_ms", counters.server_time_ms);
    json.number("pending", counters.pending).number("ready", counters.ready).number("leased", counters.leased);
    json.number("waiters", counters.waiters).number("dead_letters", sums.dead);
    json.number("accepted", counters.accepted)
        .number("delivered", counters.delivered)
        .number("done", counters.done)
        .number("failed", counters.failed);
    json.number("cancelled", counters.cancelled).number("expired", counters.expired);
    json.number("rescheduled", counters.rescheduled).number("leases_lost", counters.leases_lost);
    json.number("dead", counters.dead).number("held", counters.held).number("requeued", counters.requeued);
    json.number("prepared", counters.prepared).number("committed", counters.committed);
    json.number("rolled_back", counters.rolled_back).number("unanswered", counters.unanswered);
    json.number("checks", counters.checks).number("commits", counters.commits);
    json.number("in_memory", counters.in_memory).number("unsealed_segments", counters.unsealed_segments);
    json.boolean("puts_stalled", counters.puts_stalled).number("disk_free_bytes", server.disk_free_bytes);
    json.number("lateness_p50_ms", lateness.p50_ms).number("lateness_p99_ms", lateness.p99_ms);
    json.number("lateness_max_ms", lateness.max_ms);
    json.number("queue_count", counters.queues).open_array("queues");
    for (const QueueCounters& queue : queues) {
        json.open();
        if (queue.name.name_space != kDefaultNamespace) json.text("namespace", queue.name.name_space);
        json.text("queue", queue.name.queue).number("pending", queue.pending).number("ready", queue.ready);
        json.number("leased", queue.leased).number("waiters", queue.waiters).number("dead", queue.dead);
        json.boolean("paused", queue.paused).boolean("backlog_on_disk", queue.backlog_on_disk);
        if (queue.oldest_due_ms != 0) json.number("oldest_due_ms", queue.oldest_due_ms);
        json.close();
    }
    json.close_array();
    if (!server.kafka.empty()) json.json("kafka", server.kafka);
    json.close();
    return json_response(200, std::move(body));
}

}  // namespace duewheel
