// Rules as an answer says them, in the form in which a request takes them (retry_request.h, repeat_request.h,
// transaction_request.h), with durations in milliseconds.
#pragma once

#include "base/json_writer.h"
#include "message/record.h"
#include "message/repeat_rule.h"
#include "message/retry_rule.h"

namespace duewheel {

// The member `retry`, with what the rule or the choice says; nothing for a choice that is empty.
void write_retry(JsonWriter& json, const RetryRule& rule);
void write_retry(JsonWriter& json, const RetryChoice& choice);

// The member `transaction`.
void write_transaction(JsonWriter& json, const TransactionRule& rule);

// The member `repeat`, without what is as if nobody had said it.
void write_repeat(JsonWriter& json, const RepeatRule& rule);

}  // namespace duewheel
