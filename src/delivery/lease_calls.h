// The calls of a pusher to the engine: up to one lease call for each target, which can be withdrawn, and other
// commands. For the loop's thread; O(1).
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include "delivery/target_table.h"
#include "port/delivery_port.h"

namespace duewheel {

class LeaseCalls {
  public:
    // The port outlives it; `sink` gets the replies.
    LeaseCalls(DeliveryPort& port, ReplySink sink) : port_(port), tokens_(port.add_sink(std::move(sink))) {}

    ReplyToken submit(Command command) {
        const ReplyToken token = tokens_.next();
        port_.submit(std::move(command), token);
        return token;
    }

    // Leases from the queue of this target, which has no lease call.
    void lease(TargetNumber number, TargetEntry& target, LeaseCommand command) {
        command.name_space = target.name.name_space;
        command.queue = target.name.queue;
        command.ends_with_server = true;
        target.leasing = tokens_.next();
        targets_.emplace(target.leasing, number);
        port_.submit(std::move(command), target.leasing);
    }
    // Unless the engine has answered it already, or there is none.
    void withdraw(TargetEntry& target) {
        if (target.leasing == 0 || !port_.withdraw(target.leasing)) return;
        targets_.erase(target.leasing);
        target.leasing = 0;
    }
    // The target of the lease call that this is the reply to; nothing for the reply to another command.
    std::optional<TargetNumber> take(ReplyToken token) {
        const auto found = targets_.find(token);
        if (found == targets_.end()) return std::nullopt;
        const TargetNumber number = found->second;
        targets_.erase(found);
        return number;
    }

  private:
    DeliveryPort& port_;
    ReplyTokens tokens_;
    std::unordered_map<ReplyToken, TargetNumber> targets_;  // by lease call
};

}  // namespace duewheel
