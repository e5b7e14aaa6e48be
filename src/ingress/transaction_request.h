// The transaction of a put as a request says it: an object in JSON.
//
//     "transaction": {"check_back": {"queue": "checks", "after": "1m", "times": 5}, "otherwise": "rollback"}
//
// `after` must be there, all others may be left out; without a queue nobody is asked. What the numbers may be is
// checked by the engine.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "ingress/http_api.h"
#include "ingress/json_request.h"
#include "message/record.h"

namespace duewheel {

// How often a producer is asked where the put names a queue for it, and no number.
inline constexpr std::uint32_t kCheckTimes = 5;

// The member `transaction`; nothing where there is none. Codes: those of JsonRequest; bad_queue_name, bad_policy,
// missing_member.
Result<std::optional<TransactionRule>> read_transaction(const JsonRequest& request, const HttpApiOptions& options);

}  // namespace duewheel
