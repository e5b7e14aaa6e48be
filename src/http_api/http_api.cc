#include "http_api/http_api.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/duration.h"
#include "http_api/access/session_cookie.h"
#include "http_api/answers/stats_text.h"
#include "http_api/calls/call_path.h"
#include "http_api/calls/clock_call.h"
#include "http_api/calls/dashboard_call.h"
#include "http_api/calls/dashboard_file.h"
#include "http_api/calls/late_outcome.h"
#include "http_api/calls/nearest_call.h"
#include "http_api/fields/request_members.h"
#include "http_api/prepared_call.h"
#include "http_api/problem.h"
#include "http_api/request_command.h"
#include "http_api/requests/batch_request.h"
#include "http_api/requests/query_request.h"
#include "http_api/requests/token_request.h"
#include "net/http/http_target.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

// The number of queues in /v1/stats: the default and the maximum.
constexpr std::size_t kStatsQueues = 100;
constexpr std::int64_t kStatsQueuesMax = 1'000;

HttpResponse plain(int status, std::string_view type, std::string body) {
    HttpResponse response;
    response.status = status;
    response.content_type = type;
    response.body = std::move(body);
    return response;
}

HttpResponse method_not_allowed(std::string_view allowed) {
    HttpResponse response = problem({"method_not_allowed"_code, "this path takes " + std::string(allowed)});
    response.headers.push_back({"Allow", std::string(allowed)});
    return response;
}

// The methods of all resources, for `OPTIONS *` (RFC 9110, 9.3.7).
HttpResponse what_may_be_asked() {
    HttpResponse response;
    response.status = 204;
    response.headers.push_back({"Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"});
    return response;
}

// Content codings are neither decoded nor stored with a message: a coded body would be delivered without its coding.
Status check_content_coding(const HttpRequest& request) {
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "Content-Encoding")) continue;
        std::string_view codings = field.value;
        while (!codings.empty()) {
            const std::size_t comma = std::min(codings.find(','), codings.size());
            std::string_view coding = codings.substr(0, comma);
            codings.remove_prefix(std::min(comma + 1, codings.size()));
            while (coding.starts_with(' ') || coding.starts_with('\t')) coding.remove_prefix(1);
            while (coding.ends_with(' ') || coding.ends_with('\t')) coding.remove_suffix(1);
            if (coding.empty() || equal_ignoring_case(coding, "identity")) continue;
            return Error{"unsupported_content_coding"_code,
                         "content codings are not supported: send the body without Content-Encoding, or describe a "
                         "compressed body by its media type, such as application/gzip",
                         "Content-Encoding"};
        }
    }
    return {};
}

HttpApiOptions with_clock_of(CommandPort& port, HttpApiOptions options) {
    options.server_ms = [&port] { return port.clock().server_ms; };
    return options;
}

HttpApiOptions with_clock_of(const std::atomic<InstantMs>& now_ms, HttpApiOptions options) {
    options.server_ms = [&now_ms] { return now_ms.load(std::memory_order_relaxed); };
    return options;
}

Error too_many_failed_tokens(std::int64_t wait_ms) {
    return {"too_many_failed_tokens"_code,
            "this address has sent too many tokens that are not valid: correct the token of this client, and send the "
            "request again in " +
                format_duration(wait_ms),
            "Authorization"};
}

// A change that the cookie of the dashboard authenticates comes from a page of this server.
Status check_session(const HttpRequest& request, const Principal& principal) {
    if (principal.token == nullptr || request.method == "GET" || request.method == "HEAD") return {};
    if (request.header("Authorization") || !session_id(request)) return {};
    return check_session_page(request);
}

