// A retry rule in a request: an object in JSON.
//
//     "retry": {"attempts": 5, "first": "1s", "factor": 2, "max": "1h", "jitter": 0.2}
//
// Absent members stay unset. Ranges are checked when the rest of the rule is known (message/retry_rule.h).
#pragma once

#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/retry_rule.h"

namespace duewheel {

// The member `retry`, applied to the previous value. Codes: those of JsonRequest.
Status read_retry(const JsonRequest& request, RetryChoice& into);

}  // namespace duewheel
