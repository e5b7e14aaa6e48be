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
// Namespaces share connections and memory: each may have four times as much as is left free, so that one with hanging
// targets leaves a fifth, and the next one four fifths of that. Within a namespace a target may have as much as it
// leaves to the others: a hanging one, whatever its concurrency, leaves half, and of several such targets each leaves
// as much as it has. Posts that wait for a connection take turns by namespace, and within each by target.
//
// Its work is proportional to the events: changes of queues, responses, ends of backoffs; it never scans all targets.
// Takes the time as an argument, and has no thread and no clock; for the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/log.h"
#include "delivery/header_cipher.h"
#include "delivery/lease_ends.h"
#include "delivery/target_breaker.h"
#include "delivery/target_pace.h"
#include "delivery/target_setup.h"
#include "delivery/target_table.h"
#include "delivery/webhook_client.h"
#include "delivery/webhook_message.h"
#include "delivery/webhook_options.h"
#include "delivery/webhook_secrets.h"
#include "engine/engine.h"

namespace duewheel {

struct WebhookCounters {
    std::uint64_t posted = 0;
    std::uint64_t delivered = 0;  // answered 2xx
    std::uint64_t refused = 0;    // answered with another status
    std::uint64_t no_answer = 0;
    std::uint64_t not_sent = 0;
    std::uint64_t forbidden = 0;   // of these: by the rules for addresses
    std::uint64_t released = 0;    // leased and not posted
    std::uint64_t ended_late = 0;  // the lease had ended before the response could be recorded
    std::uint64_t breakers_opened = 0;
    std::uint64_t targets_gone = 0;

    std::uint64_t in_flight = 0;
    std::uint64_t bytes_in_flight = 0;
    std::uint64_t targets = 0;
    std::uint64_t targets_open = 0;
};

class WebhookPusher {
  public:
    // Of its lease calls and the ends of its leases; the lower bits count them.
    static constexpr ReplyToken kTokenBit = ReplyToken{1} << 62;
    static constexpr DueMs kNoWakeup = Engine::kNoWakeup;

    using Send = std::function<void(WebhookRequest, WebhookClient::Done)>;
    struct Surroundings {
        std::function<void(Command, ReplyToken)> submit;  // to the engine
        Send send;
        std::function<HeaderFields(std::string_view kept)> read_headers;  // from the stored form
        std::function<std::int64_t()> wall_now_ms;                        // for webhook-timestamp
    };

    // All must outlive it; `done` of sent requests must not be called after its end.
    WebhookPusher(Engine& engine, const WebhookOptions& options, const WebhookSecrets& secrets,
                  const HeaderCipher& cipher, Surroundings surroundings, LogSink& log);
    ~WebhookPusher();

    // Before each iteration of the engine, which then executes its commands.
    void act(DueMs now);
    // The engine's reply to one of its tokens.
    void reply(ReplyToken token, Reply reply);
    // When act() has something to do again, after the engine's replies were passed on. `now` for at once.
    DueMs next_wakeup(DueMs now) const;

    // From now on nothing is leased, and leased messages that are not posted yet are released.
    void stop();
    // Nothing is being posted, or waits to be recorded.
    bool is_idle() const { return in_flight_ == 0 && ends_.size() == 0 && lines_.empty() && answers_.empty(); }

    WebhookCounters counters() const;
    // Of a queue with a webhook. O(log targets).
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
    struct Share;
    struct Target : TargetEntry {
        Share* share = nullptr;
        std::optional<WebhookTarget> webhook;
        bool paused = false;
        bool is_fit = false;   // it can be posted to, and signed for
        std::string gone_url;  // that said it is gone, until the engine has answered the pause for it
        TargetSetup setup;
        TargetPace pace;
        TargetBreaker breaker;
        DueMs backoff_until_ms = 0;  // as the target asked, or as the engine's refusal says
        ReplyToken leasing = 0;
        std::size_t bytes = 0;        // of leased messages whose posts are not finished
        std::deque<Queued> queued;    // leased; it waits for a connection
        std::uint32_t in_flight = 0;  // posts
        std::uint32_t trying = 0;     // of these, since the breaker last opened
        std::uint32_t busy = 0;       // posts in progress, and queued ones
        std::uint32_t ends = 0;       // acks and failures without a reply
        bool starved = false;         // waits for its share of resources
        bool fed = false;             // and it is its turn
    };
    // The combined use of the targets of a namespace.
    struct Share {
        std::size_t targets = 0;
        std::size_t in_flight = 0;         // posts
        std::size_t begun = 0;             // targets that have any
        std::size_t bytes = 0;             // of leased messages whose posts are not finished
        std::size_t queued = 0;            // messages, of all of them
        std::deque<TargetNumber> lines;    // they have queued messages, in the order of their turns
        std::deque<TargetNumber> starved;  // they wait for resources
    };
    struct Arrived {
        Post post;
        WebhookAnswer answer;
    };

    void take_changes();
    void take_change(TargetQueue changed);
    void serve(TargetNumber number);
    bool forget_if_over(TargetNumber number);
    std::uint32_t wanted_by(Target& target);
    std::size_t room_of(const Target& target) const;
    bool may_have_one(const Share& share) const;
    void withdraw(Target& target);
    void take_messages(TargetNumber number, LeaseAnswer answer);
    void begin_queued();
    bool may_post(const Target& target) const;
    DueMs backs_off_until(const Target& target) const;
    void post(Post post, Delivered message);
    void leave(const Post& post);
    void release(const Post& post);
    void take_answer(Arrived arrived);
    void update_breaker(Target& target, const Post& post, const WebhookAnswer& answer);
    void settle(const Post& post, const WebhookAnswer& answer);
    void log_backoff(const Target& target, std::int64_t backoff_ms, const WebhookAnswer& answer);
    void pause_gone(const Post& post);
    void end(const Post& post, Command command);
    void take_end(const LeaseEnds::Ended& ended);
    std::int64_t timeout_of(const Target& target) const;
    std::uint32_t concurrency_of(const Target& target) const;
    std::size_t kept_in(const Share& share) const;
    std::size_t left_in(const Share& share) const;
    std::size_t room_in(const Share& share) const;
    bool may_begin(const Share& share) const;
    bool may_begin(const Target& target) const;
    bool may_go(const Target& target, const Post& post) const;
    bool begin_next(Share& share);
    void serve_starved();
    bool may_feed() const;

    Engine& engine_;
    const WebhookOptions& options_;
    const WebhookSecrets& secrets_;
    const HeaderCipher& cipher_;
    const Surroundings surroundings_;
    LogSink& log_;
    DueMs now_ = 0;
    bool stopping_ = false;

    TargetTable<Target> targets_;
    std::size_t unencrypted_ = 0;          // targets among the changed ones whose headers are not encrypted
    std::map<std::string, Share> shares_;  // by namespace
    std::size_t starved_ = 0;              // targets
    std::deque<Share*> lines_;             // with queued messages, in the order of their turns

    std::unordered_map<ReplyToken, TargetNumber> leases_requested_;
    std::uint64_t next_token_ = 1;
    LeaseEnds ends_;

    std::vector<Arrived> answers_;  // since the last iteration
    std::uint64_t in_flight_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t open_ = 0;  // breakers
    WebhookCounters counters_;
    Histogram post_us_;
};

}  // namespace duewheel
