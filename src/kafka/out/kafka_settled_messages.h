// The messages in the ledger of exactly-once delivery (kafka/out/kafka_ledger.h) that have ended, so that their entries
// can be removed with the next batch.
//
// Some may have ended or not: another run sent them, or their lease ended before the ack. They are looked up now and
// then: nothing else tells when one is cancelled. Takes the time as an argument; for the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/commands/command.h"
#include "kafka/out/kafka_batch.h"

namespace duewheel {

class KafkaSettledMessages {
  public:
    // `submit`: to the engine, with a token of the owner; returns that token.
    using Submit = std::function<ReplyToken(Command)>;

    explicit KafkaSettledMessages(Submit submit) : submit_(std::move(submit)) {}

    // The message has ended.
    void add(MessageId id) { settled_.push_back(id); }
    // Those that have ended, once.
    std::vector<MessageId> take() { return std::exchange(settled_, {}); }

    // It is not known whether they have ended.
    void look_up(std::vector<KafkaMessageName> names, DueMs now);

    // Looks up a part of them.
    void run_due(DueMs now);
    // When run_due() has something to do; `never` if it has not, or waits for replies.
    DueMs next_wakeup(DueMs never) const;

    bool is_of(ReplyToken token) const { return lookups_.contains(token); }
    // The reply to such a token.
    void reply(ReplyToken token, const Reply& reply);

  private:
    const Submit submit_;
    std::vector<MessageId> settled_;
    std::deque<KafkaMessageName> to_look_up_;    // now
    std::vector<KafkaMessageName> still_there_;  // had not ended when they were looked up
    std::unordered_map<ReplyToken, KafkaMessageName> lookups_;
    DueMs look_up_at_ms_ = 0;
};

}  // namespace duewheel
