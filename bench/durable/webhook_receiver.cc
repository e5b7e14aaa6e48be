// Receives webhooks as fast as it can, or never answers, and tells what it got: the other side of the webhook rows.
//
//     POST /in      200, at once
//     POST /hang    no answer, ever
//     GET /report   {"received", "late_ms": {"p50", "p99", "max"}} since the last one
//
// Lateness is from duewheel-due-ms of a request until it was read here, by the clock on the wall of the one machine.
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "net/event_loop.h"
#include "net/http/http_server.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

struct Received {
    Histogram late_ms;

    void take(const HttpRequest& request) {
        const InstantMs now = wall_now_ms();
        const std::string_view due = request.header("duewheel-due-ms").value_or("0");
        InstantMs due_ms = now;
        std::from_chars(due.data(), due.data() + due.size(), due_ms);
        late_ms.record(static_cast<std::uint64_t>(now > due_ms ? now - due_ms : 0));
    }
    std::string report() const {
        return "{\"received\":" + std::to_string(late_ms.count()) +
               ",\"late_ms\":{\"p50\":" + std::to_string(late_ms.percentile(50'000)) +
               ",\"p99\":" + std::to_string(late_ms.percentile(99'000)) + ",\"max\":" + std::to_string(late_ms.max()) +
               "}}\n";
    }
};

int run() {
    EventLoop loop;
    Received received;
    std::vector<HttpReply> hanging;  // never answered
    HttpServer server(
        loop, HttpLimits{},
        [&](const HttpRequest& request, HttpReply reply) {
            if (request.path == "/report") {
                reply.answer({.content_type = "application/json", .body = received.report()});
                received = {};
            } else if (request.path == "/hang") {
                hanging.push_back(std::move(reply));
            } else {
                received.take(request);
                reply.answer({.content_type = "text/plain", .body = ""});
            }
        },
        [](int status, ErrorCode, std::string_view message) {
            return HttpResponse{.status = status, .content_type = "text/plain", .body = std::string(message)};
        },
        route_by_method);
    const Result<BoundAddress> bound = server.listen("127.0.0.1:0");
    if (!bound) return std::fprintf(stderr, "%s\n", bound.error().message.c_str()), 1;
    std::printf("ready http=%s\n", bound->text().c_str());
    std::fflush(stdout);
    loop.run();
    return 0;
}

}  // namespace
}  // namespace duewheel

int main() {
    return duewheel::run();
}
