// The calls of producers and workers, whose requests are read on the thread of their connection, so that the thread of
// the engine only has to decide about them. Other calls need what only that thread knows, or are rare.
#pragma once

#include <memory>
#include <optional>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "http_api/requests/batch_request.h"
#include "net/http/http_message.h"

namespace duewheel {

struct PreparedCall {
    std::optional<Result<Command>> command;
    std::optional<Result<BatchRequest>> batch;
};

// Null: another call. Of the options, it uses the limits and `server_ms`. Any thread.
std::unique_ptr<PreparedCall> prepare_call(const HttpRequest& request, const HttpApiOptions& options);

}  // namespace duewheel
