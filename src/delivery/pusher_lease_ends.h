// Ends leases: submits acks, failures and releases to the engine, and repeats those that it refuses because it is
// overloaded or the disk is full, as long as the lease lasts. Otherwise a message that was delivered would be delivered
// again for that.
//
// Takes the time as an argument; for the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/commands/command.h"

namespace duewheel {

class PusherLeaseEnds {
  public:
    // `submit`: to the engine, with a token of the owner; returns that token.
    using Submit = std::function<ReplyToken(Command)>;

    struct Ended {
        std::uint64_t context = 0;  // of the owner
        Command command;
        DueMs until_ms = 0;  // of the lease
        Reply reply{};
    };

    explicit PusherLeaseEnds(Submit submit) : submit_(std::move(submit)) {}

    // Submits the command, which must succeed before `until_ms`.
    void end(std::uint64_t context, Command command, DueMs until_ms) {
        submit({context, std::move(command), until_ms});
    }
    // Submits again what was refused and may pass now.
    void run_due(DueMs now);
    DueMs next_wakeup() const;
    // What is refused from now on is not repeated.
    void stop() { stopping_ = true; }

    bool is_of(ReplyToken token) const { return awaited_.contains(token); }
    // The reply to such a token: the end, if it is not repeated.
    std::optional<Ended> take(ReplyToken token, Reply reply, DueMs now);
    std::size_t size() const { return awaited_.size() + again_.size(); }

  private:
    void submit(Ended end);

    const Submit submit_;
    bool stopping_ = false;
    std::unordered_map<ReplyToken, Ended> awaited_;
    std::multimap<DueMs, Ended> again_;  // by the time of the next attempt
};

}  // namespace duewheel
