// Reads the calls on a queue itself: its settings, pause, resume, purge, discard, and the list of queues.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// `options` must outlive the command. `is_administrator`: the client administers the whole server. `what` is queue (GET
// describes, PUT sets, PATCH changes, DELETE removes), pause, resume, purge or discard.
Result<Command> read_queue_call(const HttpRequest& request, CallPath::What what, std::string name_space,
                                std::string queue, const HttpApiOptions& options, bool is_administrator);

Result<Command> read_queue_list(const HttpRequest& request, std::string name_space);

}  // namespace duewheel
