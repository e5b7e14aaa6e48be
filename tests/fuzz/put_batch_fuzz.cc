// Puts as lines of JSON: each line has the same result as if it had been sent alone, and none affects another.
#include <string>
#include <vector>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "http_api/problem.h"
#include "http_api/requests/batch_request.h"
#include "http_api/requests/put_request.h"

namespace duewheel::put_batch_fuzz {
namespace {

constexpr std::size_t kLinesMax = 8;

// By an obvious way: up to each line feed, and what is left.
std::vector<std::string> lines_of(std::string_view body) {
    std::vector<std::string> lines;
    std::string line;
    for (const char c : body) {
        if (c != '\n') {
            line += c;
            continue;
        }
        if (line.ends_with('\r')) line.pop_back();
        lines.push_back(std::move(line));
        line.clear();
    }
    if (body.empty() || body.back() == '\n') return lines;
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    return lines;
}

}  // namespace

void fuzz(std::string_view input) {
    HttpApiOptions options;
    options.batch_max = kLinesMax;
    HttpRequest request;
    request.method = "POST";
    request.fields = {{"Content-Type", "application/x-ndjson"}};
    request.body = input;
    CallPath path;
    path.what = CallPath::What::put_batch;
    path.name = "q";
    const std::vector<std::string> lines = lines_of(input);
    const Result<BatchRequest> batch = read_batch(request, path, options);
    if (!batch) {
        require(batch.error().code == "batch_too_large"_code && lines.size() > kLinesMax,
                "a batch was refused as a whole");
        return;
    }
    require(lines.size() <= kLinesMax, "a batch is over its limit");
    require(batch->refused.size() == lines.size(), "there are not as many verdicts as lines");
    require(batch->commands() <= 1, "a batch is more than one command");
    static const std::vector<PutCommand> kNone;
    const std::vector<PutCommand>& puts = batch->command ? std::get<PutBatchCommand>(*batch->command).puts : kNone;
    std::size_t next = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Result<PutCommand> alone = read_json_put(lines[i], options, {});
        const bool taken = !batch->refused[i];
        require(taken == (alone.ok() && !lines[i].empty()), "a line has another verdict than alone");
        if (!taken) {
            require(is_for_clients(batch->refused[i]->code), "a code is not listed");
            require(lines[i].empty() || batch->refused[i]->code == alone.error().code, "a line has another refusal");
            continue;
        }
        require(next < puts.size(), "a line was lost");
        const PutCommand& put = puts[next++];
        const bool same = put.body == alone->body && put.key == alone->key && put.order_key == alone->order_key &&
                          put.priority == alone->priority && put.headers == alone->headers &&
                          put.when.at_ms == alone->when.at_ms && put.when.delay_ms == alone->when.delay_ms &&
                          put.request_hash == alone->request_hash;
        require(same && put.queue == "q", "a line is another put than alone");
    }
    require(next == puts.size(), "a put came from nowhere");
}

}  // namespace duewheel::put_batch_fuzz
