// What every part of a running shard uses.
#pragma once

#include <functional>

#include "base/log.h"
#include "base/status.h"
#include "net/event_loop.h"
#include "server/shard/shard_parts.h"

namespace duewheel {

// Called on any thread when the process must not continue; does not return.
using FatalErrorHandler = std::function<void(const Error&)>;

struct ShardContext {
    EventLoop& loop;
    ShardParts& parts;
    LogSink& log;
    FatalErrorHandler on_fatal_error;

    Engine& engine() const { return parts.engine(); }
};

}  // namespace duewheel
