// From an HTTP request to a command: which call it is, and what its members say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/http_api.h"
#include "net/http_message.h"

namespace duewheel {

// The path of a call under /v1, its names decoded.
struct CallPath {
    enum class What { queue, message, lease } what = What::queue;
    std::string name_space{kDefaultNamespace};
    std::string name;       // of the queue, the message's id, the lease's token
    std::string_view verb;  // after the colon; "messages" for a queue's messages
};

// `unknown_path`, `bad_path` (a broken percent escape), `bad_queue_name`.
Result<CallPath> read_call_path(const HttpRequest& request, const HttpApiOptions& options);

// The methods that a path takes, for the Allow field; empty where there is no such call.
std::string_view allowed_methods(const CallPath& path);

// The command of a call whose method is allowed.
Result<Command> read_command(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options);

}  // namespace duewheel
