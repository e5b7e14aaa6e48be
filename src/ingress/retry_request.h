// A retry rule as a request says it: an object in JSON.
//
//     "retry": {"attempts": 5, "first": "1s", "factor": 2, "max": "1h", "jitter": 0.2}
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

}  // namespace duewheel
