// An HTTP/1.1 server on one thread's EventLoop.
//
// Several requests of one connection may be in progress at once (pipelining), as far as their groups allow: the effects
// must be those of sequential execution. The responses are sent in the order of the requests; those that are ready by
// the end of an iteration of the loop are sent in one write. A handler may respond at once, or keep the HttpReply and
// respond in a later iteration: an engine that commits in batches responds to a whole batch.
//
// Clients take turns: a connection that sends many requests at once has up to 64 of them handled in an iteration.
//
// The server enforces limits and deadlines (http_limits.h) and rejects malformed requests (request_parser.h) before it
// calls the handler. With use_tls() it speaks TLS. It does not speak HTTP/2, sends a Date only if it is given a clock,
// compresses nothing and ignores the Authorization field.
//
// Use it on the loop's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/bound_address.h"
#include "net/event_loop.h"
#include "net/http/http_limits.h"
#include "net/http/http_message.h"
#include "net/tls_outcome.h"
#include "shared/instant.h"

namespace duewheel {

class HttpReplyTarget;
class TlsContext;

// A response without a known end, such as server-sent events: pieces are sent as they are written, and the connection
// is closed after it. What the client sends meanwhile is ignored. Destroying it unfinished cuts the connection, so that
// the client can tell.
class HttpStream {
  public:
    HttpStream(HttpStream&&) noexcept = default;
    HttpStream& operator=(HttpStream&& other) noexcept;
    ~HttpStream();

    // Sends `bytes` at the end of this iteration of the loop. False, and takes nothing, if the client is gone, or reads
    // so slowly that HttpLimits::stream_bytes_max are unsent; the next piece may be taken again.
    [[nodiscard]] bool write(std::string_view bytes);
    // Ends it, after what is unsent.
    void finish();
    // Whether it is finished, or the client is gone.
    bool is_over() const;

  private:
    friend class HttpReply;
    HttpStream(std::shared_ptr<HttpReplyTarget> target, std::uint64_t sequence);

    // Shared: the connection may close long before the owner of the stream uses it again.
    std::shared_ptr<HttpReplyTarget> target_;
    std::uint64_t sequence_ = 0;
};

// Responds to one request, exactly once. May outlive the handler's call, the connection and the server. Destroying it
// without a response is a bug: it fails an assertion, and the client gets a 500.
class HttpReply {
  public:
    HttpReply(HttpReply&&) noexcept = default;
    HttpReply& operator=(HttpReply&& other) noexcept;
    ~HttpReply();

    // Consumes the reply. If the client is gone, the response is discarded.
    void answer(HttpResponse response);
    // As answer(), without the body, which is written to the stream. For requests that run alone (kAlone), because the
    // connection takes no others.
    [[nodiscard]] HttpStream stream(HttpResponse response);

    // The client has identified itself: from now on its connection is not closed to make room for others.
    void trust();
    // True once the client closed its side or the connection broke. A client that only stopped sending still receives
    // the response, but one that was killed looks the same: do not send it anything that must not be lost. The reply of
    // a client that is gone may be destroyed without a response.
    bool client_gone() const;
    // `callback` runs at most once, from the loop, if the client goes away before the response; not if it is already
    // gone, and not when the server is destroyed. It may respond through this or any other reply, or destroy it. A
    // second callback replaces the first; an empty one removes it.
    void on_client_gone(std::function<void()> callback);

  private:
    friend class HttpConnection;
    friend class HttpThreads;
    friend class FarRequest;
    HttpReply(std::shared_ptr<HttpReplyTarget> target, std::uint64_t sequence);
    void drop();

    // Shared: the connection may close long before the owner of the reply uses it again.
    std::shared_ptr<HttpReplyTarget> target_;
    std::uint64_t sequence_ = 0;
};

using HttpHandler = std::function<void(const HttpRequest&, HttpReply)>;

// Classifies a request, once, when it is complete. Requests of one group may be in progress at once; a request of
// another group, or one that must run alone, is passed to the handler when all requests before it have been answered
// (RFC 9112, 9.3.2). Group numbers from kFirstOwnGroup on belong to the owner.
using HttpRouter = std::function<HttpRoute(const HttpRequest&)>;
// GET and HEAD form one group; every other request runs alone.
HttpRoute route_by_method(const HttpRequest& request);

// Formats the server's own refusals, on the thread of the connection: `code` is snake_case and stable, `message` is a
// sentence.
using HttpErrorFormatter = std::function<HttpResponse(int status, ErrorCode code, std::string_view message)>;

// Decides on a request by its head, when a part of its body is still missing. A request that is not admitted is passed
// to the handler at once, as HttpRequest::is_head_only, and is the last one of its connection. `holder`: whose share
// the memory for the body counts to; empty: no share.
struct HttpAdmission {
    bool is_admitted = true;
    std::string holder = {};
};
using HttpGatekeeper = std::function<HttpAdmission(const HttpRequest&)>;
// A gatekeeper that may decide later: it calls the function once, on the loop's thread, now or after its return. The
// connection reads nothing meanwhile.
using HttpLateGatekeeper = std::function<void(const HttpRequest&, std::function<void(HttpAdmission)>)>;

// {"title","status","code","detail"} as application/problem+json.
HttpResponse plain_problem(int status, ErrorCode code, std::string_view message);

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
    // listen() in two steps, for a server that reserves its address early and accepts connections later: until
    // start_accepting(), which listens on all bound addresses, the system refuses clients.
    Result<BoundAddress> bind(std::string_view address);
    Status start_accepting();
    // Closes the listening sockets. Connections stay open.
    void stop_accepting();
    // `next` says what becomes of the next client that this accepts: a function takes its socket, and may pass it to
    // adopt() of another server; an empty one: this server keeps it.
    void deal(std::function<std::function<void(int socket)>()> next);
    // As if this had accepted the client, which it closes if there is no room.
    void adopt(int socket);
    // Stops accepting and reading. Responds to the requests that have arrived in full, and closes each connection after
    // its last response; all others, such as those with a part of a request, are closed at once. Closes the remaining
    // ones at the `deadline`. Then calls `drained` from the loop, once.
    void drain(std::chrono::milliseconds deadline, std::function<void()> drained);

    // Without one, every request is admitted.
    void set_gatekeeper(HttpGatekeeper gatekeeper);
    void set_late_gatekeeper(HttpLateGatekeeper gatekeeper);
    // `handler` is called for each request that the server itself refuses.
    void on_refusal(std::function<void(int status, ErrorCode code)> handler);
    // From now on each response has a Date, from this clock: milliseconds since 1970 UTC.
    void set_clock(std::function<InstantMs()> now_ms);

    // From now on new connections speak TLS, with this certificate; open ones keep theirs. Shared: a new context comes
    // from another thread.
    void use_tls(std::shared_ptr<const TlsContext> context);
    // `handler` is called for each TLS handshake that fails, and if one side speaks TLS and the other does not.
    void on_handshake_failure(std::function<void(const TlsFailure&)> handler);

    const HttpCounters& counters() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel
