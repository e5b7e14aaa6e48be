#include "transfer/message_line.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "http_api/access/path_names.h"
#include "http_api/answers/rule_text.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/work_members.h"
#include "http_api/requests/content_text.h"
#include "http_api/requests/idempotency_key.h"
#include "http_api/requests/repeat_request.h"
#include "http_api/requests/transaction_request.h"
#include "message/records/past_attempts.h"
#include "transfer/line_members.h"
#include "transfer/line_options.h"

namespace duewheel {
namespace {

constexpr std::string_view kMembers[] = {"kind",
                                         "id",
                                         "namespace",
                                         "queue",
                                         "state",
                                         "due",
                                         "due_ms",
                                         "expires",
                                         "expires_ms",
                                         "expires_in",
                                         "expires_in_ms",
                                         "priority",
                                         "order_key",
                                         "group",
                                         "key",
                                         "retry",
                                         "attempts",
                                         "attempts_counted",
                                         "maybe_delivered",
                                         "nominal_due_ms",
                                         "reason",
                                         "progress",
                                         "checkpoint",
                                         "timeline",
                                         "put_ms",
                                         "first_put_ms",
                                         "repeat",
                                         "next_occurrence",
                                         "checks",
                                         "parent",
                                         "schedule",
                                         "transaction",
                                         "answer_by_ms",
                                         "watchdog",
                                         "last_fed_ms",
                                         "check_of",
                                         "ended_ms",
                                         "occurrence",
                                         "body",
                                         "body_base64",
                                         "content_type",
                                         "headers",
                                         "kafka",
                                         "traceparent"};

void write_id(JsonWriter& json, std::string_view name, MessageId id) {
    if (id != 0) json.text(name, std::to_string(id));
}

template <class Number>
void write_unless_0(JsonWriter& json, std::string_view name, Number value) {
    if (value != 0) json.number(name, value);
}

void write_unless_empty(JsonWriter& json, std::string_view name, std::string_view value) {
    if (!value.empty()) json.text(name, value);
}

Error missing(std::string_view member) {
    return {"missing_member"_code, "a message has `" + std::string(member) + "`", std::string(member)};
}

Error out_of_range(std::string_view member, std::string_view what) {
    return {"out_of_range"_code, "`" + std::string(member) + "` is " + std::string(what), std::string(member)};
}

// A whole number that fits the member's type; without a value the member is unchanged.
template <class Number>
Status read_number(const JsonRequest& json, std::string_view member, Number& into) {
    const Result<std::optional<std::int64_t>> read = json.integer(member);
    if (!read) return read.error();
    if (!*read) return {};
    constexpr auto kMax = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::numeric_limits<Number>::max(), std::numeric_limits<std::int64_t>::max()));
    if (**read < 1 || **read > kMax) {
        return out_of_range(member, "a whole number from 1 to " + std::to_string(kMax) + "; omit it if it is 0");
    }
    into = static_cast<Number>(**read);
    return {};
}

Status read_id(const JsonRequest& json, std::string_view member, MessageId& into) {
    const Result<std::optional<std::string_view>> text = json.text(member);
    if (!text) return text.error();
    if (!*text) return {};
    const Result<MessageId> id = parse_message_id(**text);
    if (!id || *id == 0) {
        return Error{"bad_id"_code, "`" + std::string(member) + "` must be an id, a string of digits",
                     std::string(member)};
    }
    into = *id;
    return {};
}

Status read_state(const JsonRequest& json, State& into) {
    const Result<std::optional<std::string_view>> text = json.text("state");
    if (!text) return text.error();
    if (!*text) return missing("state");
    for (const State state :
         {State::prepared, State::scheduled, State::ready, State::retrying, State::held, State::dead}) {
        if (state_name(state) != **text) continue;
        into = state;
        return {};
    }
    return Error{"bad_state"_code, "`state` must be one of prepared, scheduled, ready, retrying, held, dead", "state"};
}

Status read_repeat(const JsonRequest& json, MessageLine& line) {
    const Result<std::optional<RepeatChoice>> choice = read_repeat(json);
    if (!choice) return choice.error();
    if (!*choice) return {};
    const Result<RepeatRule> rule = chosen_repeat(**choice, line.due_ms, std::numeric_limits<std::int64_t>::max());
    if (!rule) return rule.error();
    line.repeat = *rule;
    if (line.next_occurrence == 0) return missing("next_occurrence");
    if (rule->times != 0 && line.next_occurrence > rule->times) {
        return out_of_range("next_occurrence",
                            "it must not exceed `repeat.times`: a recurring message has at least one more occurrence");
    }
    return {};
}

