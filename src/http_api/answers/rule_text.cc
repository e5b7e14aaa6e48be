#include "http_api/answers/rule_text.h"

#include "http_api/fields/field_writer.h"
#include "resource/repeat_fields.h"
#include "resource/retry_fields.h"
#include "resource/transaction_fields.h"

namespace duewheel {

void write_retry(JsonWriter& json, const RetryChoice& choice) {
    if (!choice.is_empty()) write_fields(json, "retry", choice);
}

void write_retry(JsonWriter& json, const RetryRule& rule) {
    write_retry(json,
                RetryChoice{rule.attempts, rule.first_ms, rule.factor_permille, rule.max_ms, rule.jitter_permille});
}

void write_transaction(JsonWriter& json, const TransactionRule& rule) {
    write_fields(json, "transaction", rule);
}

void write_repeat(JsonWriter& json, const RepeatRule& rule) {
    RepeatChoice shown{.every_ms = rule.every_ms};
    if (rule.times != 0) shown.times = static_cast<std::int64_t>(rule.times);
    if (rule.factor_permille > kRepeatFactorMin) {
        shown.factor_permille = rule.factor_permille;
        shown.max_ms = rule.max_ms;
    }
    if (rule.end_ms != 0) shown.until_ms = rule.end_ms;
    write_fields(json, "repeat", shown);
}

}  // namespace duewheel
