#include "http_api/answers/answer_text.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "http_api/answers/group_text.h"
#include "http_api/answers/message_text.h"
#include "http_api/answers/name_cursor.h"
#include "http_api/answers/namespace_text.h"
#include "http_api/answers/queue_text.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/answers/token_text.h"
#include "http_api/answers/watchdog_text.h"
#include "http_api/calls/late_outcome.h"
#include "http_api/fields/instant_member.h"
#include "http_api/fields/json_response.h"
#include "http_api/problem.h"
#include "http_api/requests/list_request.h"

namespace duewheel {
namespace {

constexpr std::string_view kJsonLines = "application/x-ndjson";

HttpResponse write(const Error& error) {
    return problem(error);
}

constexpr int put_status(const PutAnswer& answer) {
    return answer.repeated || answer.replaced ? 200 : 201;
}

void write_members(JsonWriter& json, const PutAnswer& answer) {
    write_id(json, answer.id);
    json.text("state", state_name(answer.state));
    write_instant(json, "due", "due_ms", answer.due_ms);
    if (answer.kept) json.boolean("kept", true);
    if (answer.replaced) json.boolean("replaced", true);
    if (!answer.repeated || !is_ended(answer.state)) return;
    json.boolean("ended", true);
    json.text("hint",
              "the message of this key has ended, and nothing was put: for a new message give `on_key`, "
              "\"keep\", or another key");
}

void write_members(JsonWriter& json, const ChangeAnswer& answer) {
    json.text("outcome", change_outcome_name(answer.outcome)).number("attempts", answer.attempts);
    json.boolean("maybe_delivered", answer.maybe_delivered);
    if (answer.due_ms != 0) write_instant(json, "due", "due_ms", answer.due_ms);
}

void write_members(JsonWriter& json, const LeaseEndAnswer& answer) {
    json.text("outcome", lease_outcome_name(answer.outcome));
    if (answer.due_ms != 0) write_instant(json, "due", "due_ms", answer.due_ms);
    if (answer.lease_until_ms != 0) json.number("lease_until_ms", answer.lease_until_ms);
    if (answer.cancel_requested) json.boolean("cancel_requested", true);
}

// An object with the members of this reply.
template <class Answer>
HttpResponse members_of(int status, const Answer& answer) {
    return json_response(status, [&](JsonWriter& json) {
        write_members(json.open(), answer);
        json.close();
    });
}

// A page of a list, with a cursor if it is not the last one.
template <class List, class WriteEach>
HttpResponse page(std::string_view name, const List& list, const std::optional<std::string>& cursor,
                  WriteEach write_each, std::size_t bytes_expected = 0) {
    return json_response(
        200,
        [&](JsonWriter& json) {
            json.open().open_array(name);
            for (const auto& each : list) write_each(json, each);
            json.close_array();
            if (cursor) json.text("cursor", *cursor);
            json.close();
        },
        bytes_expected);
}

// A page of schedules or watchdogs.
template <class Rules, class WriteEach>
HttpResponse rule_page(NameList names, std::string_view name, const Rules& rules, bool complete, WriteEach write_each) {
    std::optional<std::string> cursor;
    if (!complete) cursor = name_cursor(names, rules.back().name_space, rules.back().name);
    return page(name, rules, cursor, write_each);
}

std::optional<std::string> next_rows(const std::optional<DuePosition>& next, std::uint64_t query) {
    if (!next) return std::nullopt;
    return list_cursor_text({next->due_ms, next->id}, query);
}

HttpResponse write(const PutAnswer& answer) {
    return members_of(put_status(answer), answer);
}

HttpResponse write(const MessageAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_message(json, answer); });
}

HttpResponse write(const ChangeAnswer& answer) {
    return members_of(answer.outcome == ChangeOutcome::cancelling ? 202 : 200, answer);
}

HttpResponse write(const SettleAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) {
        write_id(json.open(), answer.id);
        json.text("outcome", answer.committed ? "committed" : "rolled_back").close();
    });
}

HttpResponse write(const LeaseAnswer& answer) {
    std::size_t bytes = 64;
    for (const Delivered& message : answer.messages) bytes += 400 + message.body.size() + message.body.size() / 8;
    const auto write_each = [&](JsonWriter& json, const Delivered& message) {
        write_delivered(json, answer.queue, message);
    };
    return page("messages", answer.messages, std::nullopt, write_each, bytes);
}

HttpResponse write(const LeaseEndAnswer& answer) {
    return members_of(200, answer);
}

HttpResponse write(const ListAnswer& answer) {
    return page("messages", answer.listed, next_rows(answer.next, answer.query), write_listed,
                64 + 260 * answer.listed.size());
}

HttpResponse write(const QueueAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_queue(json, answer); });
}

HttpResponse write(const QueueListAnswer& answer) {
    std::optional<std::string> cursor;
    if (!answer.complete) cursor = queue_cursor(answer.queues.back().name_space, answer.queues.back().queue);
    return page("queues", answer.queues, cursor, write_queue);
}

HttpResponse write(const HistoryAnswer& answer) {
    const auto write_each = [&](JsonWriter& json, const EndedRow& row) { write_ended(json, answer.queue, row); };
    return page("ended", answer.ended, next_rows(answer.next, answer.query), write_each,
                64 + 200 * answer.ended.size());
}

void write_counts(JsonWriter& json, const ForecastMinute& minute) {
    json.number("due", minute.due()).number("scheduled", minute.scheduled).number("retrying", minute.retrying);
    json.number("recurring", minute.recurring).number("runs", minute.runs);
}

