#include "transfer/put_of_line.h"

#include <algorithm>

#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "http_api/answers/rule_text.h"
#include "http_api/fields/work_members.h"
#include "http_api/requests/content_text.h"

namespace duewheel {
namespace {

struct LossWords {
    std::string_view name;
    std::string_view text;
};

constexpr std::array<LossWords, kLossCount> kWords = {{
    {"backoff", "were in retry backoff and are due at once, to keep the order of their order key"},
    {"origin", "were created by a recurring message, a schedule or a watchdog, and no longer name it"},
    {"occurrence", "are recurring: their next occurrence has the number 1"},
    {"growth",
     "are recurring with growing intervals: intervals continue from a rounded value, so later ones differ slightly"},
    {"checks", "wait for commit or rollback: their deadline starts again"},
    {"key_added", "had no key and get one, formed from the exported server and their id"},
    {"reason", "were dead letters, and lose the reason, which their timeline may still have"},
    {"order", "were dead letters and lose their order key, because it would block the other messages with that key"},
}};

// The remaining occurrences of a recurring message, as the rule of a new one with the same times.
RepeatRule rest_of(const MessageLine& line) {
    RepeatRule rule = *line.repeat;
    rule.every_ms = interval_after_occurrence_ms(rule, line.next_occurrence);
    if (rule.factor_permille == kRepeatFactorMin) rule.max_ms = rule.every_ms;
    rule.max_ms = std::max(rule.max_ms, rule.every_ms);
    if (rule.times != 0) rule.times -= line.next_occurrence - 1;
    return rule;
}

// Messages with an order key are delivered in the order of their nominal due times, and one that backs off delays the
// others. An expiry may be before the end of the backoff.
DueMs due_of(const MessageLine& line, Losses& losses) {
    if (line.nominal_due_ms == 0 || line.state == State::dead) return line.due_ms;
    const bool keeps_place = !line.order_key.empty() || (line.expires_ms != 0 && line.due_ms >= line.expires_ms);
    if (!keeps_place) return line.due_ms;
    losses.add(Loss::rest);
    return line.nominal_due_ms;
}

// What the put restores. A recurring or prepared message has never been delivered. One with a reason that is due has
// just been in backoff.
void write_history(JsonWriter& json, const MessageLine& line, bool keeps_due) {
    if (line.repeat || line.transaction) return;
    WorkHistory history = line;
    const bool may_retry = line.state == State::retrying || line.state == State::ready;
    history.is_retrying = line.state == State::retrying || (may_retry && !line.reason.empty());
    if (!history.is_retrying) history.reason.clear();
    if (!keeps_due) history.nominal_due_ms = 0;
    if (history == WorkHistory{}) return;
    json.open("imported");
    write_work_history(json, history);
    json.close();
}

void count_losses(const MessageLine& line, Losses& losses) {
    if (line.parent != 0 || !line.schedule.empty() || !line.watchdog.empty()) losses.add(Loss::origin);
    if (line.next_occurrence > 1) losses.add(Loss::occurrence);
    const bool grows = line.repeat && line.repeat->factor_permille > kRepeatFactorMin &&
                       interval_after_occurrence_ms(*line.repeat, line.next_occurrence) < line.repeat->max_ms;
    if (grows && line.next_occurrence > 1) losses.add(Loss::growth);
    if (line.transaction) losses.add(Loss::checks);
    if (line.state == State::dead && !line.reason.empty()) losses.add(Loss::reason);
    if (line.state == State::dead && !line.order_key.empty()) losses.add(Loss::order);
}

}  // namespace

std::string_view loss_text(Loss loss) {
    return kWords[static_cast<std::size_t>(loss)].text;
}

std::string_view loss_name(Loss loss) {
    return kWords[static_cast<std::size_t>(loss)].name;
}

void write_put_of_line(std::string& out, const MessageLine& line, std::string_view instance, Losses& losses) {
    count_losses(line, losses);
    JsonWriter json(out);
    json.open();
    if (line.key.empty()) {
        losses.add(Loss::key_added);
        json.text("key", std::string(instance) + ":" + std::to_string(line.id));
    } else {
        json.text("key", line.key);
    }
    const DueMs due_ms = due_of(line, losses);
    json.text("due", format_instant(due_ms));
    const bool is_dead = line.state == State::dead;
    if (line.expires_ms != 0 && !is_dead) json.text("expires", format_instant(line.expires_ms));
    if (line.expires_in_ms != 0) json.number("expires_in_ms", line.expires_in_ms);
    if (line.priority != 0) json.number("priority", line.priority);
    if (!line.order_key.empty() && !is_dead) json.text("order_key", line.order_key);
    if (!line.group.empty()) json.text("group", line.group);
    write_retry(json, line.retry);
    if (line.repeat) write_repeat(json, rest_of(line));
    if (line.transaction) write_transaction(json, *line.transaction);
    if (line.state == State::held || is_dead) json.boolean("held", true);
    write_history(json, line, due_ms == line.due_ms);
    write_content_in_line(json, line);
    json.close();
}

}  // namespace duewheel
