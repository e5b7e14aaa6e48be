#include "transfer/put_of_line.h"

#include <algorithm>

#include "base/json_writer.h"
#include "calendar/instant_text.h"
#include "http_api/answers/rule_text.h"
#include "http_api/requests/content_text.h"

namespace duewheel {
namespace {

struct LossWords {
    std::string_view name;
    std::string_view text;
};

constexpr std::array<LossWords, kLossCount> kWords = {{
    {"attempts", "were delivered before: their attempts are counted from 0 again"},
    {"maybe_delivered", "lose `maybe_delivered`: they may have been delivered once more than their attempts say"},
    {"backoff", "were in retry backoff and are due at once, to keep the order of their order key"},
    {"origin", "were created by a recurring message, a schedule or a watchdog, and no longer name it"},
    {"occurrence", "are recurring: their next occurrence has the number 1"},
    {"growth",
     "are recurring with growing intervals: intervals continue from a rounded value, so later ones differ slightly"},
    {"checks", "wait for commit or rollback: their deadline starts again"},
    {"key_added", "had no key and get one, formed from the exported server and their id"},
    {"reason", "had failed, and lose the reason"},
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

void count_losses(const MessageLine& line, Losses& losses) {
    if (line.attempts != 0) losses.add(Loss::attempts);
    if (line.maybe_delivered) losses.add(Loss::maybe_delivered);
    if (line.parent != 0 || !line.schedule.empty() || !line.watchdog.empty()) losses.add(Loss::origin);
    if (line.next_occurrence > 1) losses.add(Loss::occurrence);
    const bool grows = line.repeat && line.repeat->factor_permille > kRepeatFactorMin &&
                       interval_after_occurrence_ms(*line.repeat, line.next_occurrence) < line.repeat->max_ms;
    if (grows && line.next_occurrence > 1) losses.add(Loss::growth);
    if (line.transaction) losses.add(Loss::checks);
    if (!line.reason.empty()) losses.add(Loss::reason);
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
    json.text("due", format_instant(due_of(line, losses)));
    const bool is_dead = line.state == State::dead;
    if (line.expires_ms != 0 && !is_dead) json.text("expires", format_instant(line.expires_ms));
    if (line.expires_in_ms != 0) json.number("expires_in_ms", line.expires_in_ms);
    if (line.priority != 0) json.number("priority", line.priority);
    if (!line.order_key.empty() && !is_dead) json.text("order_key", line.order_key);
    write_retry(json, line.retry);
    if (line.repeat) write_repeat(json, rest_of(line));
    if (line.transaction) write_transaction(json, *line.transaction);
    if (line.state == State::held || is_dead) json.boolean("held", true);
    write_content_in_line(json, line);
    json.close();
}

}  // namespace duewheel