Status read_transaction(const JsonRequest& json, MessageLine& line) {
    Result<std::optional<TransactionRule>> rule = read_transaction(json, line_options());
    if (!rule) return std::move(rule).error();
    line.transaction = *std::move(rule);
    if (line.transaction.has_value() == (line.state == State::prepared)) return {};
    if (line.transaction) return Error{"bad_state"_code, "a message with `transaction` must be prepared", "state"};
    return missing("transaction");
}

Status read_content(const JsonRequest& json, MessageLine& line) {
    PutCommand content;
    if (Status read = read_content_members(json, line_options(), content); !read) return read;
    line.priority = content.priority;
    line.order_key = std::move(content.order_key);
    line.group = std::move(content.group);
    line.retry = content.retry;
    move_content(content, line);
    return {};
}

// Checks conditions on several members.
Status check(const JsonRequest& json, const MessageLine& line) {
    if (line.id == 0) return missing("id");
    if (line.queue.empty()) return missing("queue");
    if (!json.has_time("due")) return missing("due");
    const bool is_recurring = line.repeat.has_value();
    if (!is_recurring && json.has_time("expires_in")) {
        return Error{"conflicting_members"_code, "only recurring messages have `expires_in`: use `expires`, an instant",
                     "expires_in"};
    }
    if (is_recurring && json.has_time("expires")) {
        return Error{"conflicting_members"_code,
                     "all occurrences of a recurring message would expire at the same instant: use `expires_in`",
                     "expires"};
    }
    if (is_recurring && (line.state == State::prepared || line.state == State::dead || line.state == State::retrying)) {
        return Error{"bad_state"_code, "a recurring message must be scheduled or held", "state"};
    }
    return {};
}

// A lease that has not ended is not exported. Its attempt does not count, as after a restart that ends it.
void add_history(const MessageRow& row, WorkHistory& history) {
    const MessageState& state = row.state;
    history.attempts = state.attempts;
    const std::uint32_t forgiven = state.attempts_forgiven + (state.work->lease.incarnation != 0 ? 1 : 0);
    history.attempts_counted = state.attempts - std::min(forgiven, state.attempts);
    history.maybe_delivered = state.maybe_delivered;
    history.reason = row.reason;
    history.progress = state.work->progress;
    history.checkpoint = state.work->checkpoint;
    std::vector<PastAttempt> attempts = timeline_of(row, 0);
    if (!attempts.empty()) attempts.back().incarnation = 0;  // no token of this server is one of another
    history.past_attempts = encode_past_attempts(attempts);
}

}  // namespace

std::span<const std::string_view> message_line_members() {
    return kMembers;
}

MessageLine line_of(const MessageRow& row, const MessageContent& content, DueMs now_ms) {
    const MessageState& state = row.state;
    const bool is_prepared = state.state == State::prepared;
    MessageLine line;
    line.id = row.id;
    line.name_space = state.name_space;
    line.queue = state.queue;
    line.state = state.state;
    line.due_ms = is_prepared ? state.nominal_due_ms : state.due_ms;
    if (!is_prepared && state.nominal_due_ms != state.due_ms) line.nominal_due_ms = state.nominal_due_ms;
    line.expires_ms = state.expires_ms;
    line.priority = state.priority;
    line.order_key = state.order_key;
    line.group = state.group;
    line.key = state.key;
    if (const auto& rule = state.retry) {
        line.retry = {rule->attempts, rule->first_ms, rule->factor_permille, rule->max_ms, rule->jitter_permille};
    }
    add_history(row, line);
    line.put_ms = content.put_ms;
    if (state.first_put_ms != content.put_ms) line.first_put_ms = state.first_put_ms;
    if (state.is_recurring() && content.repeat) {
        line.repeat = content.repeat->rule;
        line.repeat->start_ms = line.due_ms;
        line.next_occurrence = state.next_occurrence;
        line.order_key = content.repeat->order_key;
        line.expires_in_ms = content.repeat->expires_after_ms;
    } else if (waits_for_due(state.state) && state.due_ms <= now_ms) {
        line.state = State::ready;
    }
    if (is_prepared) {
        line.transaction = content.transaction;
        line.answer_by_ms = state.due_ms;
        line.checks = state.checks();
    }
    const bool is_check = content.transaction && content.parent != 0;
    (is_check ? line.check_of : line.parent) = content.parent;
    line.schedule = content.schedule;
    line.watchdog = content.watchdog;
    line.last_fed_ms = content.fed_ms;
    line.occurrence = content.occurrence;
    line.ended_ms = row.ended_ms;
    copy_content(content, line);
    return line;
}