HttpResponse write(const ForecastAnswer& answer) {
    return json_response(
        200,
        [&](JsonWriter& json) {
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
        },
        256 + 150 * answer.minutes.size());
}

HttpResponse write(const ScheduleAnswer& answer) {
    return json_response(answer.created ? 201 : 200, [&](JsonWriter& json) { write_schedule(json, answer); });
}

HttpResponse write(const ScheduleListAnswer& answer) {
    return rule_page(NameList::schedules, "schedules", answer.schedules, answer.complete, write_schedule);
}

HttpResponse write(const WatchdogAnswer& answer) {
    return json_response(answer.created ? 201 : 200, [&](JsonWriter& json) { write_watchdog(json, answer); });
}

HttpResponse write(const FedAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_fed(json, answer); });
}

HttpResponse write(const WatchdogListAnswer& answer) {
    return rule_page(NameList::watchdogs, "watchdogs", answer.watchdogs, answer.complete, write_watchdog);
}

HttpResponse write(const NamespaceAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_namespace(json, answer); });
}

HttpResponse write(const NamespaceListAnswer& answer) {
    std::optional<std::string> cursor;
    if (!answer.complete) cursor = name_cursor(NameList::namespaces, "", answer.namespaces.back().name_space);
    return page("namespaces", answer.namespaces, cursor, write_namespace);
}

HttpResponse write(const GroupAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_group(json, answer); });
}

HttpResponse write(const GroupListAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) {
        json.open().open_array("groups");
        for (const GroupAnswer& group : answer.groups) write_group(json, group);
        json.close_array().number("known", answer.known).boolean("more", !answer.complete).close();
    });
}

HttpResponse write(const TokenAnswer& answer) {
    return token_text(answer, nullptr);
}

HttpResponse write(const TokenListAnswer& answer) {
    std::optional<std::string> cursor;
    if (!answer.complete) cursor = name_cursor(NameList::tokens, "", answer.tokens.back().token.id);
    const auto write_each = [](JsonWriter& json, const TokenAnswer& token) { write_token(json, token, nullptr); };
    return page("tokens", answer.tokens, cursor, write_each);
}

HttpResponse write(const PreviewAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) { write_preview(json, answer); });
}

HttpResponse write(const RedriveAnswer& answer) {
    return json_response(200, [&](JsonWriter& json) {
        json.open().number("redriven", answer.redriven).boolean("more", answer.more).close();
    });
}

// These are never passed on alone.
template <class Answer>
requires std::same_as<Answer, PutBatchAnswer> || std::same_as<Answer, RelocateAnswer> ||
    std::same_as<Answer, TakeRecordsAnswer>
        HttpResponse write(const Answer&) {
    return problem({"internal"_code, "a reply went astray"});
}

void write_part(JsonWriter& json, const Error& error) {
    write_problem(json, error);
}

void write_part(JsonWriter& json, const PutAnswer& put) {
    json.number("status", put_status(put));
    write_members(json, put);
}

void write_part(JsonWriter& json, const LeaseEndAnswer& end) {
    if (const std::optional<Error> late = refusal_of(end)) {
        write_problem(json, *late);
    } else {
        json.number("status", 200);
    }
    write_members(json, end);
}

void write_part(JsonWriter& json, const PartAnswer& part) {
    std::visit([&](const auto& answer) { write_part(json, answer); }, part);
}

}  // namespace

HttpResponse answer_text(const Reply& reply) {
    return std::visit([](const auto& answer) { return write(answer); }, reply);
}

HttpResponse late_answer_text(Reply reply) {
    const bool is_large =
        std::holds_alternative<LeaseAnswer>(reply) || std::holds_alternative<ListAnswer>(reply) ||
        std::holds_alternative<HistoryAnswer>(reply) || std::holds_alternative<QueueListAnswer>(reply) ||
        std::holds_alternative<GroupListAnswer>(reply) || std::holds_alternative<ForecastAnswer>(reply);
    if (!is_large) return answer_text(reply);
    // Shared, because a std::function is copyable.
    HttpResponse response{.status = 200, .content_type = "application/json"};
    response.write_body = [kept = std::make_shared<const Reply>(std::move(reply))] { return answer_text(*kept).body; };
    return response;
}

HttpResponse late_refusal_text(const Error& refusal, const Reply& reply) {
    return problem(refusal, [&](JsonWriter& json) {
        if (const auto* change = std::get_if<ChangeAnswer>(&reply)) write_members(json, *change);
        if (const auto* end = std::get_if<LeaseEndAnswer>(&reply)) write_members(json, *end);
    });
}

HttpResponse batch_text(const std::vector<PartAnswer>& parts, bool of_puts) {
    if (!of_puts) {
        const auto write_each = [](JsonWriter& json, const PartAnswer& part) {
            write_part(json.open(), part);
            json.close();
        };
        return page("results", parts, std::nullopt, write_each, parts.size() * 120 + 16);
    }
    HttpResponse response{.status = 200, .content_type = std::string(kJsonLines)};
    response.body.reserve(parts.size() * 120);
    for (const PartAnswer& part : parts) {
        JsonWriter line(response.body);
        write_part(line.open(), part);
        line.close();
        response.body += '\n';
    }
    return response;
}

HttpResponse late_batch_text(std::vector<PartAnswer> parts, bool of_puts) {
    HttpResponse response{.status = 200, .content_type = of_puts ? std::string(kJsonLines) : "application/json"};
    response.write_body = [kept = std::make_shared<const std::vector<PartAnswer>>(std::move(parts)), of_puts] {
        return batch_text(*kept, of_puts).body;
    };
    return response;
}

}  // namespace duewheel
