// Reads the calls on the groups of a queue: their settings, a backoff, and the list of groups.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "net/http/http_message.h"

namespace duewheel {

inline constexpr std::int64_t kGroupBackoffMaxMs = 24LL * 3600 * 1000;

// `what` is group (GET describes, PUT replaces all settings but a backoff, PATCH changes, DELETE removes all) or
// back_off_group.
Result<Command> read_group_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                std::string queue, std::string group);

Result<Command> read_group_list(const HttpRequest& request, std::string name_space, std::string queue);

}  // namespace duewheel
