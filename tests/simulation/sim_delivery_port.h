// The port of a pusher in the simulator. What the pusher submits goes through the simulator, because to the oracle it
// is one of the clients; so do the replies.
#pragma once

#include <functional>
#include <utility>

#include "engine/core/engine.h"
#include "port/delivery_port.h"

namespace duewheel {

class SimDeliveryPort final : public DeliveryPort {
  public:
    SimDeliveryPort(Engine& engine, ReplyTokens tokens, std::function<void(Command, ReplyToken)> submit)
        : engine_(engine), tokens_(tokens), submit_(std::move(submit)) {}

    // A reply for the pusher.
    void deliver(ReplyToken token, Reply reply) { sink_(token, std::move(reply)); }

    ReplyTokens add_sink(ReplySink sink) override {
        sink_ = std::move(sink);
        return tokens_;
    }
    void submit(Command command, ReplyToken token) override { submit_(std::move(command), token); }
    bool withdraw(ReplyToken token) override { return engine_.withdraw(token); }
    std::vector<TargetQueue> take_changed_targets(TargetKind kind) override {
        return engine_.take_changed_targets(kind);
    }
    bool have_targets_changed(TargetKind kind) const override { return engine_.have_targets_changed(kind); }
    std::uint64_t queues_with_target(TargetKind kind) const override { return engine_.queues_with_target(kind); }

  private:
    Engine& engine_;
    const ReplyTokens tokens_;
    const std::function<void(Command, ReplyToken)> submit_;
    ReplySink sink_;
};

}  // namespace duewheel
