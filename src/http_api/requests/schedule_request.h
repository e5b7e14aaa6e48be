// The requests of the calls of schedules.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// The maximum size of `iso` and `at`, in bytes.
inline constexpr std::size_t kIntervalBytesMax = 200;

// Reads a call on one schedule, whose names were read already. Codes: those of read_members() and of a put's members;
// missing_member, conflicting_members, bad_cron, bad_interval, bad_instant, bad_zone, bad_exclusion, bad_policy,
// bad_queue_name, out_of_range.
Result<Command> read_schedule_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                   std::string name, const HttpApiOptions& options);

// The list of them, without a name.
Result<Command> read_schedule_list(const HttpRequest& request, std::string name_space);

}  // namespace duewheel
