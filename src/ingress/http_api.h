// The HTTP API: converts requests into commands and replies into responses. docs/http_api.md describes the calls and
// codes.
//
// It refuses requests that cannot be parsed as a command; the engine decides about all others. Use it on the loop's
// thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/audit_port.h"
#include "access/failed_token_limit.h"
#include "access/token_activity.h"
#include "base/instant.h"
#include "base/log.h"
#include "base/secret.h"
#include "ingress/call_path.h"
#include "ingress/caller.h"
#include "ingress/command_port.h"
#include "ingress/event_streams.h"
#include "ingress/recent_log.h"
#include "ingress/request_log.h"
#include "message/kafka_target.h"
#include "message/schedule_times.h"
#include "message/webhook_target.h"
#include "net/http_server.h"

namespace duewheel {

struct Readiness {
    bool ready = false;
    std::vector<std::string> reasons;  // why not
};

struct HttpApiOptions {
    std::size_t body_bytes_max = 1u << 20;
    std::size_t queue_name_bytes_max = 200;
    std::size_t key_bytes_max = 256;
    std::size_t batch_max = 1'000;  // messages of a put, leases of an end
    std::size_t headers_max = 32;
    std::size_t headers_bytes_max = 8u << 10;
    FindZone find_zone = &Zone::load;  // for schedules
    // Server time, against which instants given as numbers are checked for a wrong unit. HttpApi sets it from its port.
    std::function<InstantMs()> server_ms = [] { return InstantMs{0}; };
    // Whether a queue may have this webhook. Normalizes its URL, and encrypts the values of its headers if the server
    // has a key for that.
    std::function<Status(std::string_view name_space, std::string_view queue, WebhookTarget&)> check_webhook =
        [](std::string_view, std::string_view, WebhookTarget&) { return Status(); };
    // Whether a queue may have this Kafka target.
    std::function<Status(std::string_view name_space, std::string_view queue, const KafkaTarget&)> check_kafka =
        [](std::string_view, std::string_view, const KafkaTarget&) { return Status(); };
    // The response to a request that another node has to answer; nothing: this node does.
    std::function<std::optional<HttpResponse>(const HttpRequest&, const CallPath&)> redirect =
        [](const HttpRequest&, const CallPath&) { return std::nullopt; };
    CallerRules callers;
    bool auth_required = false;             // a request needs an access token
    bool dashboard = true;                  // serve the dashboard
    const RecentLog* recent_log = nullptr;  // of events; null: they have no log lines
    AuditPort* audit = nullptr;  // records administrative requests and refusals of access; null: they are not recorded
    RequestLogOptions requests;
    std::string contract;  // contract_text()
    std::string version;
    std::function<std::uint64_t()> disk_free_bytes = [] { return std::uint64_t{0}; };
    std::string instance;  // identifies the log, as in exports of it
    std::function<std::string()> metrics;
    std::function<std::string()> kafka_stats = [] { return std::string(); };  // a JSON object; empty: no Kafka
    std::function<Readiness()> readiness;
    // Of a log that is also on other machines, which cannot be reached at the moment.
    std::function<bool()> log_is_unavailable = [] { return false; };
};

struct BatchRequest;

// Refusals of access since the start, by their code.
struct AccessRefusals {
    std::uint64_t token_required = 0;
    std::uint64_t bad_token = 0;
    std::uint64_t token_expired = 0;
    std::uint64_t forbidden = 0;
    std::uint64_t too_many_requests = 0;
    std::uint64_t too_many_failed_tokens = 0;
};

class HttpApi {
  public:
    // Port and log outlive the API.
    HttpApi(CommandPort& port, HttpApiOptions options, LogSink& log);

    void handle(const HttpRequest& request, HttpReply reply);
    // The shard's reply to one of this API's commands.
    void deliver(ReplyToken token, Reply reply);
    // The response to a request that the HTTP server itself refuses.
    HttpResponse refuse(int status, std::string_view code, std::string_view message);

