#include "ingress/http_api.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "base/system_clock.h"
#include "ingress/answer_text.h"
#include "ingress/batch_request.h"
#include "ingress/call_path.h"
#include "ingress/clock_call.h"
#include "ingress/late_outcome.h"
#include "ingress/nearest_call.h"
#include "ingress/problem.h"
#include "ingress/put_request.h"
#include "ingress/query_request.h"
#include "ingress/request_command.h"
#include "ingress/request_members.h"

namespace duewheel {
namespace {

// Queues that /v1/stats tells of: where it is not asked for another number, and at most.
constexpr std::size_t kStatsQueues = 100;
constexpr std::int64_t kStatsQueuesMax = 1'000;

HttpResponse plain(int status, std::string_view type, std::string body) {
    HttpResponse response;
    response.status = status;
    response.content_type = type;
    response.body = std::move(body);
    return response;
}

bool is_read(const HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD";
}

HttpResponse method_not_allowed(std::string_view allowed) {
    HttpResponse response = problem({"method_not_allowed", "this path takes " + std::string(allowed)});
    response.headers.push_back({"Allow", std::string(allowed)});
    return response;
}

// What it has as methods anywhere, for who asks of the server as a whole (RFC 9110, 9.3.7).
HttpResponse what_may_be_asked() {
    HttpResponse response;
    response.status = 204;
    response.headers.push_back({"Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"});
    return response;
}

// Nobody undoes a coding here, and none goes out with a message: what was put under one would come back as something
// else than it was.
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
            return Error{"unsupported_content_coding",
                         "bodies are taken as they are, and no coding is undone or kept: send the body without "
                         "Content-Encoding, or name what it is packed as in the message's media type, such as "
                         "application/gzip",
                         "Content-Encoding"};
        }
    }
    return {};
}

HttpApiOptions with_clock_of(CommandPort& port, HttpApiOptions options) {
    options.server_ms = [&port] { return port.clock().server_ms; };
    return options;
}

HttpResponse readiness_text(const Readiness& readiness) {
    std::string body;
    JsonWriter json(body);
    json.open().boolean("ready", readiness.ready);
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
    : port_(port), options_(with_clock_of(port, std::move(options))), log_(log, options_.requests) {}

void HttpApi::handle(const HttpRequest& request, HttpReply reply) {
    RequestNote note = RequestLog::note(request, monotonic_now_ns());
    if (Status fine = check_caller(request, options_.callers); !fine) {
        return refuse(std::move(reply), note, fine.error());
    }
    if (Status fine = check_content_coding(request); !fine) return refuse(std::move(reply), note, fine.error());
    handle(request, std::move(note), std::move(reply));
}

void HttpApi::handle(const HttpRequest& request, RequestNote note, HttpReply reply) {
    const auto say = [&](HttpResponse response, std::string_view code = {}) {
        answer(std::move(reply), note, std::move(response), code);
    };
    const std::string_view path = request.path;
    if (request.method == "OPTIONS" && path == "*") return say(what_may_be_asked());
    const auto* const page = std::find_if(std::begin(kServerPages), std::end(kServerPages),
                                          [&](const ServerPage& each) { return each.path == path; });
    if (page != std::end(kServerPages)) {
        if (!allows(page->methods, request.method)) return say(method_not_allowed(page->methods), "method_not_allowed");
        if (path == "/v1/stats") {
            const Result<HttpResponse> stats = read_stats(request);
            return stats ? say(*stats) : refuse(std::move(reply), note, stats.error());
        }
        if (const auto none = QueryRequest::parse(request.query, {}); !none) {
            return refuse(std::move(reply), note, none.error());
        }
        if (path.starts_with("/v1/clock")) {
            const Result<HttpResponse> clock = answer_clock_call(request, port_);
            return clock ? say(*clock) : refuse(std::move(reply), note, clock.error());
        }
        if (path == "/healthz") return say(plain(200, "text/plain", "ok\n"));
        if (path == "/readyz") return say(readiness_text(options_.readiness()));
        if (path == "/openapi.json") return say(plain(200, "application/json", options_.contract));
        return say(plain(200, "text/plain; version=0.0.4; charset=utf-8", options_.metrics()));
    }
    const std::optional<CallPath> call = find_call(request.segments);
    if (!call) {
        const std::string nearest = nearest_call(request.segments);
        const std::string hint = nearest.empty() ? ": " : "; the nearest is " + nearest + ", and ";
        return refuse(std::move(reply), note,
                      Error{"unknown_path", "there is no such call" + hint + "/openapi.json lists all"});
    }
    const std::string_view allowed = allowed_methods(*call);
    if (!allows(allowed, request.method)) return say(method_not_allowed(allowed), "method_not_allowed");
    if (is_batch(call->what)) {
        Result<BatchRequest> batch = read_batch(request, *call, options_);
        if (!batch) return refuse(std::move(reply), note, batch.error());
        return submit_batch(*std::move(batch), call->what == CallPath::What::put_batch, std::move(note),
                            std::move(reply));
    }
    Result<Command> command = read_command(request, *call, options_);
    if (!command) return refuse(std::move(reply), note, command.error());
    const bool raw_put = std::holds_alternative<PutCommand>(*command) && !is_json(request);
    submit(*std::move(command), std::move(note), std::move(reply), raw_put);
}

// Many queues must not make a call long that is asked for every second.
Result<HttpResponse> HttpApi::read_stats(const HttpRequest& request) const {
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"queues"});
    if (!query) return query.error();
    std::size_t most = kStatsQueues;
    if (Status read = take(query->integer("queues", 0, kStatsQueuesMax), most); !read) return std::move(read).error();
    return stats_text(options_.instance, port_.counters(), port_.queue_sums(), port_.busiest_queues(most),
                      port_.lateness());
}

