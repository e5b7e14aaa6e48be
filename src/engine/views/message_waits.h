// The requests that wait for the end of a message: which message each waits for, and until when.
//
// A waiting request needs no entry in memory for its message: the record of the end passes through the engine wherever
// the message is. This class only remembers; the reader of messages answers (message_reader.h). The number of waiting
// requests is limited, because each is kept in memory for up to the maximum wait; namespaces share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/uses.h"

namespace duewheel {

class MessageWaits : Uses<EngineOptions, ServerTime, TimerLanes> {
  public:
    explicit MessageWaits(const Uses& uses) : Uses(uses) {}

    // A request, with what it takes to answer it.
    struct Wait {
        ReplyToken token = 0;
        MessageId id = 0;
        std::string name_space;
        SharedLimits limits;
    };

    // False if as many wait as this namespace may have.
    bool has_room(const std::string& name_space) const;
    // The message has not ended, and there is room. O(log n), like all below.
    void add(Wait wait, std::int64_t wait_ms);
    // The end of this message is durable.
    void note_end(MessageId id);
    // Those whose message has ended, in the order of the ends and of the requests.
    std::vector<Wait> take_ended();
    // The timer with this number fired. Nothing if its request has been answered.
    std::optional<Wait> take(std::uint64_t number);
    // All of them, in the order in which they came.
    std::vector<Wait> take_all();
    // The receiver of this reply is gone.
    void forget(ReplyToken token);

    std::size_t size() const { return waits_.size(); }
    // Verifies every invariant; aborts with a message.
    void check() const;

  private:
    struct Waiting {
        Wait wait;
        TimerHandle timer;
    };

    std::map<std::uint64_t, Waiting> waits_;  // by number, which is that of the timer
    std::multimap<MessageId, std::uint64_t> by_message_;
    std::unordered_map<ReplyToken, std::uint64_t> by_reply_;
    std::unordered_map<std::string, std::size_t> of_namespace_;
    std::vector<std::uint64_t> ended_;
    std::uint64_t next_ = 1;
};

}  // namespace duewheel
