#include "ingress/rule_text.h"

#include <string>

#include "calendar/instant_text.h"

namespace duewheel {
namespace {

// Thousandths as a JSON number: 1500 is 1.5.
std::string decimal(std::int64_t thousandths) {
    std::string text = std::to_string(thousandths / 1000);
    if (thousandths % 1000 == 0) return text;
    std::string decimals = std::to_string(1000 + thousandths % 1000).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return text + "." + decimals;
}

}  // namespace

void write_retry(JsonWriter& json, const RetryChoice& choice) {
    if (choice.is_empty()) return;
    json.open("retry");
    if (choice.attempts) json.number("attempts", *choice.attempts);
    if (choice.first_ms) json.number("first_ms", *choice.first_ms);
    if (choice.factor_permille) json.json("factor", decimal(*choice.factor_permille));
    if (choice.most_ms) json.number("most_ms", *choice.most_ms);
    if (choice.jitter_permille) json.json("jitter", decimal(*choice.jitter_permille));
    json.close();
}

void write_retry(JsonWriter& json, const RetryRule& rule) {
    write_retry(json,
                RetryChoice{rule.attempts, rule.first_ms, rule.factor_permille, rule.most_ms, rule.jitter_permille});
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
        json.json("factor", decimal(rule.factor_permille)).number("most_ms", rule.most_ms);
    }
    if (rule.end_ms != 0) json.text("until", format_instant(rule.end_ms));
    json.close();
}

}  // namespace duewheel
