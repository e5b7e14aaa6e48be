// The requests of the calls of namespaces.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "net/http/http_message.h"

namespace duewheel {

// Reads a call on one namespace, whose name was read already. Codes: those of read_members(), out_of_range.
Result<Command> read_namespace_call(const HttpRequest& request, std::string name_space);

// The list of them.
Result<Command> read_namespace_list(const HttpRequest& request);

}  // namespace duewheel
