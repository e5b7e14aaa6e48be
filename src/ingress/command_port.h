// The seam between the interfaces and a shard: commands go in here, and come back as replies to whoever chose the
// token. Everything on the shard's thread.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/command.h"
#include "engine/engine.h"

namespace duewheel {

class CommandPort {
  public:
    virtual ~CommandPort() = default;

    // The reply comes to the owner's reply sink, never from within this call. `token` is not 0.
    virtual void submit(Command command, ReplyToken token) = 0;
    // Nobody waits for this reply any more.
    virtual void forget(ReplyToken token) = 0;

    virtual EngineCounters counters() const = 0;
    // At most so many, the busiest first.
    virtual std::vector<Engine::QueueCounters> busiest_queues(std::size_t most) const = 0;
    // Of the last ten to twenty seconds.
    virtual LatenessLevels lateness() const = 0;
};

}  // namespace duewheel
