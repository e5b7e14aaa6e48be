#include "net/http_server.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include "net/http_connection.h"
#include "net/listen_address.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr int kAcceptsPerRound = 64;
// Connections that only clients on this machine get, such as an operator.
constexpr std::size_t kLocalConnections = 16;
// Looking for connections to close visits all of them, so several are closed at once.
constexpr std::size_t kEvictionShare = 64;
// For clients to close after the last answers of a server that drains.
constexpr std::chrono::milliseconds kDrainLinger{200};

bool out_of_descriptors(const error_code& error) {
    return error == asio::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system ||
           error == asio::error::no_buffer_space || error == asio::error::no_memory;
}

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

struct Listener {
    explicit Listener(asio::io_context& context) : acceptor(context.get_executor()) {}

    Acceptor acceptor;
    BoundAddress bound;
    bool listening = false;
    bool paused = false;
};

}  // namespace

struct HttpServer::Parts final : AfterTurn {
    Parts(EventLoop& on_loop, const HttpLimits& limits, HttpHandler handler, HttpErrorFormatter format_error,
          HttpRouter router);
    ~Parts();

    bool after_turn() override;
    Result<BoundAddress> bind(std::string_view address);
    Status start_accepting();
    void wait_for_client(const std::shared_ptr<Listener>& listener);
    void accept_clients(const std::shared_ptr<Listener>& listener);
    void add_connection(TcpSocket socket, const tcp::endpoint& peer);
    bool admits(const std::string& address);
    std::vector<std::shared_ptr<HttpConnection>> idle_connections() const;
    bool make_room();
    void pause(Listener& listener);
    void resume_accepting();
    void on_connection_closed();
    void cut_hoarders();
    void start_sweeping();
    void sweep();
    void close_all();
    void drain(std::chrono::milliseconds deadline, std::function<void()> when_drained);
    void report_drained();
    void close_after(std::chrono::milliseconds delay);
    void end_lingering();

