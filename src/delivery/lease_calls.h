// The calls of a pusher to the engine: up to one lease call for each target, which can be withdrawn, and other
// commands. For the loop's thread; O(1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "delivery/target_table.h"
#include "engine/core/engine.h"

namespace duewheel {

class LeaseCalls {
  public:
    using Submit = std::function<void(Command, ReplyToken)>;

    // Its tokens have this bit; the lower bits count them. The engine outlives it.
    LeaseCalls(Engine& engine, ReplyToken token_bit, Submit submit)
        : engine_(engine), token_bit_(token_bit), submit_(std::move(submit)) {}

    ReplyToken submit(Command command) {
        const ReplyToken token = token_bit_ | next_++;
        submit_(std::move(command), token);
        return token;
    }

    // Leases from the queue of this target, which has no lease call.
    void lease(TargetNumber number, TargetEntry& target, LeaseCommand command) {
        command.name_space = target.name.name_space;
        command.queue = target.name.queue;
        target.leasing = token_bit_ | next_++;
        targets_.emplace(target.leasing, number);
        submit_(std::move(command), target.leasing);
    }
    // Unless the engine has answered it already, or there is none.
    void withdraw(TargetEntry& target) {
        if (target.leasing == 0 || !engine_.withdraw(target.leasing)) return;
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
    Engine& engine_;
    const ReplyToken token_bit_;
    const Submit submit_;
    std::uint64_t next_ = 1;
    std::unordered_map<ReplyToken, TargetNumber> targets_;  // by lease call
};

}  // namespace duewheel
