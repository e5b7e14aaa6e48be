// The HTTP API: converts requests into commands and replies into responses. docs/http_api.md describes the calls and
// codes.
//
// It refuses requests that cannot be parsed as a command; the engine decides about all others. Use it on the loop's
// thread only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "access/audit_port.h"
#include "access/dashboard_sessions.h"
#include "access/failed_token_limit.h"
#include "access/token_activity.h"
#include "base/log.h"
#include "http_api/access/audit_subject.h"
#include "http_api/access/caller.h"
#include "http_api/api_responder.h"
#include "http_api/calls/call_path.h"
#include "http_api/calls/docs_site.h"
#include "http_api/calls/event_streams.h"
#include "http_api/calls/recent_log.h"
#include "http_api/calls/request_log.h"
#include "http_api/waiting_requests.h"
#include "message/schedule_times.h"
#include "message/target_owner.h"
#include "net/http/http_server.h"
#include "port/command_port.h"
#include "resource/kafka_target.h"
#include "resource/webhook_target.h"
#include "shared/instant.h"

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
    std::function<Status(const TargetOwner&, WebhookTarget&)> check_webhook = [](const TargetOwner&, WebhookTarget&) {
        return Status();
    };
    // Whether a queue of this namespace may have this Kafka target. `is_administrator`: of the whole server, who sets
    // it.
    std::function<Status(std::string_view name_space, const KafkaTarget&, bool is_administrator)> check_kafka =
        [](std::string_view, const KafkaTarget&, bool) { return Status(); };
    // The response to a request that another node has to answer; nothing: this node does.
    std::function<std::optional<HttpResponse>(const HttpRequest&, const CallPath&)> redirect =
        [](const HttpRequest&, const CallPath&) { return std::nullopt; };
    CallerRules callers;
    bool auth_required = false;                         // a request needs an access token
    bool dashboard = true;                              // serve the dashboard, and the documentation
    std::string docs = "/usr/share/doc/duewheel/html";  // the directory of the documentation's pages
    const RecentLog* recent_log = nullptr;              // of events; null: they have no log lines
    AuditPort* audit = nullptr;  // records administrative requests and refusals of access; null: they are not recorded
    RequestLogOptions requests;
    std::string contract;  // contract_text()
    std::string version;
    std::function<std::uint64_t()> disk_free_bytes = [] { return std::uint64_t{0}; };
    std::string instance;  // identifies the log, as in exports of it
    std::function<std::string()> metrics;
    std::function<std::string()> kafka_stats = [] { return std::string(); };  // a JSON object; empty: no Kafka
    std::function<Readiness()> readiness;
    // Whether the log is also on other machines, which cannot be reached at the moment.
    std::function<bool()> log_is_unavailable = [] { return false; };
};

class HttpApi {
  public:
    // Port and log outlive the API.
    HttpApi(CommandPort& port, HttpApiOptions options, LogSink& log);

    void handle(const HttpRequest& request, HttpReply reply);
    // For HttpThreads: reads the requests of frequent calls before handle() gets them. Any thread.
    std::shared_ptr<void> prepare(const HttpRequest& request) const;
    // Whether a request may be answered otherwise than with the refusal that handle() would give it without its body.
    HttpAdmission admit(const HttpRequest& request);
    // The HTTP server itself has refused a request.
    void note_refused(int status, ErrorCode code) { responder_.note_refused(status, code); }

    // Sends events (event_streams.h) that are due at `now_ns` by the monotonic clock; returns when to call it again.
    std::int64_t send_events(std::int64_t now_ns) {
        prepared_at_ms_.store(options_.server_ms(), std::memory_order_relaxed);
        return events_.run_due(now_ns);
    }
    // While the log is unavailable: refuses the requests that have waited for it for long (waiting_requests.h).
    void refuse_waiting(std::int64_t now_ns) { waiting_.refuse_old(now_ns); }
    // Refuses the requests whose access token has expired while they waited; returns when to call it again at the
    // latest, in nanoseconds from now.
    std::int64_t end_expired() { return waiting_.end_expired(); }
    // Ends the responses without an end, for a server that is about to stop.
    void stop_events() { events_.stop(); }

    std::size_t waiting() const { return waiting_.size(); }
    const AccessRefusals& access_refusals() const { return responder_.access_refusals(); }

  private:
    // What is decided by the head of a request: it is refused, gets a response that does not depend on its body, or is
    // carried out.
    struct Decision {
        std::optional<CallPath> call;
        Principal principal;
        std::optional<AuditSubject> audit;
        std::optional<Error> refusal;
        bool has_bad_credentials = false;  // that is the reason
        std::optional<HttpResponse> response;
        ErrorCode code = ErrorCode::none;  // of the response
    };

    // A request whose caller is known.
    struct Admitted {
        const HttpRequest& request;
        CallPath call;
        Principal principal;
    };

    Decision decide_by_head(const HttpRequest& request);
    Result<Principal> identify(const HttpRequest& request);
    Result<Principal> identify_by_session(std::string_view id, InstantMs now_ms);
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
    Result<HttpResponse> read_stats(const HttpRequest& request) const;
    HttpResponse stats(std::size_t most_queues) const;
    void answer_events(const Admitted& admitted, RequestNote note, HttpReply reply);
    const std::string& wheel_page();

    CommandPort& port_;
    const HttpApiOptions options_;
    // For prepare(): server time as of the last iteration of the loop, and options that read it.
    std::atomic<InstantMs> prepared_at_ms_;
    const HttpApiOptions prepared_options_;
    ApiResponder responder_;
    TokenActivity activity_;
    FailedTokenLimit failed_tokens_;
    DashboardSessions sessions_;
    WaitingRequests waiting_;
    EventStreams events_;
    const DocsSite docs_;
    std::string wheel_page_;
    std::int64_t wheel_page_until_ns_ = 0;
};

// For HttpServer: the problem documents of its own refusals. Any thread.
HttpResponse format_http_error(int status, ErrorCode code, std::string_view message);

}  // namespace duewheel
