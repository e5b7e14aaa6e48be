// Whole requests to the API, from bytes to a command: a refusal has a listed code and a sentence that is valid JSON,
// and a command satisfies the documentation.
#include <algorithm>
#include <string>
#include <variant>

#include <boost/json.hpp>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "http_api/access/caller.h"
#include "http_api/calls/call_path.h"
#include "http_api/problem.h"
#include "http_api/request_command.h"
#include "http_api/requests/batch_request.h"
#include "net/http/request_parser.h"
#include "shared/utf8.h"

namespace duewheel::api_request_fuzz {
namespace {

HttpApiOptions small_options() {
    HttpApiOptions options;
    options.body_bytes_max = 200;
    options.queue_name_bytes_max = 20;
    options.key_bytes_max = 16;
    options.batch_max = 4;
    options.headers_max = 3;
    options.headers_bytes_max = 60;
    options.callers = {true, {"localhost", "127.0.0.1", "[::1]"}, {}};
    return options;
}

void judge_refusal(const Error& error) {
    require(is_for_clients(error.code), "a code is not listed:", name_of(error.code));
    const HttpResponse answer = problem(error);
    boost::json::error_code code;
    const boost::json::value read = boost::json::parse(answer.body, code);
    require(!code && read.is_object(), "a refusal is no JSON:", answer.body);
    require(answer.status >= 400 && answer.status < 600, "a refusal has no status");
}

bool is_name(std::string_view name, std::size_t bytes_max) {
    return !name.empty() && name.size() <= bytes_max && name.front() != '-' && is_utf8(name) &&
           std::none_of(name.begin(), name.end(),
                        [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '%'; });
}

void judge_put(const PutCommand& put, const HttpApiOptions& options) {
    require(is_name(put.queue, options.queue_name_bytes_max), "a queue's name is none");
    require(put.body.size() <= options.body_bytes_max, "a body is over its limit");
    require(put.key.size() <= options.key_bytes_max, "a key is over its limit");
    require(put.key.empty() == (put.request_hash == 0) || !put.key.empty(), "a request without a key has a hash");
    require(put.when.delay_ms >= 0 && (!put.expires || put.expires->delay_ms >= 0), "a delay is negative");
    require(put.order_key.size() <= 256, "an order key is over its limit");
}

void judge(const Command& command, const HttpApiOptions& options) {
    std::visit(
        [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, PutCommand>) judge_put(one, options);
            if constexpr (std::is_same_v<One, PutBatchCommand>) {
                require(!one.puts.empty() && one.puts.size() <= options.batch_max, "a batch has no size");
                for (const PutCommand& put : one.puts) judge_put(put, options);
            }
            if constexpr (requires { one.queue; }) {
                const bool may_be_none = std::is_same_v<One, ForecastCommand>;  // of all
                require((may_be_none && one.queue.empty()) || is_name(one.queue, options.queue_name_bytes_max),
                        "a queue's name is none");
            }
            if constexpr (requires { one.name_space; }) {
                require(is_name(one.name_space, options.queue_name_bytes_max), "a namespace is none");
            }
            if constexpr (requires { MessageId{one.id}; }) {
                bool may_be_none = std::is_same_v<One, HistoryCommand>;  // of all
                if constexpr (requires { one.by_key; }) may_be_none = one.by_key.is_given();
                require((may_be_none || one.id >= 1) && one.id <= kMessageIdMax, "an id is none");
            }
            if constexpr (requires { one.lease_ms; }) {
                const std::optional<std::int64_t> lease_ms = one.lease_ms;
                require(lease_ms.value_or(0) >= 0, "a lease is negative");
            }
            if constexpr (requires { one.wait_ms; }) require(one.wait_ms >= 0, "a wait is negative");
            if constexpr (requires { one.reason; }) require(one.reason.size() <= 1024, "a reason was not cut");
            if constexpr (std::is_same_v<One, RelocateCommand> || std::is_same_v<One, RelocationDoneCommand>) {
                require(false, "a client reached a command of the cleaner");
            }
        },
        command);
}

void serve(const HttpRequest& request, const HttpApiOptions& options) {
    static_cast<void>(classify(request));
    if (const Status fine = check_caller(request, options.callers); !fine) return judge_refusal(fine.error());
    const std::optional<CallPath> path = find_call(request);
    if (!path || is_page(path->what) || !allows(allowed_methods(*path), request.method)) return;
    if (!is_batch(path->what)) {
        const Result<Command> command = read_command(request, *path, options);
        return command ? judge(*command, options) : judge_refusal(command.error());
    }
    const Result<BatchRequest> batch = read_batch(request, *path, options);
    if (!batch) return judge_refusal(batch.error());
    require(batch->refused.size() <= options.batch_max, "a batch is over its limit");
    for (const std::optional<Error>& refused : batch->refused) {
        if (refused) judge_refusal(*refused);
    }
    if (batch->command) judge(*batch->command, options);
}

}  // namespace

void fuzz(std::string_view input) {
    const HttpApiOptions options = small_options();
    const HttpLimits limits;
    RequestParser parser(limits, HttpPeer{"127.0.0.1"});
    while (!input.empty()) {
        std::size_t consumed = 0;
        const RequestParser::State state = parser.read(input, consumed);
        input.remove_prefix(consumed);
        if (state == RequestParser::State::refused) {
            const HttpRefusal& refusal = parser.refusal();
            const HttpResponse answer = format_http_error(refusal.status, refusal.code, refusal.message);
            boost::json::error_code code;
            static_cast<void>(boost::json::parse(answer.body, code));
            require(!code, "a refusal is no JSON:", answer.body);
            return;
        }
        if (state != RequestParser::State::complete) return;
        serve(parser.request(), options);
        parser.reset();
    }
}

}  // namespace duewheel::api_request_fuzz
