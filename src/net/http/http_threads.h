// An HTTP server whose connections are served by threads of its own (I/O threads): sockets, TLS, and the parsing and
// formatting of HTTP. The handler runs on the thread of the owner's loop, as with HttpServer.
//
//     I/O thread: EventLoop, HttpServer ── requests, in batches ──► owner's loop: handler
//                                       ◄── responses, in batches ──
//
// Requests of one connection are passed to the handler in the order of the connection. The first I/O thread accepts
// clients; each connection belongs to the thread that has the fewest. The limits of the server that are for all clients
// together are divided by the number of threads.
//
// With no thread, it is an HttpServer on the owner's loop. Its functions do what those of HttpServer do. Use it on the
// owner's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "net/bound_address.h"
#include "net/event_loop.h"
#include "net/http/http_limits.h"
#include "net/http/http_server.h"

namespace duewheel {

// Does a part of the handler's work on the thread of the connection; the handler gets the result as
// HttpRequest::prepared. Null: nothing. The request's texts are not those that the handler gets.
using HttpPreparer = std::function<std::shared_ptr<void>(const HttpRequest&)>;

class HttpThreads {
  public:
    // Starts thread `number`, from 0, which calls `run`. The destruction of what it returns waits for the end of `run`.
    using StartThread = std::function<Result<std::shared_ptr<void>>(std::size_t number, std::function<void()> run)>;

    // `loop` outlives it. `format_error` and `router` run on any thread.
    HttpThreads(EventLoop& loop, std::size_t threads, StartThread start, const HttpLimits& limits, HttpHandler handler,
                HttpErrorFormatter format_error = plain_problem, HttpRouter router = route_by_method);
    // Closes all connections and ends the threads.
    ~HttpThreads();
    HttpThreads(const HttpThreads&) = delete;
    HttpThreads& operator=(const HttpThreads&) = delete;

    // bind() and start_accepting().
    Result<BoundAddress> listen(std::string_view address);
    // Before start_accepting().
    Result<BoundAddress> bind(std::string_view address);
    // Starts the threads. Codes: those of HttpServer and of StartThread.
    Status start_accepting();
    void drain(std::chrono::milliseconds deadline, std::function<void()> drained);

    // Before start_accepting(). Without a thread there is nothing to prepare.
    void set_preparer(HttpPreparer prepare);
    // `now_ms` runs on any thread; the others on that of the owner's loop.
    void set_gatekeeper(HttpGatekeeper gatekeeper);
    void set_clock(const std::function<InstantMs()>& now_ms);
    void on_refusal(std::function<void(int status, ErrorCode code)> handler);
    void on_handshake_failure(std::function<void(const TlsFailure&)> handler);
    void use_tls(const std::shared_ptr<const TlsContext>& context);

    // The sums over all threads, as they were at the end of their last iterations.
    HttpCounters counters() const;

  private:
    struct Thread;
    struct Parts;

    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
