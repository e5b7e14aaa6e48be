#include "ingress/rule_text.h"

#include "base/thousandths.h"
#include "calendar/instant_text.h"
#include "ingress/field_writer.h"
#include "resource/retry_fields.h"

namespace duewheel {

void write_retry(JsonWriter& json, const RetryChoice& choice) {
    if (!choice.is_empty()) write_fields(json, "retry", choice);
}

void write_retry(JsonWriter& json, const RetryRule& rule) {
    write_retry(json,
                RetryChoice{rule.attempts, rule.first_ms, rule.factor_permille, rule.max_ms, rule.jitter_permille});
}

void write_transaction(JsonWriter& json, const TransactionRule& rule) {
    json.open("transaction").open("check_back");
    if (!rule.check_queue.empty()) json.text("queue", rule.check_queue);
    json.number("after_ms", rule.check_after_ms);
    if (!rule.check_queue.empty()) json.number("times", rule.check_times);
    json.close().text("otherwise", rule.otherwise_commit ? "commit" : "rollback").close();
}

void write_repeat(JsonWriter& json, const RepeatRule& rule) {
    json.open("repeat");
    json.number("every_ms", rule.every_ms);
    if (rule.times != 0) json.number("times", rule.times);
    if (rule.factor_permille > kRepeatFactorMin) {
        json.json("factor", format_thousandths(rule.factor_permille)).number("max_ms", rule.max_ms);
    }
    if (rule.end_ms != 0) json.text("until", format_instant(rule.end_ms));
    json.close();
}

}  // namespace duewheel
