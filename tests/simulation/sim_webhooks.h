// The webhook pusher in the simulator, with simulated targets. A target has a behaviour, which changes: it accepts or
// refuses posts, asks to be left alone, is gone, does not respond, breaks the connection, or is unreachable. Its
// responses arrive at moments that the seed chooses, in any order.
//
//     engine ──lease──► pusher ──post──► target, some steps later ──answer──► pusher ──ack, fail, release──► engine
//                 │                │                              │
//                 └── the oracle ──┴───────── post_judge ─────────┘
//
// To the oracle the pusher is one of the clients: its requests to the engine go through this class. Sockets, TLS and
// the rules for addresses are not simulated.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "shared/random.h"
#include "simulation/event_hash.h"
#include "simulation/oracle.h"
#include "simulation/post_judge.h"
#include "simulation/sim_delivery_port.h"
#include "simulation/sim_options.h"
#include "webhooks/webhook_pusher.h"

namespace duewheel {

class SimWebhooks {
  public:
    static constexpr ReplyTokens kTokens{64};
    static constexpr std::uint32_t kTargets = 4;
    // In the one form of URLs.
    static std::string url_of(std::uint32_t target);

    // All outlive it.
    SimWebhooks(const SimOptions& options, Oracle& oracle, LogSink& log, RareStates& rare, EventHash& hash,
                Random random);

    // A process begins; it ends with all that is in progress.
    void start(Engine& engine);
    void process_died();

    // Before each turn of the engine, which was told the time.
    void run_due();
    // A reply to one of the pusher's tokens.
    void hear(const ReplyEffect& effect);
    static bool is_own(ReplyToken token) { return kTokens.owns(token); }
    void told_of(const QueueAnswer& queue) { judge_.told_of(queue); }

    // A target that was posted to answers, if it wants to; false where there is none.
    bool answer_one();
    DueMs next_wakeup() const;
    // From now on targets take all, at once.
    void calm() { is_calm_ = true; }
    // Nothing is posted or waits to be; time may change that.
    bool is_quiet() const { return posts_.empty() && next_wakeup() > engine_->now(); }
    void check_quiet();
    // How many posts targets took since the last call.
    std::uint64_t take_taken() { return std::exchange(taken_, 0); }

  private:
    enum class Manner : std::uint8_t { takes, refuses, overloaded, asks_for_rest, gone, silent, breaks, unreachable };
    struct Post {
        std::uint32_t target = 0;
        DueMs times_out_ms = 0;
        PostJudge::Key key;
        WebhookClient::Done done;
    };

    void submit(Command command, ReplyToken token);
    void send(WebhookRequest request, WebhookClient::Done done);
    void answer(std::size_t post, WebhookAnswer answer);
    WebhookAnswer draw_answer(Manner manner);

    const SimOptions& options_;
    Oracle& oracle_;
    LogSink& log_;
    EventHash& hash_;
    Random random_;
    PostJudge judge_;
    const WebhookSecrets secrets_;  // none
    const HeaderCipher cipher_;     // without a key
    std::array<Manner, kTargets> manners_{};
    bool is_calm_ = false;
    std::uint64_t taken_ = 0;

    // State of the current process.
    Engine* engine_ = nullptr;
    std::optional<SimDeliveryPort> port_;
    std::unique_ptr<WebhookPusher> pusher_;
    std::vector<Post> posts_;
    struct PendingLookup {
        ReplyToken token = 0;  // the oracle's
        Command command;
    };
    std::map<ReplyToken, PendingLookup> pending_lookups_;
    std::map<std::pair<std::string, std::string>, ReplyToken> waiting_;  // lease calls, by queue
};

}  // namespace duewheel
