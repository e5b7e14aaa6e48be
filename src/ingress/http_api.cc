#include "ingress/http_api.h"

#include <optional>
#include <utility>

#include "ingress/answer_text.h"
#include "ingress/batch_request.h"
#include "ingress/call_path.h"
#include "ingress/json_writer.h"
#include "ingress/problem.h"
#include "ingress/request_command.h"

namespace duewheel {
namespace {

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

HttpApi::HttpApi(CommandPort& port, HttpApiOptions options) : port_(port), options_(std::move(options)) {}

void HttpApi::handle(const HttpRequest& request, HttpReply reply) {
    const std::string_view path = request.path;
    if (path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/v1/stats") {
        if (!is_read(request)) return reply.answer(method_not_allowed("GET, HEAD"));
        if (path == "/healthz") return reply.answer(plain(200, "text/plain", "ok\n"));
        if (path == "/readyz") return reply.answer(readiness_text(options_.readiness()));
        if (path == "/v1/stats") return reply.answer(stats_text(port_.counters(), port_.queues(), port_.lateness()));
        return reply.answer(plain(200, "text/plain; version=0.0.4", options_.metrics()));
    }
    const std::optional<CallPath> call = find_call(request.segments);
    if (!call) {
        return reply.answer(problem({"unknown_path", "there is no such call: docs/http_api.md lists the calls"}));
    }
    const std::string_view allowed = allowed_methods(*call);
    if (!allows(allowed, request.method)) return reply.answer(method_not_allowed(allowed));
    if (is_batch(call->what)) {
        const bool of_puts = call->what == CallPath::What::put_batch;
        return submit_batch(read_batch(request, *call, options_), of_puts, std::move(reply));
    }
    submit(read_command(request, *call, options_), std::move(reply));
}

void HttpApi::submit(Result<Command> command, HttpReply reply) {
    if (!command) return reply.answer(problem(command.error()));
    const ReplyToken token = next_token_++;
    // A client that closed its sending side may still read: it gets its answer. But it may as well be gone, and must
    // not be handed a message then.
    if (std::holds_alternative<LeaseCommand>(*command)) {
        reply.on_client_gone([this, token] {
            waiting_.erase(token);
            port_.forget(token);
        });
    }
    waiting_.emplace(token, Waiting{std::move(reply), nullptr, 0});
    port_.submit(*std::move(command), token);
}

void HttpApi::submit_batch(Result<BatchRequest> request, bool of_puts, HttpReply reply) {
    if (!request) return reply.answer(problem(request.error()));
    auto batch = std::make_shared<Batch>(Batch{std::move(reply), of_puts, {}, {}, request->commands.size()});
    for (std::optional<Error>& refused : request->refused) {
        if (!refused) batch->asked.push_back(batch->parts.size());
        batch->parts.push_back(refused ? Reply(*std::move(refused)) : Reply());
    }
    if (batch->missing == 0) return batch->reply.answer(batch_text(batch->parts, of_puts));
    for (std::size_t i = 0; i < request->commands.size(); ++i) {
        const ReplyToken token = next_token_++;
        waiting_.emplace(token, Waiting{std::nullopt, batch, i});
        port_.submit(std::move(request->commands[i]), token);
    }
}

void HttpApi::deliver(ReplyToken token, Reply reply) {
    auto waiting = waiting_.extract(token);
    if (waiting.empty()) return;  // the client left
    Waiting& who = waiting.mapped();
    if (who.batch) return deliver_part(*who.batch, who.part, std::move(reply));
    who.single->answer(answer_text(reply));
}

void HttpApi::deliver_part(Batch& batch, std::size_t part, Reply reply) {
    if (auto* puts = std::get_if<PutBatchAnswer>(&reply)) {
        for (std::size_t i = 0; i < puts->results.size(); ++i) {
            batch.parts[batch.asked[i]] =
                std::visit([](auto& result) { return Reply(std::move(result)); }, puts->results[i]);
        }
    } else if (batch.of_puts) {  // refused as a whole
        return batch.reply.answer(answer_text(reply));
    } else {
        batch.parts[batch.asked[part]] = std::move(reply);
    }
    if (--batch.missing == 0) batch.reply.answer(batch_text(batch.parts, batch.of_puts));
}

HttpResponse format_http_error(int status, std::string_view code, std::string_view message) {
    const ProblemKind* kind = find_problem_kind(code);
    HttpResponse response = problem({kind != nullptr ? kind->code : "internal", std::string(message)});
    response.status = status;
    return response;
}

}  // namespace duewheel
