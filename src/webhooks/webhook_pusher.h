// Posts due messages of queues with a webhook: a consumer of the engine that runs in the server.
//
//     engine ──lease──► pusher ──post──► client ──answer──► pusher ──ack, fail, release──► engine
//
// For each such queue it has one lease call without a time limit, and so without wake-ups, for as many messages as its
// target may have now: `concurrency` minus the posts in progress, limited by the rate, one while the breaker probes.
// Leases last longer than the post, so that no message is posted twice at once. 2xx acknowledges; any other result is a
// failure by the message's retry rule, with a backoff of at least Retry-After; 410 pauses the queue and releases the
// message. If the process dies between a post and its ack, the message is posted again with the same
// webhook-id.
//
// Connections and memory are shared among namespaces and targets (webhooks/webhook_shares.h).
//
// Its work is proportional to the events: changes of queues, responses, ends of backoffs; it never scans all targets.
// Takes the time as an argument, and has no thread and no clock; for the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "base/log.h"
#include "delivery/lease_calls.h"
#include "delivery/pusher_lease_ends.h"
#include "delivery/target_table.h"
#include "port/delivery_port.h"
#include "webhooks/header_cipher.h"
#include "webhooks/webhook_client.h"
#include "webhooks/webhook_counters.h"
#include "webhooks/webhook_events.h"
#include "webhooks/webhook_message.h"
#include "webhooks/webhook_options.h"
#include "webhooks/webhook_secrets.h"
#include "webhooks/webhook_shares.h"
#include "webhooks/webhook_target_state.h"

namespace duewheel {

class WebhookPusher {
  public:
    static constexpr DueMs kNoWakeup = DeliveryPort::kNoWakeup;

    using Send = std::function<void(WebhookRequest, WebhookClient::Done)>;
    struct Surroundings {
        Send send;
        std::function<HeaderFields(std::string_view kept)> read_headers;  // from the stored form
        std::function<std::int64_t()> wall_now_ms;                        // for webhook-timestamp
    };

    // All must outlive it; `done` of sent requests must not be called after its end.
    WebhookPusher(DeliveryPort& port, const WebhookOptions& options, const WebhookSecrets& secrets,
                  const HeaderCipher& cipher, Surroundings surroundings, LogSink& log);
    ~WebhookPusher();

    // Before each iteration of the engine, which then executes its commands.
    void run_due(DueMs now);
    // When run_due() has something to do again, after the engine's replies were passed on. `now` for at once.
    DueMs next_wakeup(DueMs now) const;

    // From now on nothing is leased, and leased messages that are not posted yet are released.
    void stop();
    // Nothing is being posted, or waits to be recorded.
    bool is_idle() const {
        return shares_.in_flight() == 0 && ends_.size() == 0 && !shares_.has_queued() && answers_.empty();
    }

    WebhookCounters counters() const;
    // The status of a queue with a webhook. O(log targets).
    TargetStatus target_status(const QueueName& queue, DueMs now) const;
    const Histogram& post_us() const { return post_us_; }

  private:
    struct Post {
        TargetNumber target = 0;
        LeaseToken lease;
        DueMs lease_until_ms = 0;
        std::size_t bytes = 0;
        std::uint64_t openings = 0;  // of the breaker of its target, when it was posted
        std::string url;             // its URL when it was posted
    };
    struct Queued {
        Post post;
        Delivered message;
    };
    struct Target : TargetEntry {
        WebhookTargetState state;
        WebhookShares::Use use;
        std::deque<Queued> queued;  // leased; it waits for a connection
        std::uint32_t ends = 0;     // acks and failures without a reply
        DueMs ready_ms = 0;         // since when it waits for its share, without posts of its own; 0: it does not
    };
    struct Arrived {
        Post post;
        WebhookAnswer answer;
    };

    void receive(ReplyToken token, Reply reply);
    void take_changes();
    void take_change(TargetQueue changed);
    void serve(TargetNumber number);
    void forget_if_over(TargetNumber number);
    void take_messages(TargetNumber number, LeaseAnswer answer);
    void begin_queued();
    bool may_post(const Target& target) const;
    bool may_go(const Target& target, const Post& post) const;
    void post(Post post, Delivered message);
    void leave(const Post& post);
    void release(const Post& post);
    void take_answer(Arrived arrived);
    void update_breaker(Target& target, const Post& post, const WebhookAnswer& answer);
    void end_lease(const Post& post, const WebhookAnswer& answer);
    void pause_gone(const Post& post);
    void end(const Post& post, Command command);
    void take_end(const PusherLeaseEnds::Ended& ended);

    DeliveryPort& port_;
    const WebhookOptions& options_;
    const WebhookSecrets& secrets_;
    const HeaderCipher& cipher_;
    const Surroundings surroundings_;
    WebhookEvents events_;
    DueMs now_ = 0;
    bool stopping_ = false;

    TargetTable<Target> targets_;
    std::size_t unencrypted_ = 0;  // targets among the changed ones whose headers are not encrypted
    WebhookShares shares_;

    LeaseCalls calls_;
    PusherLeaseEnds ends_;

    std::vector<Arrived> answers_;  // since the last iteration
    std::uint64_t open_ = 0;        // breakers
    WebhookCounters counters_;
    Histogram post_us_;
};

}  // namespace duewheel