// Says after which time the request can be sent again.
HttpResponse with_retry_after(HttpResponse response, std::int64_t wait_ms) {
    for (HttpHeader& header : response.headers) {
        if (header.name == "Retry-After") header.value = std::to_string((wait_ms + 999) / 1'000);
    }
    return response;
}

Error dashboard_is_off() {
    return {"unknown_path"_code, "the dashboard of this server is off: the setting http.dashboard turns it on"};
}

HttpResponse readiness_text(const Readiness& readiness, std::string_view version) {
    std::string body;
    JsonWriter json(body);
    json.open().boolean("ready", readiness.ready).text("version", version);
    if (!readiness.reasons.empty()) {
        std::string reasons;
        for (const std::string& reason : readiness.reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
        json.text("reason", reasons);
    }
    json.close();
    return plain(readiness.ready ? 200 : 503, "application/json", std::move(body));
}

}  // namespace

HttpApi::HttpApi(CommandPort& port, HttpApiOptions options, LogSink& log)
    : port_(port),
      options_(with_clock_of(port, std::move(options))),
      prepared_at_ms_(options_.server_ms()),
      prepared_options_(with_clock_of(prepared_at_ms_, options_)),
      responder_(options_, log),
      waiting_(port, activity_, sessions_, responder_),
      events_(
          port, [this] { return stats(kStatsQueues).body; }, options_.recent_log, sessions_),
      docs_(options_.dashboard ? options_.docs : std::string()) {}

void HttpApi::handle(const HttpRequest& request, HttpReply reply) {
    RequestNote note = RequestLog::note(request, monotonic_now_ns());
    Decision decision = decide_by_head(request);
    if (decision.has_bad_credentials) return refuse_credentials(std::move(reply), note, *decision.refusal);
    const Principal principal = decision.principal;
    if (principal.token != nullptr) {
        note.token_id = principal.token->id;
        reply.trust();
    }
    if (!is_within_rates(request, principal, note, reply)) return;
    note.audit = std::move(decision.audit);
    if (decision.refusal) return responder_.refuse(std::move(reply), note, *decision.refusal);
    if (decision.response) {
        return responder_.answer(std::move(reply), note, *std::move(decision.response), decision.code);
    }
    if (request.is_head_only) {  // the decision was another one a moment ago
        return responder_.refuse(std::move(reply), note,
                                 Error{"overloaded"_code, "the request was not read in full: send it again"});
    }
    const Admitted admitted{request, *decision.call, principal};
    return is_page(decision.call->what) ? answer_page(admitted, std::move(note), std::move(reply))
                                        : answer_call(admitted, std::move(note), std::move(reply));
}

std::shared_ptr<void> HttpApi::prepare(const HttpRequest& request) const {
    return prepare_call(request, prepared_options_);
}

HttpAdmission HttpApi::admit(const HttpRequest& request) {
    const Decision decision = decide_by_head(request);
    HttpAdmission admission{.is_admitted = !decision.refusal && !decision.response};
    if (decision.principal.token != nullptr) admission.holder = decision.principal.token->id;
    return admission;
}

HttpApi::Decision HttpApi::decide_by_head(const HttpRequest& request) {
    Decision decision;
    const auto refuse = [&decision](Status status) {
        if (!status) decision.refusal = std::move(status).error();
        return decision.refusal.has_value();
    };
    if (refuse(check_caller(request, options_.callers))) return decision;
    decision.call = call_of(request.route);
    const std::optional<CallPath>& call = decision.call;
    // Before anything else: the owner knows the tokens of its shard.
    if (call) decision.response = options_.redirect(request, *call);
    if (decision.response) {
        decision.code = decision.response->status == 307 ? "other_node"_code : "no_owner"_code;
        return decision;
    }
    const bool is_open = call && need_of(call->what, request.method).reach == Reach::no_token;
    if (!is_open) {
        const Result<Principal> who = identify(request);
        if (!who) {
            decision.refusal = who.error();
            decision.has_bad_credentials = true;
            return decision;
        }
        decision.principal = *who;
        if (refuse(check_session(request, decision.principal))) return decision;
    }
    if (refuse(check_content_coding(request))) return decision;
    if (request.method == "OPTIONS" && request.path == "*") {
        decision.response = what_may_be_asked();
        return decision;
    }
    if (!call) {
        const std::string nearest = nearest_call(request.segments);
        const std::string hint = nearest.empty() ? ": " : "; the nearest is " + nearest + ", and ";
        decision.refusal = Error{"unknown_path"_code, "there is no such call" + hint + "/openapi.json lists all"};
        return decision;
    }
    const std::string_view allowed = allowed_methods(*call);
    if (!allows(allowed, request.method)) {
        decision.response = method_not_allowed(allowed);
        decision.code = "method_not_allowed"_code;
        return decision;
    }
    decision.audit = audit_subject(*call, request.method);
    if (refuse(check_access(request, *call, decision.principal))) return decision;
    if (decision.audit && options_.audit != nullptr && !options_.audit->is_available()) {
        decision.refusal = audit_unavailable("nothing was changed");
    }
    return decision;
}

// ---- access

Result<Principal> HttpApi::identify(const HttpRequest& request) {
    Credentials credentials;
    credentials.certificate_names = request.peer.certificate_names;
    credentials.certificate_expires_ms = request.peer.certificate_expires_ms;
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "Authorization")) continue;
        credentials.is_ambiguous = credentials.authorization.has_value();
        credentials.authorization = field.value;
    }
    const std::optional<std::string_view> session = credentials.authorization ? std::nullopt : session_id(request);
    const bool has_none = !credentials.authorization && !session && credentials.certificate_names.empty();
    if (has_none && !options_.auth_required) return Principal{};  // without reading the clock
    const std::int64_t now_ms = options_.server_ms();
    Result<Principal> who = session ? identify_by_session(*session, now_ms)
                                    : authenticate(credentials, port_, options_.auth_required, now_ms);
    // Servers on other ports of this host share its cookies. One that is not of this server gives no rights.
    if (!who && session && !options_.auth_required) who = authenticate(credentials, port_, false, now_ms);
    if (who && who->token != nullptr) activity_.note_use(who->token->id, now_ms);
    return who;
}

