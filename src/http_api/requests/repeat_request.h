// The rule of a recurring message in a request: an object in JSON.
//
//     "repeat": {"every": "1m", "times": 10, "factor": 2, "max": "1h", "until": "2027-01-01T00:00:00Z"}
//
// `every` is required; everything else is optional. Ranges are checked when the rule is created
// (message/repeat_rule.h).
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "message/repeat_rule.h"

namespace duewheel {

// The member `repeat`; nothing where there is none. Codes: those of JsonRequest; missing_member.
Result<std::optional<RepeatChoice>> read_repeat(const JsonRequest& request);

}  // namespace duewheel
