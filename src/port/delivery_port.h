// The interface between an engine and the pushers, which deliver due messages of queues with a target: they submit
// commands as clients do, and see which targets have changed. Everything is on the engine's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/commands/command.h"
#include "engine/commands/target_queue.h"
#include "port/reply_sinks.h"

namespace duewheel {

class DeliveryPort {
  public:
    // There is nothing to do until an event.
    static constexpr DueMs kNoWakeup = INT64_MAX;

    virtual ~DeliveryPort() = default;

    // The sink gets the replies to the commands with these tokens.
    virtual ReplyTokens add_sink(ReplySink sink) = 0;
    virtual void submit(Command command, ReplyToken token) = 0;
    // True: a lease call that still waits is withdrawn, and gets no reply. False: messages are on their way to it.
    virtual bool withdraw(ReplyToken token) = 0;

    // Queues that have or had a target of this kind and changed since the last call for this kind, each once; at first
    // those of the start.
    virtual std::vector<TargetQueue> take_changed_targets(TargetKind kind) = 0;
    virtual bool have_targets_changed(TargetKind kind) const = 0;
    virtual std::uint64_t queues_with_target(TargetKind kind) const = 0;
};

}  // namespace duewheel
