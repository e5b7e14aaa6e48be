// Passes the commands of the reader of input topics to the engine.
//
// A record becomes a message of the queue with the name of its target topic. Before the first message of such a queue
// in this run, and the first one after its target was removed, the queue gets the topic as its target, unless it has a
// target: the command waits until that is durable, so that no message stays in a queue that does not send it.
//
// For the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "engine/commands/command.h"
#include "port/reply_sinks.h"
#include "store/queue_names.h"

namespace duewheel {

class KafkaIntake {
  public:
    using Submit = std::function<void(Command, ReplyToken)>;
    using Done = std::function<void(Reply)>;

    // Passes the replies to its tokens to reply().
    KafkaIntake(Submit submit, ReplyTokens tokens) : submit_(std::move(submit)), tokens_(tokens) {}

    // `done` gets the reply of the engine, or the error for which a queue could not get its target.
    void accept(Command command, Done done);
    // The queue does not send to Kafka any more, as far as its settings are durable.
    void target_removed(const QueueName& queue);
    // The engine's reply to one of its tokens.
    void reply(ReplyToken token, Reply reply);

  private:
    // A command whose queues get their targets.
    struct Held {
        Command command;
        Done done;
        std::size_t targets_awaited = 0;
    };
    struct Awaited {
        Done done;                   // of a command that the engine has
        std::shared_ptr<Held> held;  // or of the target of a queue
        std::string queue;
    };

    void submit(Command command, Done done);

    const Submit submit_;
    std::set<std::string> ready_;  // queues with a target
    std::unordered_map<ReplyToken, Awaited> awaited_;
    ReplyTokens tokens_;
};

}  // namespace duewheel
