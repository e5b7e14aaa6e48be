// An HTTP/1.1 server on one thread's EventLoop.
//
// Requests of one connection may wait for their answers side by side (pipelining), as far as their groups allow: the
// effects are to be those of one after the other. The answers leave in the order of the requests, and those that are
// ready by the end of a round of the loop leave in one write. A handler may answer at once or keep the HttpReply and
// answer in a later round: an engine that commits in batches answers a whole batch.
//
// The server defends itself before it calls anybody: limits and deadlines are in http_limits.h, what counts as a
// request in request_parser.h. With use_tls() it speaks TLS. It does not speak HTTP/2, tells the time only
// where it is given a clock, compresses nothing and looks at no Authorization field.
//
// Everything here belongs to the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/status.h"
#include "net/event_loop.h"
#include "net/http_limits.h"
#include "net/http_message.h"
#include "net/tls_outcome.h"

namespace duewheel {

class HttpConnection;
class TlsContext;

// The right and the duty to answer one request, once. May outlive the handler's call, the connection and the server.
// Destroying it unanswered is a bug: asserted, and answered with 500.
class HttpReply {
  public:
    HttpReply(HttpReply&&) noexcept = default;
    HttpReply& operator=(HttpReply&& other) noexcept;
    ~HttpReply();

    // Uses the reply up. Fine when the client is gone: the answer is then discarded.
    void answer(const HttpResponse& response);

    // True once the client closed its side or the connection broke. A client that only stopped sending still gets
    // what is answered, but one that was killed looks the same: do not hand it what it must not lose. A gone
    // client's reply may be dropped.
    bool client_gone() const;
    // `callback` runs at most once, from the loop, when the client goes away before the answer; not if it is gone
    // already, and not when the server is destroyed. It may answer or destroy this or any other reply. A second
    // callback replaces the first; an empty one removes it.
    void on_client_gone(std::function<void()> callback);

  private:
    friend class HttpConnection;
    HttpReply(std::shared_ptr<HttpConnection> connection, std::uint64_t sequence);
    void drop();

    // Shared: the connection may close long before the owner of its answer looks at it again.
    std::shared_ptr<HttpConnection> connection_;
    std::uint64_t sequence_ = 0;
};

using HttpHandler = std::function<void(const HttpRequest&, HttpReply)>;

// What a request is, asked once when it is complete. Requests of one group may be worked on side by side; a request of
// another group, or one that goes alone, is passed to the handler when everything before it is answered (RFC 9112,
// 9.3.2). Group numbers from kFirstOwnGroup on are the owner's.
using HttpRouter = std::function<HttpRoute(const HttpRequest&)>;
// GET and HEAD side by side, everything else alone.
HttpRoute route_by_method(const HttpRequest& request);

// How the server words its own refusals: `code` is snake_case and stable, `message` a sentence.
using HttpErrorFormatter = std::function<HttpResponse(int status, std::string_view code, std::string_view message)>;

// {"title","status","code","detail"} as application/problem+json.
HttpResponse plain_problem(int status, std::string_view code, std::string_view message);

struct BoundAddress {
    std::string host;
    std::uint16_t port = 0;
    std::string text() const;  // "127.0.0.1:7420", "[::1]:7420"
};

// Whether it is an address to listen on, as HttpServer::listen() takes it. Code: bad_address.
Status check_listen_address(std::string_view address);

class HttpServer {
  public:
    // `loop` must outlive the server, which must not be destroyed from within a handler.
    HttpServer(EventLoop& loop, const HttpLimits& limits, HttpHandler handler,
               HttpErrorFormatter format_error = plain_problem, HttpRouter router = route_by_method);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // Accepts on "127.0.0.1:7420", "[::1]:7420" or "localhost:7420"; port 0 picks a free one. Several are possible.
    // Errors: bad_address, port_in_use, forbidden (a port below 1024 without the privilege), io_error.
    Result<BoundAddress> listen(std::string_view address);
    // The two halves of listen(), for a server that is to know early that it has its address and to be reached late:
    // until start_accepting(), which listens on all addresses that were bound, clients are refused by the system.
    Result<BoundAddress> bind(std::string_view address);
    Status start_accepting();
    // Closes the listening sockets. What is connected stays.
    void stop_accepting();
    // Stops accepting, closes idle connections, answers what arrived and closes each connection after its last answer;
    // cuts what is left after `deadline`. Then calls `drained` from the loop, once.
    void drain(std::chrono::milliseconds deadline, std::function<void()> drained);

    // From now on each answer has a Date, of this clock: milliseconds since 1970 UTC.
    void set_clock(std::function<InstantMs()> now_ms);

    // From now on new connections speak TLS, with this certificate; those that are open keep theirs. Shared: a new one
    // comes from another thread.
    void use_tls(std::shared_ptr<const TlsContext> context);
    // `handler` is called for each TLS handshake that fails, and where one side speaks TLS and the other does not.
    void on_handshake_failure(std::function<void(const TlsFailure&)> handler);

    const HttpCounters& counters() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
