// For the tests of this module: the port of a trial engine.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/trial/trial_engine.h"
#include "port/command_port.h"

namespace duewheel {

// Its lateness and wheel are not asked for by sessions.
class TrialPort final : public CommandPort {
  public:
    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void submit(Command&& command, ReplyToken token, SharedLimits limits) override {
        tokens_.emplace(shard_.submit(std::move(command), std::move(limits)), token);
        ++submitted;
    }
    void forget(ReplyToken token) override {
        for (const auto& [engines, own] : tokens_) {
            if (own == token) shard_.engine().forget(engines);
        }
    }
    bool withdraw(ReplyToken token) override {
        return std::any_of(tokens_.begin(), tokens_.end(), [&](const auto& each) {
            return each.second == token && shard_.engine().withdraw(each.first);
        });
    }
    // Replies as they are known, in the order of their commands.
    void deliver() {
        shard_.turn();
        while (!shard_.replies.empty()) {
            auto reply = shard_.replies.extract(shard_.replies.begin());
            sinks_.deliver(tokens_.at(reply.key()), std::move(reply.mapped()));
            if (shard_.replies.empty()) shard_.turn();
        }
    }
    TrialEngine& shard() { return shard_; }

    const AccessToken* find_token(std::string_view) const override { return nullptr; }
    const AccessToken* find_token_of_certificate(std::string_view) const override { return nullptr; }
    EngineCounters counters() const override { return {}; }
    std::vector<QueueCounters> busiest_queues(std::size_t) const override { return {}; }
    std::optional<ReadyKey> first_ready(std::string_view queue) override {
        return shard_.engine().first_ready(kDefaultNamespace, queue);
    }
    QueueSums queue_sums() const override { return {}; }
    DeliveryLevels recent_deliveries() const override { return {}; }
    const LatenessHistory& lateness_history() const override { std::abort(); }
    WheelView wheel() const override { return {}; }
    ClockStatus clock() const override { return {}; }
    bool accept_clock() override { return false; }
    void advance_clock(std::int64_t) override {}

    int submitted = 0;

  private:
    TrialEngine shard_;
    ReplySinks sinks_;
    std::map<ReplyToken, ReplyToken> tokens_;
};

}  // namespace duewheel