void write_message_line(std::string& out, const MessageLine& line) {
    JsonWriter json(out);
    json.open().text("kind", "message");
    write_id(json, "id", line.id);
    if (line.name_space != kDefaultNamespace) json.text("namespace", line.name_space);
    json.text("queue", line.queue).text("state", state_name(line.state)).text("due", format_instant(line.due_ms));
    if (line.expires_ms != 0) json.text("expires", format_instant(line.expires_ms));
    write_unless_0(json, "expires_in_ms", line.expires_in_ms);
    write_unless_0(json, "priority", line.priority);
    write_unless_empty(json, "order_key", line.order_key);
    write_unless_empty(json, "group", line.group);
    write_unless_empty(json, "key", line.key);
    write_retry(json, line.retry);
    write_work_history(json, line);
    write_unless_0(json, "put_ms", line.put_ms);
    write_unless_0(json, "first_put_ms", line.first_put_ms);
    if (line.repeat) write_repeat(json, *line.repeat);
    write_unless_0(json, "next_occurrence", line.next_occurrence);
    if (line.transaction) write_transaction(json, *line.transaction);
    write_unless_0(json, "answer_by_ms", line.answer_by_ms);
    write_unless_0(json, "checks", line.checks);
    write_id(json, "parent", line.parent);
    write_unless_empty(json, "schedule", line.schedule);
    write_unless_empty(json, "watchdog", line.watchdog);
    write_unless_0(json, "last_fed_ms", line.last_fed_ms);
    write_unless_0(json, "occurrence", line.occurrence);
    write_id(json, "check_of", line.check_of);
    write_unless_0(json, "ended_ms", line.ended_ms);
    write_content_in_line(json, line);
    write_unless_empty(json, "traceparent", line.traceparent);
    json.close();
}

Result<MessageLine> read_message_line(const JsonRequest& json) {
    MessageLine line;
    Status read = json.only(kMembers);
    if (read) read = read_id(json, "id", line.id);
    if (read) read = read_name(json, "namespace", line.name_space);
    if (read) read = read_name(json, "queue", line.queue);
    if (read) read = read_state(json, line.state);
    if (read) read = assign(json.instant_ms("due"), line.due_ms);
    if (read) read = assign(json.instant_ms("expires"), line.expires_ms);
    if (read) read = assign(json.duration_ms("expires_in"), line.expires_in_ms);
    if (read) read = read_work_history(json, line);
    if (read) read = assign(json.epoch_ms("put_ms"), line.put_ms);
    if (read) read = assign(json.epoch_ms("first_put_ms"), line.first_put_ms);
    if (read) read = read_number(json, "next_occurrence", line.next_occurrence);
    if (read) read = read_repeat(json, line);
    if (read) read = read_transaction(json, line);
    if (read) read = assign(json.epoch_ms("answer_by_ms"), line.answer_by_ms);
    if (read) read = read_number(json, "checks", line.checks);
    if (read) read = read_id(json, "parent", line.parent);
    if (read) read = read_name(json, "schedule", line.schedule);
    if (read) read = read_name(json, "watchdog", line.watchdog);
    if (read) read = assign(json.epoch_ms("last_fed_ms"), line.last_fed_ms);
    if (read) read = read_number(json, "occurrence", line.occurrence);
    if (read) read = read_id(json, "check_of", line.check_of);
    if (read) read = assign(json.epoch_ms("ended_ms"), line.ended_ms);
    if (read) read = read_key_member(json, line_options(), line.key);
    if (read) read = read_content(json, line);
    if (read) read = read_traceparent(json, line.traceparent);
    if (read) read = check(json, line);
    if (!read) return std::move(read).error();
    return line;
}

}  // namespace duewheel
