// For the tests of this module: requests as texts, commands as texts, and an API with real sockets whose shard is
// simulated by the test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/lease_text.h"
#include "http_api/calls/contract_fixture.h"
#include "http_api/http_api.h"
#include "net/http/http_target.h"
#include "net/loopback_fixture.h"
#include "support/recording_log.h"

namespace duewheel {

struct Call {
    std::string method;
    std::string target;
    std::string body = {};
    std::string content_type = {};  // empty: application/json where there is a body
    std::vector<std::pair<std::string, std::string>> fields = {};
};

// A request as the server shows it to its handler; its views live as long as this.
class CallRequest {
  public:
    explicit CallRequest(Call call) : call_(std::move(call)) {
        request_.method = call_.method;
        request_.target = call_.target;
        const std::string_view target = call_.target;
        const std::size_t lookup = target.find('?');
        request_.path = target.substr(0, lookup);
        if (lookup != std::string_view::npos) request_.query = target.substr(lookup + 1);
        split_path(request_.path, request_.segments);
        if (call_.content_type.empty() && !call_.body.empty()) call_.content_type = "application/json";
        if (!call_.content_type.empty()) request_.fields.push_back({"Content-Type", call_.content_type});
        for (const auto& [name, value] : call_.fields) request_.fields.push_back({name, value});
        request_.body = call_.body;
    }
    CallRequest(const CallRequest&) = delete;
    CallRequest& operator=(const CallRequest&) = delete;

    const HttpRequest& request() const { return request_; }
    // As it goes over the wire.
    std::string bytes() const {
        std::string text = call_.method + " " + call_.target + " HTTP/1.1\r\nHost: x\r\n";
        for (const HttpField& field : request_.fields) {
            text.append(field.name).append(": ").append(field.value).append("\r\n");
        }
        return text + "Content-Length: " + std::to_string(call_.body.size()) + "\r\n\r\n" + call_.body;
    }

