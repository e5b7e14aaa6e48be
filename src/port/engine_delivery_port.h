// The port of an engine whose owner passes its replies to sinks.
#pragma once

#include <utility>

#include "engine/core/engine.h"
#include "port/delivery_port.h"

namespace duewheel {

class EngineDeliveryPort final : public DeliveryPort {
  public:
    // Both outlive it.
    EngineDeliveryPort(Engine& engine, ReplySinks& sinks) : engine_(engine), sinks_(sinks) {}

    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void submit(Command command, ReplyToken token) override { engine_.submit(std::move(command), token); }
    bool withdraw(ReplyToken token) override { return engine_.withdraw(token); }
    std::vector<TargetQueue> take_changed_targets(TargetKind kind) override {
        return engine_.take_changed_targets(kind);
    }
    bool have_targets_changed(TargetKind kind) const override { return engine_.have_targets_changed(kind); }
    std::uint64_t queues_with_target(TargetKind kind) const override { return engine_.queues_with_target(kind); }

  private:
    Engine& engine_;
    ReplySinks& sinks_;
};

}  // namespace duewheel
