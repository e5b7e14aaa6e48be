// Where the replies of an engine go. Each receiver adds its sink and gets the tokens for its commands; a token is the
// number of the sink and the number of the command, and nothing else looks into it.
//
//     receiver ──add(sink)──► ReplySinks          receiver ──submit(command, tokens.next())──► engine
//         ▲                       ▲                                                              │
//         └────sink(token, reply)─┴───────────────────deliver(token, reply)──────────────────────┘
//
// For the thread of the engine; O(1).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/commands/command.h"

namespace duewheel {

// Receives replies, never from within the call that submits the command.
using ReplySink = std::function<void(ReplyToken, Reply)>;

// The tokens of one sink.
class ReplyTokens {
  public:
    constexpr explicit ReplyTokens(std::uint8_t sink) : newest_(ReplyToken{sink} << kNumberBits) {}

    static constexpr std::size_t sink_of(ReplyToken token) { return token >> kNumberBits; }

    // Each is greater than the one before; never 0.
    ReplyToken next() { return ++newest_; }
    constexpr bool owns(ReplyToken token) const { return sink_of(token) == sink_of(newest_); }

  private:
    static constexpr unsigned kNumberBits = 56;

    ReplyToken newest_;
};

class ReplySinks {
  public:
    // Up to 255 sinks, and none is added by a sink. The sink must be callable as long as its commands have no reply.
    ReplyTokens add(ReplySink sink);

    // `token` is from one of the sinks.
    void deliver(ReplyToken token, Reply reply) const;

  private:
    std::vector<ReplySink> sinks_;  // their numbers begin at 1
};

}  // namespace duewheel