Result<Principal> HttpApi::identify_by_session(std::string_view id, InstantMs now_ms) {
    const SessionKey key = session_key(id);
    Result<Principal> who = authenticate_session(sessions_.use(key, monotonic_now_ns()), port_, now_ms);
    if (who) who->session = key;
    return who;
}

Status HttpApi::check_access(const HttpRequest& request, const CallPath& call, const Principal& principal) const {
    const Need need = need_of(call.what, request.method);
    if (principal.limits() == nullptr) return decide(principal, need, {}, {});
    const Result<std::string> name_space = percent_decode(call.name_space);
    const Result<std::string> name = percent_decode(call.name);
    if (!name_space || !name) {
        return Error{"bad_path"_code, "a percent sign in a path is followed by two hexadecimal digits"};
    }
    return decide(principal, need, *name_space, *name);
}

// Responds with the problem if a rate is exceeded.
bool HttpApi::is_within_rates(const HttpRequest& request, const Principal& principal, const RequestNote& note,
                              HttpReply& reply) {
    if (principal.token == nullptr) return true;
    const std::int64_t wait_ms = activity_.admit(*principal.token, request.body.size(), monotonic_now_ns());
    if (wait_ms == 0) return true;
    HttpResponse response = problem({"too_many_requests"_code, "the rates of the token `" + principal.token->id +
                                                                   "` are exceeded: send the request again in " +
                                                                   format_duration(wait_ms)});
    responder_.answer(std::move(reply), note, with_retry_after(std::move(response), wait_ms), "too_many_requests"_code);
    return false;
}

// A token that is not valid is limited by the address that sends it; a request without one is not.
void HttpApi::refuse_credentials(HttpReply reply, const RequestNote& note, const Error& error) {
    if (error.code == "token_required"_code || may_fail(note, reply)) responder_.refuse(std::move(reply), note, error);
}

// Counts a token that is not valid. Responds with the problem if its address has sent too many.
bool HttpApi::may_fail(const RequestNote& note, HttpReply& reply) {
    const std::int64_t wait_ms = failed_tokens_.admit(note.remote_address, monotonic_now_ns());
    if (wait_ms == 0) return true;
    const Error limited = too_many_failed_tokens(wait_ms);
    responder_.answer(std::move(reply), note, with_retry_after(problem(limited), wait_ms), limited.code);
    return false;
}

// ---- calls

void HttpApi::answer_page(const Admitted& admitted, RequestNote note, HttpReply reply) {
    using Call = CallPath::What;
    const HttpRequest& request = admitted.request;
    const auto give = [&](const Result<HttpResponse>& page) {
        return page ? responder_.answer(std::move(reply), note, *page)
                    : responder_.refuse(std::move(reply), note, page.error());
    };
    if (admitted.call.what == Call::stats) return give(read_stats(request));
    if (admitted.call.what == Call::events) return answer_events(admitted, std::move(note), std::move(reply));
    if (admitted.call.what == Call::lateness) return give(answer_lateness_call(request, port_, options_));
    const bool is_docs = admitted.call.what == Call::docs;
    if (is_docs || admitted.call.what == Call::dashboard || admitted.call.what == Call::asset) {
        if (!is_docs && !options_.dashboard) return give(dashboard_is_off());
        const HttpResponse file = is_docs ? docs_.answer(request) : answer_dashboard_file(request);
        return responder_.answer(std::move(reply), note, file,
                                 file.status == 404 ? "unknown_path"_code : ErrorCode::none);
    }
    if (const auto none = QueryRequest::parse(request.query, {}); !none) return give(none.error());
    switch (admitted.call.what) {
        case Call::healthz:
            return give(plain(200, "text/plain", "ok\n"));
        case Call::readyz:
            return give(readiness_text(options_.readiness(), options_.version));
        case Call::contract:
            return give(plain(200, "application/json", options_.contract));
        case Call::wheel:
            return give(plain(200, "application/json", wheel_page()));
        case Call::session:
            return answer_session(request, std::move(note), std::move(reply));
        case Call::metrics:
            return give(plain(200, "text/plain; version=0.0.4; charset=utf-8", options_.metrics()));
        default:
            return give(answer_clock_call(request, port_));
    }
}