    // Sends events (event_streams.h) that are due at `now_ns` by the monotonic clock; returns when to call it again.
    std::int64_t send_events(std::int64_t now_ns) { return events_.act(now_ns); }
    // While the log is unavailable: refuses the requests that have waited for it since kLogWaitNs.
    void refuse_waiting(std::int64_t now_ns);
    static constexpr std::int64_t kLogWaitNs = 5'000'000'000;
    // Ends the responses without an end, for a server that is about to stop.
    void stop_events() { events_.stop(); }

    std::size_t waiting() const { return waiting_.size(); }
    const AccessRefusals& access_refusals() const { return access_refusals_; }

  private:
    // A request with many parts, while it waits for their replies.
    struct Batch {
        HttpReply reply;
        RequestNote note;
        bool of_puts = false;
        std::vector<Reply> parts;
        std::vector<std::size_t> submitted;  // the parts that were submitted to the engine, in that order
        std::size_t missing = 0;
    };
    // The receiver of a reply: a single request, or one part of a batch.
    struct Waiting {
        std::optional<HttpReply> single;
        RequestNote note;  // of a single request
        std::shared_ptr<Batch> batch;
        std::size_t part = 0;
        bool raw_put = false;                 // its members came as header fields
        std::optional<ChangeOutcome> wanted;  // of a command on a message (late_outcome.h)
        std::optional<Secret> secret;         // of a changed access token, which the response may show
    };
    // A request whose caller is known.
    struct Admitted {
        const HttpRequest& request;
        CallPath call;
        const AccessToken* token;  // null: none is required
        SharedLimits limits;       // of the token
    };

    Result<Principal> identify(const HttpRequest& request);
    void refuse_credentials(HttpReply reply, const RequestNote& note, const Error& error);
    bool may_fail(const RequestNote& note, HttpReply& reply);
    void answer_session(const HttpRequest& request, RequestNote note, HttpReply reply);
    void begin_session(const HttpRequest& request, RequestNote note, HttpReply reply);
    HttpResponse session_text(const AccessToken* token) const;
    void record_session(RequestNote note, std::string_view verb);
    Status check_access(const HttpRequest& request, const CallPath& call, const Principal& principal) const;
    bool is_within_rates(const HttpRequest& request, const Principal& principal, const RequestNote& note,
                         HttpReply& reply);
    void answer_page(const Admitted& admitted, RequestNote note, HttpReply reply);
    void answer_call(const Admitted& admitted, RequestNote note, HttpReply reply);
    void submit_batch(BatchRequest request, const Admitted& admitted, RequestNote note, HttpReply reply);
    void deliver_part(Batch& batch, std::size_t part, Reply reply);
    void deliver_token(Waiting& waiting, TokenAnswer answer);
    Result<HttpResponse> read_stats(const HttpRequest& request) const;
    HttpResponse stats(std::size_t most_queues) const;
    void answer_events(const Admitted& admitted, RequestNote note, HttpReply reply);
    const std::string& wheel_page();
    void submit(Command command, Waiting waiting, const SharedLimits& limits);
    void count_refusal(std::string_view code);
    // `code` is that of a refusal.
    void answer(HttpReply reply, const RequestNote& note, HttpResponse response, std::string_view code = {});
    void send(HttpReply reply, const RequestNote& note, HttpResponse response, std::string_view code);
    void refuse(HttpReply reply, const RequestNote& note, const Error& error);

    CommandPort& port_;
    const HttpApiOptions options_;
    RequestLog log_;
    TokenActivity activity_;
    FailedTokenLimit failed_tokens_;
    AccessRefusals access_refusals_;
    std::unordered_map<ReplyToken, Waiting> waiting_;
    ReplyToken next_token_ = 1;
    EventStreams events_;
    std::string wheel_page_;
    std::int64_t wheel_page_until_ns_ = 0;
};

// For HttpServer: the problem documents of its own refusals.
HttpResponse format_http_error(int status, std::string_view code, std::string_view message);

}  // namespace duewheel
