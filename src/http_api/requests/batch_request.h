// Requests with many parts, each with its own result: puts as JSON lines, and ends of many leases.
//
// A part that cannot be read is refused alone. An error of the whole request (too many parts, no list) refuses all of
// it, and nothing is done. The puts of a request are one command and one commit; the ends of leases are
// separate commands.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// A list of commands would be large: a command takes a kilobyte of memory, whatever it is.
struct BatchRequest {
    struct Lease {
        LeaseToken token;
        std::unique_ptr<Command> command;  // if the request has members for this lease alone
    };
    std::optional<Command> command;  // all puts; or what is done to each of `leases`; none if each part is refused
    std::vector<Lease> leases;       // of the parts that are not refused, in order; none of a request with puts
    std::vector<std::optional<Error>> refused;  // by part: its error, if any

    std::size_t commands() const { return !command ? 0 : leases.empty() ? 1 : leases.size(); }
};

bool is_batch(CallPath::What what);

// Codes: those of a single put or end of a lease, and batch_too_large, missing_member.
Result<BatchRequest> read_batch(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options);

}  // namespace duewheel