void HttpApi::submit(Command command, RequestNote note, HttpReply reply, bool raw_put) {
    const ReplyToken token = next_token_++;
    // A client that closed its sending side may still read: it gets its answer. But it may as well be gone, and must
    // not be handed a message then.
    if (const auto* lease = std::get_if<LeaseCommand>(&command)) {
        note.wait_ms = lease->wait_ms;
        reply.on_client_gone([this, token] {
            waiting_.erase(token);
            port_.forget(token);
        });
    }
    const std::optional<ChangeOutcome> wanted = wanted_outcome(command);
    waiting_.emplace(token, Waiting{std::move(reply), std::move(note), nullptr, 0, raw_put, wanted});
    port_.submit(std::move(command), token);
}

void HttpApi::submit_batch(BatchRequest request, bool of_puts, RequestNote note, HttpReply reply) {
    auto batch =
        std::make_shared<Batch>(Batch{std::move(reply), std::move(note), of_puts, {}, {}, request.commands.size()});
    for (std::optional<Error>& refused : request.refused) {
        if (!refused) batch->asked.push_back(batch->parts.size());
        batch->parts.push_back(refused ? Reply(*std::move(refused)) : Reply());
    }
    if (batch->missing == 0) return answer(std::move(batch->reply), batch->note, batch_text(batch->parts, of_puts));
    for (std::size_t i = 0; i < request.commands.size(); ++i) {
        const ReplyToken token = next_token_++;
        waiting_.emplace(token, Waiting{std::nullopt, {}, batch, i});
        port_.submit(std::move(request.commands[i]), token);
    }
}

void HttpApi::deliver(ReplyToken token, Reply reply) {
    auto waiting = waiting_.extract(token);
    if (waiting.empty()) return;  // the client left
    Waiting& who = waiting.mapped();
    if (who.batch) return deliver_part(*who.batch, who.part, std::move(reply));
    Error* error = std::get_if<Error>(&reply);
    if (error != nullptr && who.raw_put) error->field = std::string(raw_field_of(error->field));
    if (const std::optional<Error> late = late_refusal(reply, who.wanted)) {
        return answer(*std::move(who.single), who.note, late_refusal_text(*late, reply), late->code);
    }
    answer(*std::move(who.single), who.note, answer_text(reply), error != nullptr ? error->code : std::string_view());
}

void HttpApi::deliver_part(Batch& batch, std::size_t part, Reply reply) {
    if (auto* puts = std::get_if<PutBatchAnswer>(&reply)) {
        for (std::size_t i = 0; i < puts->results.size(); ++i) {
            batch.parts[batch.asked[i]] =
                std::visit([](auto& result) { return Reply(std::move(result)); }, puts->results[i]);
        }
    } else if (batch.of_puts) {  // refused as a whole
        return refuse(std::move(batch.reply), batch.note, std::get<Error>(reply));
    } else {
        const std::size_t place = batch.asked[part];
        Error* const error = std::get_if<Error>(&reply);
        if (error != nullptr && error->field == "lease") error->field = "leases[" + std::to_string(place) + "]";
        batch.parts[place] = std::move(reply);
    }
    if (--batch.missing == 0) answer(std::move(batch.reply), batch.note, batch_text(batch.parts, batch.of_puts));
}

void HttpApi::answer(HttpReply reply, const RequestNote& note, HttpResponse response, std::string_view code) {
    if (!note.traceparent.empty()) response.headers.push_back({"traceparent", note.traceparent});
    reply.answer(response);
    log_.answered(note, response.status, code, monotonic_now_ns());
}

void HttpApi::refuse(HttpReply reply, const RequestNote& note, const Error& error) {
    answer(std::move(reply), note, problem(error), error.code);
}

HttpResponse HttpApi::refuse(int status, std::string_view code, std::string_view message) {
    log_.refused(status, code, monotonic_now_ns());
    return format_http_error(status, code, message);
}

HttpGroup group_of_call(const HttpRequest& request) {
    using What = CallPath::What;
    constexpr HttpGroup kPuts = kFirstOwnGroup;
    constexpr HttpGroup kCancels = kFirstOwnGroup + 1;
    constexpr HttpGroup kLeaseEnds = kFirstOwnGroup + 2;
    if (is_read(request)) return kReadsGroup;
    const std::optional<CallPath> call = find_call(request.segments);
    if (!call) return kAlone;
    switch (call->what) {
        case What::put:
        case What::put_batch:
            return kPuts;
        case What::message:
        case What::message_by_key:
            return request.method == "DELETE" ? kCancels : kAlone;
        case What::ack:
        case What::fail:
        case What::extend:
        case What::release:
        case What::ack_batch:
        case What::fail_batch:
        case What::extend_batch:
        case What::release_batch:
            return kLeaseEnds;
        default:
            return kAlone;
    }
}

HttpResponse format_http_error(int status, std::string_view code, std::string_view message) {
    const ProblemKind* kind = find_problem_kind(code);
    HttpResponse response = problem({kind != nullptr ? kind->code : "internal", std::string(message)});
    response.status = status;
    return response;
}

}  // namespace duewheel
