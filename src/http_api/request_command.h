// Converts the members of an HTTP request to a command.
#pragma once

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// The command of a call whose method is allowed. Its errors are those of parsing; the engine decides whether a command
// can be executed. `is_administrator`: the client administers the whole server.
Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options,
                             bool is_administrator = true);

}  // namespace duewheel
