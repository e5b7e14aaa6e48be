// Judges what is posted to webhooks. As a client of the engine, the pusher is judged like any other (oracle.h); this
// class checks what it owes to the targets and their messages:
//
//     C1  the message that was leased, complete         C8  once under each lease, and within it
//     C3  acknowledged only if its target accepted it   C11 within concurrency and rate
//     C7  nothing of a queue that is paused             C12 to the target of its queue
//     X   left alone while the target asks for it, or fails; released if the target is gone
//
// It knows the settings of a queue while all commands about them are answered, and judges only then. Like the oracle it
// stops at the first violation. For one process: posts of a process that died no longer count.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "simulation/oracle.h"
#include "webhooks/webhook_message.h"
#include "webhooks/webhook_options.h"

namespace duewheel {

class PostJudge {
  public:
    // A message in one of its attempts.
    using Key = std::pair<MessageId, std::uint32_t>;

    PostJudge(const WebhookOptions& options, Oracle& oracle, RareStates& rare)
        : options_(options), oracle_(oracle), rare_(rare) {}

    void process_died();

    // The consumer asks for messages, and was given these.
    void asks(const LeaseCommand& lease);
    void leased(const LeaseCommand& asked, const LeaseAnswer& answer);
    // It asks for the end of a lease, and is answered.
    void ended(const Command& command);
    void end_answered(const Command& command, const Reply& reply);
    // Somebody was answered about a queue, whose settings may be other ones.
    void told_of(const QueueAnswer& queue);

    // A target sees this request begin, and it ends for who sent it.
    Key posted(const WebhookRequest& request, DueMs now);
    void answered(const Key& key, const WebhookAnswer& answer, DueMs now);

    // Nothing is posted and nothing waits to be: no lease is left.
    void consumer_is_idle(DueMs now);

  private:
    using QueueKey = std::pair<std::string, std::string>;
    struct Held {
        QueueKey queue;
        Delivered message;
        std::uint64_t openings = 0;  // of the target, when it was posted
        std::uint64_t settings = 0;  // how often those of the queue had been told when it was asked for
        bool is_posted = false;
        bool is_ended = false;
        bool was_refused = false;  // the end of its lease, for want of room or space
        std::string url;
        std::optional<WebhookAnswer> answer;
    };
    struct Target {
        std::string url;                   // of the last post
        std::uint32_t in_flight = 0;       // posts to it
        std::deque<DueMs> begun;           // when, of the last second
        std::uint32_t failures = 0;        // in a row, that say that it does not work
        std::uint64_t openings = 0;        // how often that were so many, or its settings were told
        std::uint64_t settings = 0;        // how often these were told
        std::uint64_t asked_settings = 0;  // when messages were asked for
        std::uint64_t revision = 0;        // of them
        std::uint32_t tries_open = 0;      // posts in progress since then
        bool rests = false;
        DueMs backs_off_until = 0;
        DueMs left_alone_until = 0;  // as it asked for
        bool is_gone = false;        // as it said, and nobody was told of its queue since
    };

    void violate(std::string_view clause, const std::string& what, const Held& held);
    void check_content(const WebhookRequest& request, const Held& held);
    void check_settings(const WebhookRequest& request, const Held& held, Target& target, DueMs now);
    void count_failure(Target& target, const Held& held, DueMs now);

    const WebhookOptions& options_;
    Oracle& oracle_;
    RareStates& rare_;
    std::map<Key, Held> held_;  // leased, and the end of the lease not answered
    std::map<QueueKey, Target> targets_;
    std::size_t in_flight_ = 0;
};

}  // namespace duewheel