  private:
    Call call_;
    HttpRequest request_;
};

// Every field of a command, as text.
inline std::string describe(const Command& command) {
    const auto number = [](auto value) { return std::to_string(value); };
    const auto when = [&](const When& at) {
        return at.at_ms ? " at=" + number(*at.at_ms) : " delay=" + number(at.delay_ms);
    };
    const auto message = [&](const auto& named) {
        if constexpr (requires { named.by_key; }) {
            if (named.by_key.is_given()) {
                return " " + named.name_space + " queue=" + named.by_key.queue + " key=" + named.by_key.key;
            }
        }
        return " " + named.name_space + " " + number(named.id);
    };
    const auto retry = [&](const RetryChoice& rule) {
        std::string text;
        if (rule.attempts) text += " attempts=" + number(*rule.attempts);
        if (rule.first_ms) text += " first=" + number(*rule.first_ms);
        if (rule.factor_permille) text += " factor=" + number(*rule.factor_permille);
        if (rule.max_ms) text += " max=" + number(*rule.max_ms);
        if (rule.jitter_permille) text += " jitter=" + number(*rule.jitter_permille);
        return text;
    };
    const auto repeat = [&](const std::optional<RepeatChoice>& rule) {
        if (!rule) return std::string();
        std::string text = " every=" + number(rule->every_ms);
        if (rule->times) text += " times=" + number(*rule->times);
        if (rule->factor_permille) text += " factor=" + number(*rule->factor_permille);
        if (rule->max_ms) text += " max=" + number(*rule->max_ms);
        if (rule->until_ms) text += " until=" + number(*rule->until_ms);
        return text;
    };
    const auto transaction = [&](const std::optional<TransactionRule>& rule) {
        if (!rule) return std::string();
        return " transaction=" + rule->check_queue + "," + number(rule->check_after_ms) + "," +
               number(rule->check_times) + (rule->otherwise_commit ? ",commit" : ",rollback");
    };
    return std::visit(
        [&](const auto& c) -> std::string {
            using T = std::decay_t<decltype(c)>;
            if constexpr (std::is_same_v<T, PutCommand>) {
                return "put " + c.name_space + " " + c.queue + when(c.when) +
                       (c.expires ? " expires:" + when(*c.expires) : "") +
                       (c.order_key.empty() ? "" : " order_key=" + c.order_key) +
                       (c.group.empty() ? "" : " group=" + c.group) + " priority=" + number(c.priority) +
                       " body=" + c.body + " type=" + c.content_type + " headers=" + c.headers +
                       " trace=" + c.traceparent + (c.key.empty() ? "" : " key=" + c.key) + retry(c.retry) +
                       repeat(c.repeat) + transaction(c.transaction) + (c.is_held ? " held" : "");
            } else if constexpr (std::is_same_v<T, PutBatchCommand>) {
                std::string all = "batch";
                for (const PutCommand& put : c.puts) all += "\n" + describe(Command(put));
                return all;
            } else if constexpr (std::is_same_v<T, GetCommand>) {
                return "get" + message(c) + (c.wait_ms != 0 ? " wait=" + number(c.wait_ms) : "");
            } else if constexpr (std::is_same_v<T, CancelCommand>) {
                return "cancel" + message(c);
            } else if constexpr (std::is_same_v<T, RescheduleCommand>) {
                return "reschedule" + message(c) + when(c.when);
            } else if constexpr (std::is_same_v<T, FireCommand>) {
                return "fire" + message(c);
            } else if constexpr (std::is_same_v<T, SettleCommand>) {
                return (c.commits ? "commit" : "rollback") + message(c);
            } else if constexpr (std::is_same_v<T, HoldCommand>) {
                return "hold" + message(c);
            } else if constexpr (std::is_same_v<T, KickCommand>) {
                return "kick" + message(c);
            } else if constexpr (std::is_same_v<T, DiscardCommand>) {
                return "discard" + message(c);
            } else if constexpr (std::is_same_v<T, RedriveCommand>) {
                return "redrive " + c.name_space + " " + c.queue + " max=" + (c.max ? number(*c.max) : "-");
            } else if constexpr (std::is_same_v<T, HoldLeaseCommand>) {
                return "hold " + lease_text(c.lease);
            } else if constexpr (std::is_same_v<T, LeaseCommand>) {
                return "lease " + c.name_space + " " + c.queue + " max=" + number(c.max) +
                       " lease=" + (c.lease_ms ? number(*c.lease_ms) : "-") + " wait=" + number(c.wait_ms);
            } else if constexpr (std::is_same_v<T, AckCommand>) {
                return "ack " + lease_text(c.lease) + (c.result.empty() ? "" : " result=" + c.result);
            } else if constexpr (std::is_same_v<T, FailCommand>) {
                return "fail " + lease_text(c.lease) + " reason=" + c.reason +
                       " retry_in=" + (c.retry_in_ms ? number(*c.retry_in_ms) : "-");
            } else if constexpr (std::is_same_v<T, ExtendCommand>) {
                return "extend " + lease_text(c.lease) + " lease=" + (c.lease_ms ? number(*c.lease_ms) : "-");
            } else if constexpr (std::is_same_v<T, ReleaseCommand>) {
                return "release " + lease_text(c.lease) + " delay=" + number(c.delay_ms);
            } else if constexpr (std::is_same_v<T, ListCommand>) {
                return "list " + c.name_space + " " + c.queue + " states=" + number(c.states.bits()) +
                       " from=" + number(c.from.due_ms) + "," + number(c.from.id) + " limit=" + number(c.limit);
            } else if constexpr (std::is_same_v<T, HistoryCommand>) {
                return "history " + c.name_space + " " + c.queue + " outcomes=" + number(c.outcomes.bits()) +
                       " from=" + number(c.from.due_ms) + "," + number(c.from.id) + " limit=" + number(c.limit);
            } else if constexpr (std::is_same_v<T, ForecastCommand>) {
                return "forecast " + c.name_space + " " + c.queue + " minutes=" + number(c.minutes);
            } else if constexpr (std::is_same_v<T, ConfigureQueueCommand>) {
                constexpr std::string_view kWhats[] = {"set", "pause", "resume", "purge", "discard", "remove"};
                const QueueSettings& settings = c.settings;
                return std::string(kWhats[static_cast<std::size_t>(c.what)]) + " queue " + c.name_space + " " +
                       c.queue +
                       (settings.paused ? " paused"
                        : c.keeps_pause ? " as paused"
                                        : "") +
                       " pending=" + number(settings.pending_max) + " lease=" + number(settings.lease_ms) +
                       (c.before_ms ? " before=" + number(*c.before_ms) : "") +
                       (settings.webhook ? " webhook=" + settings.webhook->url +
                                               " secrets=" + number(settings.webhook->secrets.size()) +
                                               " timeout=" + number(settings.webhook->timeout_ms) +
                                               " concurrency=" + number(settings.webhook->concurrency) +
                                               " rate=" + number(settings.webhook->rate)
                                         : "") +
                       (settings.kafka ? " topic=" + settings.kafka->topic +
                                             " key=" + settings.kafka->key.value_or("-") + " partition=" +
                                             (settings.kafka->partition ? number(*settings.kafka->partition) : "-") +
                                             (settings.kafka->exactly_once ? " exactly_once" : " at_least_once")
                                       : "");
            } else if constexpr (std::is_same_v<T, ChangeGroupCommand>) {
                GroupSettings settings{.revision = 4, .leased_max = 3, .backoff_until_ms = 7'000};
                if (const Status changed = c.change(settings, 5'000); !changed) return changed.error().message;
                return "change group " + c.name_space + " " + c.queue + " " + c.group +
                       " revision=" + number(settings.revision) + " leased=" + number(settings.leased_max) +
                       (settings.rate ? " rate=" + number(settings.rate->count) + "," + number(settings.rate->per_ms) +
                                            "," + number(settings.rate->burst)
                                      : "") +
                       " weight=" + number(settings.weight) + " backoff=" + number(settings.backoff_until_ms);
            } else if constexpr (std::is_same_v<T, DescribeGroupCommand>) {
                return "describe group " + c.name_space + " " + c.queue + " " + c.group;
            } else if constexpr (std::is_same_v<T, ListGroupsCommand>) {
                return "list groups " + c.name_space + " " + c.queue + " order=" + number(static_cast<int>(c.order)) +
                       " after=" + c.after + " limit=" + number(c.limit);
            } else if constexpr (std::is_same_v<T, DescribeQueueCommand>) {
                return "describe " + c.name_space + " " + c.queue;
            } else if constexpr (std::is_same_v<T, ListQueuesCommand>) {
                return "list queues " + c.name_space + " after=" + c.after + " limit=" + number(c.limit) +
                       (c.prefix.empty() ? "" : " prefix=" + c.prefix);
            } else if constexpr (std::is_same_v<T, ConfigureNamespaceCommand>) {
                const NamespaceSettings& settings = c.settings;
                if (c.removes) return "remove namespace " + c.name_space;
                return "set namespace " + c.name_space + " pending=" + number(settings.pending_max) +
                       " queues=" + number(settings.queues_max) + " schedules=" + number(settings.schedules_max) +
                       " watchdogs=" + number(settings.watchdogs_max) + " put_rate=" + number(settings.put_rate) +
                       " weight=" + number(settings.weight);
            } else if constexpr (std::is_same_v<T, DescribeNamespaceCommand>) {
                return "describe namespace " + c.name_space;
            } else if constexpr (std::is_same_v<T, ListNamespacesCommand>) {
                return "list namespaces after=" + c.after + " limit=" + number(c.limit);
            } else if constexpr (std::is_same_v<T, ChangeTokenCommand>) {
                return "change token " + c.id + (c.keeps_admin ? " keeps admin" : "");
            } else if constexpr (std::is_same_v<T, DescribeTokenCommand>) {
                return "describe token " + c.id;
            } else if constexpr (std::is_same_v<T, ListTokensCommand>) {
                return "list tokens after=" + c.after + " limit=" + number(c.limit);
            } else {
                return "not a command of this API";
            }
        },
        command);
}

// Keeps what was submitted; answers with what the test says, in a later round of the recurring message, as a shard
// does. Everything on the recurring message's thread.
class PlayedShard final : public CommandPort {
  public:
    std::function<void(ReplyToken)> answer_soon;  // set by ApiServer
    std::vector<std::pair<std::string, ReplyToken>> submitted;
    std::vector<ReplyToken> forgotten;
    EngineCounters levels;
    std::vector<QueueCounters> queue_levels;
    ClockStatus clock_status;
    LatenessHistory history;
    WheelView wheel_view;
    bool silent = false;
    SharedLimits last_limits;  // of what was submitted last
    std::map<std::string, AccessToken, std::less<>> tokens;
    std::map<std::string, std::string, std::less<>> token_of_certificate;

    const AccessToken* find_token(std::string_view id) const override {
        const auto found = tokens.find(id);
        return found == tokens.end() ? nullptr : &found->second;
    }
    const AccessToken* find_token_of_certificate(std::string_view name) const override {
        const auto found = token_of_certificate.find(name);
        return found == token_of_certificate.end() ? nullptr : find_token(found->second);
    }

    ReplyTokens add_sink(ReplySink sink) override { return sinks_.add(std::move(sink)); }
    void deliver(ReplyToken token, Reply reply) { sinks_.deliver(token, std::move(reply)); }
    void submit(Command&& command, ReplyToken token, SharedLimits limits) override {
        submitted.emplace_back(describe(command), token);
        last_limits = std::move(limits);
        if (!silent) answer_soon(token);
    }
    void forget(ReplyToken token) override { forgotten.push_back(token); }
    bool withdraw(ReplyToken) override { return false; }
    EngineCounters counters() const override { return levels; }
    std::vector<QueueCounters> busiest_queues(std::size_t most) const override {
        return {queue_levels.begin(),
                queue_levels.begin() + static_cast<std::ptrdiff_t>(std::min(most, queue_levels.size()))};
    }
    std::optional<ReadyKey> first_ready(std::string_view) override { return std::nullopt; }
    QueueSums queue_sums() const override { return {}; }
    DeliveryLevels recent_deliveries() const override { return {}; }
    const LatenessHistory& lateness_history() const override { return history; }
    WheelView wheel() const override { return wheel_view; }
    ClockStatus clock() const override { return clock_status; }
    bool accept_clock() override {
        const bool waits = clock_status.state == ClockState::quarantine || clock_status.state == ClockState::held;
        if (waits) clock_status.state = ClockState::steady;
        return waits;
    }
    void advance_clock(std::int64_t by_ms) override { clock_status.server_ms += by_ms; }

  private:
    ReplySinks sinks_;
};

class ApiServer {
  public:
    explicit ApiServer(HttpApiOptions options = {})
        : api_(shard_, with_pages(std::move(options)), log_),
          server_([this](const HttpRequest& request, HttpReply reply) { api_.handle(request, std::move(reply)); }, {},
                  classify),
          client_(std::in_place, server_.port()) {
        server_.on_loop([this] {
            shard_.answer_soon = [this](ReplyToken token) {
                server_.loop().post([this, token] { shard_.deliver(token, reply_); });
            };
        });
    }

    static constexpr ErrorCode kUnexpected = "internal"_code;  // clang 14 refuses it in a default argument
    // The whole answer to one call; the shard answers with `reply`.
    std::string ask(const Call& call, Reply reply = Error{kUnexpected, "the test expects no command"}) {
        server_.on_loop([&] {
            reply_ = std::move(reply);
            shard_.submitted.clear();
        });
        EXPECT_TRUE(client_->send(CallRequest(call).bytes()));
        std::string answer = client_->answer(call.method != "HEAD");
        // A connection with an event stream takes no other requests.
        if (answer.find("Transfer-Encoding: chunked") != std::string::npos) client_.emplace(server_.port());
        expect_in_contract(call.method, call.target, answer);
        return answer;
    }
    // What the last call became, as describe() says; empty when it was refused.
    std::string command() {
        std::string text;
        server_.on_loop([&] { text = shard_.submitted.empty() ? "" : shard_.submitted.back().first; });
        return text;
    }

    LoopbackServer& server() { return server_; }
    HttpApi& api() { return api_; }
    RecordingLog& log() { return log_; }
    PlayedShard& shard() { return shard_; }
    Readiness readiness{true, {}};

  private:
    HttpApiOptions with_pages(HttpApiOptions options) {
        options.metrics = [] { return std::string("duewheel_up 1\n"); };
        options.readiness = [this] { return readiness; };
        return options;
    }

    RecordingLog log_;
    PlayedShard shard_;
    Reply reply_;
    HttpApi api_;
    LoopbackServer server_;
    std::optional<RawClient> client_;
};

// One member of a JSON answer as text: "" where there is none.
inline std::string member_of(const std::string& answer, std::string_view member) {
    boost::json::error_code broken;
    const boost::json::value value = boost::json::parse(body_of(answer), broken);
    if (broken || !value.is_object()) return "not a JSON object: " + answer;
    const auto* found = value.get_object().if_contains(boost::json::string_view(member.data(), member.size()));
    if (found == nullptr) return "";
    return found->is_string() ? std::string(found->get_string().c_str()) : boost::json::serialize(*found);
}

}  // namespace duewheel
