// The requests of the calls of watchdogs.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// Reads a call on one watchdog, whose names were read already. Codes: those of read_members() and of a put's members;
// missing_member, bad_queue_name, out_of_range.
Result<Command> read_watchdog_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                   std::string name, const HttpApiOptions& options);

// The list of them, without a name.
Result<Command> read_watchdog_list(const HttpRequest& request, std::string name_space);

}  // namespace duewheel
