// A retry rule as a request says it: an object in JSON, or one header field beside a raw body.
//
//     "retry": {"attempts": 5, "first": "1s", "factor": 2, "max": "1h", "jitter": 0.2}
//     Duewheel-Retry: attempts=5, first=1s, factor=2, max=1h, jitter=0.2
//
// Members that are missing stay open. Their ranges are judged where the rest of the rule is known
// (message/retry_rule.h).
#pragma once

#include <string_view>

#include "base/status.h"
#include "ingress/json_request.h"
#include "message/retry_rule.h"

namespace duewheel {

// The member `retry`, into what held before. Codes: those of JsonRequest.
Status read_retry(const JsonRequest& request, RetryChoice& into);

// Codes: bad_duration, negative_duration, duplicate_member, unknown_member, wrong_type; the field is `field_name`.
Result<RetryChoice> read_retry_field(std::string_view text, std::string_view field_name);

}  // namespace duewheel
