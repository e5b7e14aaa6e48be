// The pusher with a real engine, and a client whose responses the test determines.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"
#include "port/engine_delivery_port.h"
#include "support/recording_log.h"
#include "webhooks/webhook_pusher.h"

namespace duewheel {

using What = ConfigureQueueCommand::What;
using Kind = WebhookAnswer::Kind;

constexpr std::int64_t kTimeoutMs = 5'000;

inline std::string field_of(const WebhookRequest& request, std::string_view name) {
    for (const auto& [each, value] : request.fields) {
        if (each == name) return value;
    }
    return "-";
}

class WebhookTrial {
  public:
    explicit WebhookTrial(WebhookOptions chosen = {}, EngineOptions engine_options = {})
        : options(std::move(chosen)), shard(engine_options) {
        pusher.emplace(port, options, secrets, cipher,
                       WebhookPusher::Surroundings{[this](WebhookRequest request, WebhookClient::Done done) {
                                                       sent.push_back({std::move(request), std::move(done)});
                                                   },
                                                   [](std::string_view) {
                                                       return HeaderFields{{"X-Kept", "1"}};
                                                   },
                                                   [] { return std::int64_t{1'700'000'000'000}; }},
                       log);
    }

    void set_target(const std::string& queue, WebhookTarget target, const std::string& name_space = "default") {
        QueueSettings settings;
        settings.webhook = std::move(target);
        settings.retry.jitter_permille = 0;
        shard.ask<QueueAnswer>(ConfigureQueueCommand{name_space, queue, What::set, std::move(settings), true});
        run();
    }
    static WebhookTarget target(std::string url = "http://example.com/in", std::uint32_t concurrency = 4,
                                std::uint32_t rate = 0) {
        return {std::move(url), {}, kTimeoutMs, concurrency, rate};
    }
    QueueAnswer queue(const std::string& name) { return shard.ask<QueueAnswer>(DescribeQueueCommand{"default", name}); }
    QueueAnswer tell(const std::string& name, What what) {
        const QueueAnswer answer = shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", name, what, {}});
        run();
        return answer;
    }

    // Turns of pusher and engine until neither has anything to do at this instant.
    void run(std::int64_t step_ms = 0) {
        for (int turns = 0; turns < 1'000; ++turns) {
            shard.engine().set_time(shard.engine().now() + step_ms);
            pusher->run_due(shard.engine().now());
            shard.turn(std::exchange(step_ms, 0));
            hand_over();
            if (pusher->next_wakeup(shard.engine().now()) > shard.engine().now()) return;
        }
        FAIL() << "it turns for ever";
    }
    void answer(std::size_t which, WebhookAnswer with) {
        ASSERT_LT(which, sent.size());
        Sent one = std::move(sent[which]);
        sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(which));
        one.done(std::move(with));
        run();
    }
    void answer_first(int status, std::int64_t retry_after_s = 0) {
        WebhookAnswer with;
        with.kind = Kind::answered;
        with.status = status;
        with.retry_after_s = retry_after_s;
        answer(0, std::move(with));
    }
    void end_first(Kind kind) {
        WebhookAnswer with;
        with.kind = kind;
        with.text = "why";
        answer(0, std::move(with));
    }
    void put_other(const std::string& queue, const std::string& body) {
        PutCommand put;
        put.name_space = "other";
        put.queue = queue;
        put.body = body;
        shard.ask<PutAnswer>(std::move(put));
    }
    MessageAnswer look(MessageId id) { return shard.ask<MessageAnswer>(GetCommand{"default", id}); }
    std::vector<std::string> bodies() const {
        std::vector<std::string> all;
        for (const Sent& each : sent) all.push_back(each.request.body);
        return all;
    }

    struct Sent {
        WebhookRequest request;
        WebhookClient::Done done;
    };
    WebhookOptions options;
    WebhookSecrets secrets;
    HeaderCipher cipher;
    RecordingLog log;
    TrialEngine shard;
    ReplySinks sinks;
    EngineDeliveryPort port{shard.engine(), sinks};
    std::deque<Sent> sent;
    std::optional<WebhookPusher> pusher;
    bool holds_leases = false;  // what is delivered comes late

  private:
    bool is_for_pusher(ReplyToken token, const Reply& reply) const {
        return ReplyTokens::sink_of(token) != 0 && !(holds_leases && std::holds_alternative<LeaseAnswer>(reply));
    }
    void hand_over() {
        std::vector<std::pair<ReplyToken, Reply>> mine;
        for (auto& [token, reply] : shard.replies) {
            if (is_for_pusher(token, reply)) mine.emplace_back(token, std::move(reply));
        }
        for (auto& [token, reply] : mine) {
            shard.replies.erase(token);
            sinks.deliver(token, std::move(reply));
        }
        shard.turn();
        const bool more = std::any_of(shard.replies.begin(), shard.replies.end(),
                                      [this](const auto& each) { return is_for_pusher(each.first, each.second); });
        if (more) hand_over();
    }
};

}  // namespace duewheel
