// For the engine's tests: dead letters. The rule of their queue has one attempt.
#pragma once

#include <string>
#include <vector>

#include "engine/trial/trial_engine.h"

namespace duewheel {

// Puts a message that fails at once.
inline MessageId put_dead(TrialEngine& shard, const std::string& queue = "q", const std::string& body = "body",
                          const std::string& key = "") {
    PutCommand put;
    put.queue = queue;
    put.body = body;
    put.key = key;
    const MessageId id = shard.ask<PutAnswer>(put).id;
    const auto taken = shard.ask<LeaseAnswer>(LeaseCommand{"default", queue, 1, 30'000, 0}).messages;
    EXPECT_EQ(taken.size(), 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{taken.at(0).lease, "because", {}}).outcome, LeaseOutcome::dead);
    return id;
}

// Adds `count` of them to `ids`, each `step_ms` after the one before.
inline void put_dead(TrialEngine& shard, int count, std::int64_t step_ms, std::vector<MessageId>& ids) {
    for (; count > 0; --count) {
        ids.push_back(put_dead(shard));
        shard.turn(step_ms);
    }
}

}  // namespace duewheel
