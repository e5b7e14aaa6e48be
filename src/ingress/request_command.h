// From an HTTP request to a command: what its members say.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/call_path.h"
#include "ingress/http_api.h"
#include "net/http_message.h"

namespace duewheel {

// Kept of what a failure's consumer has to say.
inline constexpr std::size_t kReasonBytesMax = 1024;

// The command of a call whose method is allowed. Its errors are those of reading alone; whether a command can be
// carried out is for the engine to say.
Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options);

// The name as it is, decoded already, or code bad_queue_name.
Result<std::string> check_queue_name(std::string name, const HttpApiOptions& options);

}  // namespace duewheel
