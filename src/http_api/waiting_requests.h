// The requests whose commands the engine has not answered yet: each gets the response when the reply comes, and a
// request with many parts when all replies have come. For the loop's thread; O(1) a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "access/dashboard_sessions.h"
#include "access/token_activity.h"
#include "base/secret.h"
#include "engine/commands/command.h"
#include "http_api/access/access_right.h"
#include "http_api/answers/answer_text.h"
#include "http_api/api_responder.h"
#include "http_api/calls/request_log.h"
#include "net/http/http_server.h"
#include "port/command_port.h"

namespace duewheel {

struct BatchRequest;

class WaitingRequests {
  public:
    // All outlive it.
    WaitingRequests(CommandPort& port, TokenActivity& activity, const DashboardSessions& sessions,
                    ApiResponder& responder)
        : port_(port),
          activity_(activity),
          sessions_(sessions),
          responder_(responder),
          tokens_(port.add_sink([this](ReplyToken token, Reply reply) { deliver(token, std::move(reply)); })) {}

    // A request with one command.
    struct Single {
        HttpReply reply;
        RequestNote note;
        AccessRight right{};                    // of one that waits for messages: it sees none without it
        bool raw_put = false;                   // its members came as header fields
        std::optional<ChangeOutcome> wanted{};  // of a command on a message (late_outcome.h)
        std::optional<Secret> secret{};         // of a changed access token, which the response may show
    };
    void submit(Command&& command, Single request, const SharedLimits& limits);
    // A request with many parts.
    void submit_batch(BatchRequest request, bool of_puts, const SharedLimits& limits, RequestNote note,
                      HttpReply reply);

    // Refuses the requests for messages whose access token has expired; returns when to call it again at the latest, in
    // nanoseconds from now. Those whose token is changed are refused with the reply to that.
    std::int64_t end_expired();
    // Refuses the requests for messages that a change of this token, or the end of a session, has left without a right.
    // O(waiting requests).
    void end_lapsed(std::string_view token_id);
    // While the log is unavailable: refuses those that have waited for it since kLogWaitNs.
    void refuse_old(std::int64_t now_ns);
    static constexpr std::int64_t kLogWaitNs = 5'000'000'000;

    std::size_t size() const { return waiting_.size(); }

  private:
    // A request with many parts, while it waits for their replies.
    struct Batch {
        HttpReply reply;
        RequestNote note;
        bool of_puts = false;
        std::vector<PartAnswer> parts;
        std::vector<std::size_t> submitted;  // the parts that were submitted to the engine, in that order
        std::size_t missing = 0;
    };
    // The receiver of a reply: a single request, or one part of a batch.
    struct Waiting {
        std::optional<Single> single;
        std::shared_ptr<Batch> batch;  // shared by its parts
        std::size_t part = 0;
    };

    void deliver(ReplyToken token, Reply reply);
    void forget(ReplyToken token);
    void withdraw(ReplyToken token, const Error& why);
    void give_back(const LeaseAnswer& answer);
    void deliver_single(Single& request, Reply reply);
    void deliver_token(Single& request, TokenAnswer answer);
    void deliver_part(Batch& batch, std::size_t part, Reply reply);

    CommandPort& port_;
    TokenActivity& activity_;
    const DashboardSessions& sessions_;
    ApiResponder& responder_;
    std::unordered_map<ReplyToken, Waiting> waiting_;
    std::set<std::pair<InstantMs, ReplyToken>> expiring_;  // of waiting requests for messages, by server time
    ReplyTokens tokens_;
};

}  // namespace duewheel
