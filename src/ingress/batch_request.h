// Requests with many parts, each with its own result: puts as JSON lines, and ends of many leases.
//
// A part that cannot be read is refused alone. An error of the whole request (too many parts, no list) refuses all of
// it, and nothing is done. The puts of a request are one command and one commit; the ends of leases are
// separate commands.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/call_path.h"
#include "ingress/http_api.h"
#include "net/http_message.h"

namespace duewheel {

struct BatchRequest {
    std::vector<Command> commands;
    // By part: its error, if any. The others follow in order: as puts of the one command, or as commands.
    std::vector<std::optional<Error>> refused;
};

bool is_batch(CallPath::What what);

// Codes: those of a single put or end of a lease, and batch_too_large, missing_member.
Result<BatchRequest> read_batch(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options);

}  // namespace duewheel
