// The interface between the protocols and a shard: commands go in, and their replies come to the sink of the caller.
// Everything is on the shard's thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "access/authentication.h"
#include "engine/commands/command.h"
#include "engine/commands/lateness.h"
#include "engine/core/engine_counters.h"
#include "engine/messages/ready_list.h"
#include "message/server_time.h"
#include "port/lateness_history.h"
#include "port/reply_sinks.h"
#include "port/wheel_view.h"

namespace duewheel {

// The access tokens that it finds are the durable ones.
class CommandPort : public TokenDirectory {
  public:
    // The sink gets the replies to the commands with these tokens.
    virtual ReplyTokens add_sink(ReplySink sink) = 0;
    // Objects outside of the limits do not exist for the command (engine/core/engine.h); null: no limits.
    virtual void submit(Command&& command, ReplyToken token, SharedLimits limits) = 0;
    // The receiver of this reply is gone.
    virtual void forget(ReplyToken token) = 0;
    // True: a lease that still waits is withdrawn, and gets no reply. False: its reply is on its way.
    virtual bool withdraw(ReplyToken token) = 0;

    virtual EngineCounters counters() const = 0;
    // Up to `most` queues, the busiest first.
    virtual std::vector<QueueCounters> busiest_queues(std::size_t most) const = 0;
    // The ready message that the next consumer of this queue of the default namespace would get, of those in memory.
    virtual std::optional<ReadyKey> first_ready(std::string_view queue) = 0;
    // Sums over the last ten to twenty seconds.
    virtual QueueSums queue_sums() const = 0;
    virtual DeliveryLevels recent_deliveries() const = 0;
    virtual const LatenessHistory& lateness_history() const = 0;
    // O(timers).
    virtual WheelView wheel() const = 0;

    virtual ClockStatus clock() const = 0;
    // An operator accepts the wall clock. False if no jump waits for that.
    virtual bool accept_clock() = 0;
    // Only for a test clock, and not beyond kServerTimeMaxMs.
    virtual void advance_clock(std::int64_t by_ms) = 0;
};

}  // namespace duewheel
