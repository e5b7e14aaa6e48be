// A retry rule as an answer says it, in the form in which a request takes it (retry_request.h).
#pragma once

#include "ingress/json_writer.h"
#include "message/retry_rule.h"

namespace duewheel {

// The member `retry`, with what the rule or the choice says; nothing for a choice that is empty.
void write_retry(JsonWriter& json, const RetryRule& rule);
void write_retry(JsonWriter& json, const RetryChoice& choice);

}  // namespace duewheel
