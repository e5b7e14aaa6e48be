// The transaction of a put in a request: an object in JSON.
//
//     "transaction": {"check_back": {"queue": "checks", "after": "1m", "times": 5}, "otherwise": "rollback"}
//
// `after` is required, everything else is optional; without a queue there are no checks. Ranges are checked by the
// engine.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"
#include "http_api/http_api.h"
#include "message/records/record.h"

namespace duewheel {

// The number of checks if the put has a queue for them, and no number.
inline constexpr std::uint32_t kCheckTimes = 5;

// The member `transaction`; none if it is absent. Codes: those of JsonRequest; bad_queue_name, bad_policy,
// missing_member.
Result<std::optional<TransactionRule>> read_transaction(const JsonRequest& request, const HttpApiOptions& options);

}  // namespace duewheel
