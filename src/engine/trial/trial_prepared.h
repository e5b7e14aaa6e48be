// For the tests of transactions: prepared messages, and what a producer says of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel {

inline constexpr std::int64_t kAfter = 1'000;

inline PutCommand half(std::int64_t delay_ms = 0, std::uint32_t times = 0, bool otherwise_commit = false) {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = delay_ms;
    command.transaction = TransactionRule{times == 0 ? "" : "checks", kAfter, times, otherwise_commit};
    command.body = "order 7";
    command.headers = R"({"a":"b"})";
    return command;
}

inline MessageId put(TrialEngine& shard, PutCommand command) {
    return shard.ask<PutAnswer>(std::move(command)).id;
}
inline bool settled(TrialEngine& shard, MessageId id, bool commits) {
    const SettleAnswer answer = shard.ask<SettleAnswer>(SettleCommand{"default", id, commits});
    return answer.id == id && answer.committed == commits;
}
inline bool committed(TrialEngine& shard, MessageId id) {
    return settled(shard, id, true);
}
inline bool rolled_back(TrialEngine& shard, MessageId id) {
    return settled(shard, id, false);
}
inline std::string refusal(TrialEngine& shard, Command command) {
    return std::string(name_of(shard.ask<Error>(std::move(command)).code));
}
inline MessageAnswer look(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id});
}
inline std::vector<Delivered> checks(TrialEngine& shard) {
    return shard.ask<LeaseAnswer>(LeaseCommand{"default", "checks", 100, 30'000, 0}).messages;
}

}  // namespace duewheel