    EventLoop& loop;
    HttpConnections all;
    // Shared with the wait for the next client, which may complete after the listener was closed and dropped.
    std::vector<std::shared_ptr<Listener>> listeners;
    Timer sweep_timer;
    Timer drain_timer;
    bool sweeping = false;
    bool accept_paused = false;
    bool ends_lingering = false;
    std::function<void()> drained;
    // Completions may already be queued when the server is destroyed; they check this and do nothing.
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

HttpServer::Parts::Parts(EventLoop& on_loop, const HttpLimits& limits, HttpHandler handler,
                         HttpErrorFormatter format_error, HttpRouter router)
    : loop(on_loop), sweep_timer(loop.context().get_executor()), drain_timer(loop.context().get_executor()) {
    all.limits = limits;
    all.handler = std::move(handler);
    all.format_error = std::move(format_error);
    all.router = std::move(router);
    all.on_close = [this] { on_connection_closed(); };
    loop.add(*this);
}

HttpServer::Parts::~Parts() {
    loop.remove(*this);
    all.on_close = [] {};
    while (!all.open.empty()) all.open.back()->close(false);
}

bool HttpServer::Parts::after_turn() {
    while (!all.to_flush.empty()) {
        const auto batch = std::exchange(all.to_flush, {});
        for (const auto& connection : batch) connection->flush();
        if (all.counters.unsent_bytes > all.limits.unsent_bytes_max) cut_hoarders();
    }
    if (all.draining) end_lingering();
    return std::exchange(all.handler_called, false);
}

Result<BoundAddress> HttpServer::Parts::bind(std::string_view address) {
    const auto endpoint = parse_listen_address(address);
    if (!endpoint) return endpoint.error();
    auto listener = std::make_shared<Listener>(loop.context());
    Acceptor& acceptor = listener->acceptor;
    error_code error;
    acceptor.open(endpoint->protocol(), error);
    if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(*endpoint, error);
    if (!error) acceptor.non_blocking(true, error);
    if (error) return listen_error(address, error);
    const tcp::endpoint bound = acceptor.local_endpoint(error);
    if (error) return listen_error(address, error);
    listener->bound = {bound.address().to_string(), bound.port()};
    listeners.push_back(std::move(listener));
    return listeners.back()->bound;
}

Status HttpServer::Parts::start_accepting() {
    for (const auto& listener : listeners) {
        if (std::exchange(listener->listening, true)) continue;
        error_code error;
        listener->acceptor.listen(asio::socket_base::max_listen_connections, error);
        if (error) return listen_error(listener->bound.text(), error);
        wait_for_client(listener);
    }
    return {};
}

void HttpServer::Parts::wait_for_client(const std::shared_ptr<Listener>& listener) {
    auto completed = [this, weak = std::weak_ptr(listener), here = std::weak_ptr(alive)](const error_code& error) {
        const auto still_listening = weak.lock();
        if (!here.expired() && !error && still_listening) accept_clients(still_listening);
    };
    listener->acceptor.async_wait(Acceptor::wait_read, std::move(completed));
}

void HttpServer::Parts::accept_clients(const std::shared_ptr<Listener>& listener) {
    for (int accepted = 0; accepted < kAcceptsPerRound; ++accepted) {
        if (all.open.size() >= all.limits.connections_max) {
            if (!has_waiting_client(listener->acceptor.native_handle())) break;
            if (!make_room()) return pause(*listener);
        }
        TcpSocket socket(loop.context().get_executor());
        tcp::endpoint peer;
        error_code error;
        listener->acceptor.accept(socket, peer, error);
        if (error == asio::error::would_block || error == asio::error::try_again) break;
        if (error) {
            ++all.counters.accept_failures;
            if (out_of_descriptors(error)) {
                ++all.counters.descriptors_lacked;
                return pause(*listener);
            }
            continue;
        }
        add_connection(std::move(socket), peer);
    }
    wait_for_client(listener);
}

void HttpServer::Parts::add_connection(TcpSocket socket, const tcp::endpoint& peer) {
    const std::string address = client_of(peer.address());
    if (!admits(address)) {
        ++all.counters.connections_refused;
        return;
    }
    error_code error;
    socket.non_blocking(true, error);
    if (!error) socket.set_option(tcp::no_delay(true), error);
    if (error) {
        ++all.counters.accept_failures;
        return;
    }
    auto connection = std::make_shared<HttpConnection>(
        all, std::move(socket), HttpPeer{.address = peer.address().to_string(), .is_tls = all.tls != nullptr}, address);
    connection->index = all.open.size();
    all.open.push_back(connection);
    ++all.counters.connections_accepted;
    ++all.counters.connections_open;
    connection->start();
    start_sweeping();
}

// Whether there is room for one more connection of this client.
bool HttpServer::Parts::admits(const std::string& address) {
    if (address.empty()) return true;
    const std::size_t max = all.limits.connections_max;
    if (all.addresses.connections(address) >= std::max<std::size_t>(max / 2, 1)) return false;
    return all.open.size() + std::min(kLocalConnections, max / 8) < max || make_room();
}

std::vector<std::shared_ptr<HttpConnection>> HttpServer::Parts::idle_connections() const {
    std::vector<std::shared_ptr<HttpConnection>> idle;
    for (const auto& connection : all.open) {
        if (connection->may_be_evicted()) idle.push_back(connection);
    }
    return idle;
}

// Closes the connections that have waited for nothing for longest; false if there is none. O(connections).
bool HttpServer::Parts::make_room() {
    std::vector<std::shared_ptr<HttpConnection>> idle = idle_connections();
    const std::size_t count = std::min(idle.size(), all.limits.connections_max / kEvictionShare + 1);
    std::partial_sort(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(count), idle.end(),
                      [](const auto& left, const auto& right) { return left->idle_mark() < right->idle_mark(); });
    for (std::size_t i = 0; i < count; ++i) {
        ++all.counters.connections_evicted;
        idle[i]->close(false);
    }
    return count > 0;
}

// Clients wait in the kernel's queue until a connection closes. Descriptors may become free elsewhere in the process:
// each sweep checks.
void HttpServer::Parts::pause(Listener& listener) {
    ++all.counters.accept_pauses;
    listener.paused = true;
    accept_paused = true;
    start_sweeping();
}

void HttpServer::Parts::resume_accepting() {
    const bool is_full = all.open.size() >= all.limits.connections_max;
    if (!accept_paused || (is_full && idle_connections().empty())) return;
    accept_paused = false;
    for (const auto& listener : listeners) {
        if (std::exchange(listener->paused, false)) wait_for_client(listener);
    }
}

void HttpServer::Parts::on_connection_closed() {
    resume_accepting();
    report_drained();
}

// The connections with the most bytes first. Checks all connections, but only above the limit.
void HttpServer::Parts::cut_hoarders() {
    while (all.counters.unsent_bytes > all.limits.unsent_bytes_max) {
        const auto most = std::max_element(all.open.begin(), all.open.end(), [](const auto& left, const auto& right) {
            return left->pending_output() < right->pending_output();
        });
        if (most == all.open.end()) return;
        ++all.counters.cut_unread;
        const std::shared_ptr<HttpConnection> hoarder = *most;
        hoarder->close(true);
    }
}

void HttpServer::Parts::start_sweeping() {
    if (sweeping) return;
    sweeping = true;
    sweep_timer.expires_after(all.limits.sweep);
    sweep_timer.async_wait([this, here = std::weak_ptr(alive)](const error_code& error) {
        if (!here.expired() && !error) sweep();
    });
}

void HttpServer::Parts::sweep() {
    sweeping = false;
    ++all.sweep;
    // Closing moves the last connection into the gap; in reverse order that one was already visited.
    for (std::size_t i = all.open.size(); i-- > 0;) {
        if (i < all.open.size()) all.open[i]->check_deadlines();
    }
    resume_accepting();
    if (!all.open.empty() || accept_paused) start_sweeping();
}

void HttpServer::Parts::close_all() {
    while (!all.open.empty()) all.open.back()->close(true);
}

void HttpServer::Parts::drain(std::chrono::milliseconds deadline, std::function<void()> when_drained) {
    listeners.clear();
    accept_paused = false;
    all.draining = true;
    drained = std::move(when_drained);
    for (std::size_t i = all.open.size(); i-- > 0;) {
        if (i < all.open.size()) all.open[i]->drain();
    }
    report_drained();
    if (drained) close_after(deadline);
}

// Replaces the former delay.
void HttpServer::Parts::close_after(std::chrono::milliseconds delay) {
    drain_timer.expires_after(delay);
    drain_timer.async_wait([this, here = std::weak_ptr(alive)](const error_code& error) {
        if (!here.expired() && !error) close_all();
    });
}

// Clients that do not close after their last answer must not delay the end.
void HttpServer::Parts::end_lingering() {
    if (ends_lingering || all.open.empty() || all.lingering < all.open.size()) return;
    ends_lingering = true;
    close_after(std::min(kDrainLinger, all.limits.linger));
}

void HttpServer::Parts::report_drained() {
    if (!all.draining || !all.open.empty() || !drained) return;
    drain_timer.cancel();
    loop.post(std::exchange(drained, nullptr));
}

HttpServer::HttpServer(EventLoop& loop, const HttpLimits& limits, HttpHandler handler, HttpErrorFormatter format_error,
                       HttpRouter router)
    : parts_(std::make_unique<Parts>(loop, limits, std::move(handler), std::move(format_error), std::move(router))) {}
HttpServer::~HttpServer() = default;

Result<BoundAddress> HttpServer::listen(std::string_view address) {
    Result<BoundAddress> bound = parts_->bind(address);
    if (!bound) return bound;
    if (Status accepting = parts_->start_accepting(); !accepting) {
        parts_->listeners.pop_back();
        return std::move(accepting).error();
    }
    return bound;
}

Result<BoundAddress> HttpServer::bind(std::string_view address) {
    return parts_->bind(address);
}

Status HttpServer::start_accepting() {
    return parts_->start_accepting();
}

void HttpServer::stop_accepting() {
    parts_->listeners.clear();
    parts_->accept_paused = false;
}

void HttpServer::drain(std::chrono::milliseconds deadline, std::function<void()> drained) {
    parts_->drain(deadline, std::move(drained));
}

void HttpServer::set_gatekeeper(HttpGatekeeper gatekeeper) {
    parts_->all.gatekeeper = std::move(gatekeeper);
}

void HttpServer::set_clock(std::function<InstantMs()> now_ms) {
    parts_->all.now_ms = std::move(now_ms);
}

void HttpServer::use_tls(std::shared_ptr<const TlsContext> context) {
    parts_->all.tls = std::move(context);
}

void HttpServer::on_handshake_failure(std::function<void(const TlsFailure&)> handler) {
    parts_->all.on_handshake_failure = std::move(handler);
}

const HttpCounters& HttpServer::counters() const {
    return parts_->all.counters;
}

HttpRoute route_by_method(const HttpRequest& request) {
    return {request.method == "GET" || request.method == "HEAD" ? kReadsGroup : kAlone};
}

HttpResponse plain_problem(int status, std::string_view code, std::string_view message) {
    HttpResponse response{.status = status, .content_type = "application/problem+json"};
    response.body = "{\"title\":";
    append_json_string(response.body, reason_phrase(status));
    response.body += ",\"status\":" + std::to_string(status) + ",\"code\":";
    append_json_string(response.body, code);
    response.body += ",\"detail\":";
    append_json_string(response.body, message);
    response.body += '}';
    return response;
}

}  // namespace duewheel