void HttpApi::answer_call(const Admitted& admitted, RequestNote note, HttpReply reply) {
    const auto& [request, call, principal] = admitted;
    const SharedLimits limits = principal.limits();
    // A lease changes nothing at once: it waits for messages as usual.
    const bool is_change =
        need_of(call.what, request.method).scope != Scope::read && call.what != CallPath::What::lease;
    if (is_change && options_.log_is_unavailable()) {
        return responder_.refuse(
            std::move(reply), note,
            {"log_unavailable"_code,
             "no broker acknowledges commits of the replicated log, so nothing was changed: try again"});
    }
    PreparedCall* const prepared = static_cast<PreparedCall*>(request.prepared.get());
    if (is_batch(call.what)) {
        Result<BatchRequest> batch = prepared ? *std::move(prepared->batch) : read_batch(request, call, options_);
        if (!batch) return responder_.refuse(std::move(reply), note, batch.error());
        const bool of_puts = call.what == CallPath::What::put_batch;
        return waiting_.submit_batch(*std::move(batch), of_puts, limits, std::move(note), std::move(reply));
    }
    if (is_token_call(call.what)) {
        Result<TokenCall> read = read_token_call(request, call, options_);
        if (!read) return responder_.refuse(std::move(reply), note, read.error());
        return waiting_.submit(std::move(read->command),
                               {.reply = std::move(reply), .note = std::move(note), .secret = std::move(read->secret)},
                               limits);
    }
    Result<Command> command =
        prepared ? *std::move(prepared->command) : read_command(request, call, options_, administers_server(principal));
    if (!command) return responder_.refuse(std::move(reply), note, command.error());
    const std::optional<ChangeOutcome> wanted = wanted_outcome(*command);
    waiting_.submit(*std::move(command),
                    {.reply = std::move(reply),
                     .note = std::move(note),
                     .right = AccessRight::of(principal),
                     .raw_put = call.is_raw_put,
                     .wanted = wanted},
                    limits);
}

// Many queues must not make a call slow that is repeated every second.
Result<HttpResponse> HttpApi::read_stats(const HttpRequest& request) const {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"queues"});
    if (!query) return query.error();
    std::size_t most = kStatsQueues;
    if (Status read = assign(query->integer("queues", 0, kStatsQueuesMax), most); !read) return std::move(read).error();
    return stats(most);
}

HttpResponse HttpApi::stats(std::size_t most_queues) const {
    const std::string kafka = options_.kafka_stats();
    const ServerFacts facts{.instance = options_.instance,
                            .version = options_.version,
                            .disk_free_bytes = options_.disk_free_bytes(),
                            .kafka = kafka};
    return stats_text(facts, port_.counters(), port_.queue_sums(), port_.busiest_queues(most_queues),
                      port_.recent_deliveries());
}

void HttpApi::answer_events(const Admitted& admitted, RequestNote note, HttpReply reply) {
    const HttpRequest& request = admitted.request;
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"only"});
    if (!query) return responder_.refuse(std::move(reply), note, query.error());
    EventSet wanted = kAllEvents;
    if (const auto only = query->text("only")) {
        const Result<EventSet> read = read_event_set(*only);
        if (!read) return responder_.refuse(std::move(reply), note, read.error());
        wanted = *read;
    }
    // A proxy must neither store events nor collect them.
    HttpResponse head{.content_type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}};
    if (request.method == "HEAD") return responder_.answer(std::move(reply), note, std::move(head));
    // A page can read no stream of another site, but each one that it opens takes the place of one.
    if (Status own = check_page(request, options_.callers); !own) {
        return responder_.refuse(std::move(reply), note, own.error());
    }
    AccessRight right = AccessRight::of(admitted.principal);
    if (Status has_room = events_.admit(right); !has_room) {
        return responder_.refuse(std::move(reply), note, has_room.error());
    }
    if (!note.traceparent.empty()) head.headers.push_back({"traceparent", note.traceparent});
    const std::int64_t now_ns = monotonic_now_ns();
    events_.open(reply.stream(head), wanted, std::move(right), request.header("Last-Event-ID").value_or(""), now_ns);
    responder_.note_stream(note, head.status, now_ns);
}

// Visiting two million timers takes a few milliseconds, in which no message is delivered: so it happens once a second,
// whatever the number of clients.
const std::string& HttpApi::wheel_page() {
    constexpr std::int64_t kWheelIntervalNs = 1'000'000'000;
    if (const std::int64_t now_ns = monotonic_now_ns(); now_ns >= wheel_page_until_ns_) {
        wheel_page_ = wheel_text(port_.wheel());
        wheel_page_until_ns_ = now_ns + kWheelIntervalNs;
    }
    return wheel_page_;
}

HttpResponse format_http_error(int status, ErrorCode code, std::string_view message) {
    HttpResponse response = problem({code, std::string(message)});
    response.status = status;
    return response;
}

}  // namespace duewheel
