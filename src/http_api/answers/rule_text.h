// Rules in responses, in the form of requests (retry_request.h, repeat_request.h, transaction_request.h), with
// durations in milliseconds.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "message/records/record.h"
#include "message/repeat_rule.h"
#include "message/retry_rule.h"

namespace duewheel {

// Opens the object of a queue, a schedule or a watchdog, which `kind` is: its namespace, unless that is the default
// one, and its name.
inline JsonWriter& open_named(JsonWriter& json, std::string_view kind, std::string_view name_space,
                              std::string_view name) {
    json.open();
    if (name_space != kDefaultNamespace) json.text("namespace", name_space);
    return json.text(kind, name);
}

// The member `retry` of the rule or the choice; nothing for an empty choice.
void write_retry(JsonWriter& json, const RetryRule& rule);
void write_retry(JsonWriter& json, const RetryChoice& choice);

// The member `transaction`.
void write_transaction(JsonWriter& json, const TransactionRule& rule);

// The member `repeat`, without default values.
void write_repeat(JsonWriter& json, const RepeatRule& rule);

}  // namespace duewheel
