#include "net/http/http_server.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "net/http/http_connection.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Connections that only clients on this machine get, such as an operator.
constexpr std::size_t kLocalConnections = 16;
// For clients to close after the last answers of a server that drains.
constexpr std::chrono::milliseconds kDrainLinger{200};

// Whose share a client counts to (http_shares.h). Empty for one on this machine.
std::string client_of(asio::ip::address address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    if (address.is_loopback()) return {};
    if (address.is_v4()) return address.to_string();
    auto bytes = address.to_v6().to_bytes();
    std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), 0);
    return asio::ip::address_v6(bytes).to_string();
}

void append_json_string(std::string& to, std::string_view text) {
    to += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') to += '\\';
        to += c >= 0 && c < ' ' ? ' ' : c;
    }
    to += '"';
}

// The connection as one of HTTP: all open connections are this server's.
HttpConnection& http(const std::shared_ptr<Connection>& connection) {
    return static_cast<HttpConnection&>(*connection);
}

}  // namespace

struct HttpServer::Parts final : HttpConnections {
    Parts(EventLoop& loop, const HttpLimits& of);
    ~Parts();

    bool after_turn() override;
    std::shared_ptr<Connection> connect(StreamSocket socket, const StreamProtocol::endpoint& peer) override;
    void on_closed() override { report_drained(); }
    bool admits(const std::string& address);
    void cut_hoarders();
    void start_sweeping();
    void run_sweep();
    void drain(std::chrono::milliseconds deadline, std::function<void()> when_drained);
    void report_drained();
    void close_after(std::chrono::milliseconds delay);
    void end_lingering();

    LoopTimer sweep_timer;
    LoopTimer drain_timer;
    bool sweeping = false;
    bool ends_lingering = false;
    std::function<void()> drained;
};

HttpServer::Parts::Parts(EventLoop& loop, const HttpLimits& of)
    : HttpConnections(loop, of),
      sweep_timer(loop.context().get_executor()),
      drain_timer(loop.context().get_executor()) {}

HttpServer::Parts::~Parts() {
    stop_accepting();
    drained = nullptr;
    close_all(false);
}

bool HttpServer::Parts::after_turn() {
    ++turn;
    for (const auto& connection : std::exchange(yielded, {})) connection->want_flush();
    while (flush_once()) {
        if (counters.unsent_bytes > limits.unsent_bytes_max) cut_hoarders();
    }
    if (draining) end_lingering();
    return std::exchange(handler_called, false) || !yielded.empty();
}

std::shared_ptr<Connection> HttpServer::Parts::connect(StreamSocket socket, const StreamProtocol::endpoint& peer) {
    const asio::ip::address from = tcp_endpoint(peer).address();
    const std::string client = client_of(from);
    if (!admits(client)) {
        ++counters.connections_refused;
        return nullptr;
    }
    start_sweeping();
    return std::make_shared<HttpConnection>(*this, std::move(socket),
                                            HttpPeer{.address = from.to_string(), .is_tls = tls != nullptr}, client);
}

// Whether there is room for one more connection of this client.
bool HttpServer::Parts::admits(const std::string& address) {
    if (address.empty()) return true;
    const std::size_t max = limits.connections_max;
    if (addresses.connections(address) >= std::max<std::size_t>(max / 2, 1)) return false;
    return open_.size() + std::min(kLocalConnections, max / 8) < max || make_room();
}

// The connections with the most bytes first. Checks all connections, but only above the limit.
void HttpServer::Parts::cut_hoarders() {
    while (counters.unsent_bytes > limits.unsent_bytes_max) {
        const auto most = std::max_element(open_.begin(), open_.end(), [](const auto& left, const auto& right) {
            return http(left).pending_output() < http(right).pending_output();
        });
        if (most == open_.end()) return;
        ++counters.cut_unread;
        const std::shared_ptr<Connection> hoarder = *most;
        hoarder->close(true);
    }
}

void HttpServer::Parts::start_sweeping() {
    if (sweeping) return;
    sweeping = true;
    sweep_timer.expires_after(limits.sweep);
    sweep_timer.async_wait([this, here = std::weak_ptr(alive_)](const error_code& error) {
        if (!here.expired() && !error) run_sweep();
    });
}

void HttpServer::Parts::run_sweep() {
    sweeping = false;
    ++sweep;
    // Closing moves the last connection into the gap; in reverse order that one was already visited.
    for (std::size_t i = open_.size(); i-- > 0;) {
        if (i < open_.size()) http(open_[i]).check_deadlines();
    }
    if (!open_.empty()) start_sweeping();
}

void HttpServer::Parts::drain(std::chrono::milliseconds deadline, std::function<void()> when_drained) {
    stop_accepting();
    draining = true;
    drained = std::move(when_drained);
    for (std::size_t i = open_.size(); i-- > 0;) {
        if (i < open_.size()) http(open_[i]).drain();
    }
    report_drained();
    if (drained) close_after(deadline);
}

// Replaces the former delay.
void HttpServer::Parts::close_after(std::chrono::milliseconds delay) {
    drain_timer.expires_after(delay);
    drain_timer.async_wait([this, here = std::weak_ptr(alive_)](const error_code& error) {
        if (!here.expired() && !error) close_all(true);
    });
}

// Clients that do not close after their last answer must not delay the end.
void HttpServer::Parts::end_lingering() {
    if (ends_lingering || open_.empty() || lingering < open_.size()) return;
    ends_lingering = true;
    close_after(std::min(kDrainLinger, limits.linger));
}

void HttpServer::Parts::report_drained() {
    if (!draining || !open_.empty() || !drained) return;
    drain_timer.cancel();
    loop_.post(std::exchange(drained, nullptr));
}

HttpServer::HttpServer(EventLoop& loop, const HttpLimits& limits, HttpHandler handler, HttpErrorFormatter format_error,
                       HttpRouter router)
    : parts_(std::make_unique<Parts>(loop, limits)) {
    parts_->handler = std::move(handler);
    parts_->format_error = std::move(format_error);
    parts_->router = std::move(router);
}
HttpServer::~HttpServer() = default;

Result<BoundAddress> HttpServer::listen(std::string_view address) {
    const Result<BoundAddress> bound = bind(address);
    if (!bound) return bound;
    if (Status accepting = start_accepting(); !accepting) return std::move(accepting).error();
    return bound;
}

Result<BoundAddress> HttpServer::bind(std::string_view address) {
    Result<std::shared_ptr<Listener>> listener = Listener::bind_tcp(parts_->context(), address);
    if (!listener) return listener.error();
    const BoundAddress bound = (*listener)->bound;
    parts_->add(std::move(*listener));
    return bound;
}

Status HttpServer::start_accepting() {
    return parts_->start_accepting();
}

void HttpServer::stop_accepting() {
    parts_->stop_accepting();
}

void HttpServer::deal(std::function<std::function<void(int)>()> next) {
    parts_->set_dealer(std::move(next));
}

void HttpServer::adopt(int socket) {
    parts_->adopt(socket);
}

void HttpServer::drain(std::chrono::milliseconds deadline, std::function<void()> drained) {
    parts_->drain(deadline, std::move(drained));
}

void HttpServer::set_gatekeeper(HttpGatekeeper gatekeeper) {
    set_late_gatekeeper(
        [decide = std::move(gatekeeper)](const HttpRequest& request, const auto& admit) { admit(decide(request)); });
}

void HttpServer::set_late_gatekeeper(HttpLateGatekeeper gatekeeper) {
    parts_->gatekeeper = std::move(gatekeeper);
}

void HttpServer::on_refusal(std::function<void(int, ErrorCode)> handler) {
    parts_->on_refusal = std::move(handler);
}

void HttpServer::set_clock(std::function<InstantMs()> now_ms) {
    parts_->now_ms = std::move(now_ms);
}

void HttpServer::use_tls(std::shared_ptr<const TlsContext> context) {
    parts_->tls = std::move(context);
}

void HttpServer::on_handshake_failure(std::function<void(const TlsFailure&)> handler) {
    parts_->on_handshake_failure = std::move(handler);
}

const HttpCounters& HttpServer::counters() const {
    return parts_->counters;
}

HttpRoute route_by_method(const HttpRequest& request) {
    return {request.method == "GET" || request.method == "HEAD" ? kReadsGroup : kAlone};
}

HttpResponse plain_problem(int status, ErrorCode code, std::string_view message) {
    HttpResponse response{.status = status, .content_type = "application/problem+json"};
    response.body = "{\"title\":";
    append_json_string(response.body, reason_phrase(status));
    response.body += ",\"status\":" + std::to_string(status) + ",\"code\":";
    append_json_string(response.body, name_of(code));
    response.body += ",\"detail\":";
    append_json_string(response.body, message);
    response.body += '}';
    return response;
}

}  // namespace duewheel
