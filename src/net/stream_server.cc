#include "net/stream_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system_clock.h"
#include "net/listen_address.h"
#include "net/unix_socket.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Generic = asio::generic::stream_protocol;
using Local = asio::local::stream_protocol;
using StreamExecutor = asio::io_context::executor_type;
using StreamSocket = asio::basic_stream_socket<Generic, StreamExecutor>;
using StreamAcceptor = asio::basic_socket_acceptor<Generic, StreamExecutor>;
using StreamTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, StreamExecutor>;

constexpr std::string_view kUnixPrefix = "unix:";
constexpr int kStreamsPerRound = 64;
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kEvictionShare = 64;  // closed at once, because looking for them visits all connections
constexpr int kKernelBytes = 128 * 1024;    // of unsent output; beyond it counts as unsent here
constexpr std::chrono::milliseconds kAcceptAgain{1'000};  // after the limits of connections or open files were met

// By default the kernel takes megabytes for a client that does not read.
void limit_kernel_output(StreamSocket& socket) {
    static_cast<void>(
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kKernelBytes, sizeof kKernelBytes));
}

bool is_socket_file(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// Whether no process listens on the socket. One of another user cannot be connected to, and may be in use.
bool is_left_over(asio::io_context& context, const std::string& path) {
    asio::basic_stream_socket<Local, StreamExecutor> probe(context.get_executor());
    error_code error;
    probe.connect(Local::endpoint(path), error);
    return error == asio::error::connection_refused;
}

}  // namespace

class StreamConnection;

struct StreamConnections final : AfterTurn {
    StreamConnections(EventLoop& on_loop, const StreamLimits& of, StreamServer::Opener opener)
        : loop(on_loop), limits(of), open(std::move(opener)), again(loop.context().get_executor()) {
        loop.add(*this);
    }
    ~StreamConnections();

    bool after_turn() override;
    Result<std::string> listen_unix(const std::string& path, std::optional<gid_t> group);
    Status bind(StreamAcceptor& to, const Generic::endpoint& endpoint, std::string_view address);
    Status begin_listening(StreamAcceptor& to, std::string_view address);
    void wait_for_client();
    void accept_clients();
    void accept_later();
    bool make_room();
    void remove(StreamConnection& connection);

    EventLoop& loop;
    const StreamLimits limits;
    const StreamServer::Opener open;
    std::optional<StreamAcceptor> acceptor;
    std::string unix_path;  // to be removed at the end
    StreamTimer again;
    std::vector<std::shared_ptr<StreamConnection>> connections;
    std::vector<std::shared_ptr<StreamConnection>> to_flush;
    std::uint64_t next_number = 0;
    std::array<char, kReadBytes> read_buffer;
    // Completions may already be queued when the server is destroyed; they check this and do nothing.
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

class StreamConnection final : public StreamClient, public std::enable_shared_from_this<StreamConnection> {
  public:
    StreamConnection(StreamConnections& server, StreamSocket socket)
        : server_(server), socket_(std::move(socket)), peer_(peer_of(socket_.native_handle())) {}

    void start() {
        session_ = server_.open(*this);
        wait_readable();
    }

    void write(std::string_view bytes) override {
        output_ += bytes;
        mark();
    }
    void resume() override {
        is_resumed_ = true;
        mark();
    }
    void finish() override {
        is_finishing_ = true;
        mark();
    }
    const std::string& peer() const override { return peer_; }

    // At the end of an iteration.
    void flush() {
        is_marked_ = false;
        if (!socket_.is_open()) return;
        // The session is called even without bytes: it may have taken those of a command that it could not begin yet.
        const std::size_t before = input_.size();
        if (!input_.empty() || is_resumed_) offer({});
        const bool was_full = is_full();
        if (input_.size() < before && must_gather()) return mark();
        send();
        if (!socket_.is_open()) return;
        if (is_finishing_ && unsent() == 0) return close();
        if (input_ended_ && input_.empty() && unsent() == 0 && !session_->owes_replies()) return close();
        if (was_full && !is_full()) mark();  // what was not offered
        if (may_read()) wait_readable();
    }

    void close() {
        if (!socket_.is_open()) return;
        error_code ignored;
        socket_.close(ignored);
        session_.reset();
        server_.remove(*this);
    }

    bool has_sent() const { return has_sent_; }

    std::size_t index = 0;     // in StreamConnections::connections
    std::uint64_t number = 0;  // in the order of acceptance

  private:
    std::size_t unsent() const { return output_.size() - sent_; }
    bool is_full() const { return unsent() >= server_.limits.unsent_bytes_max; }
    bool may_read() const { return !is_reading_ && !is_finishing_ && !input_ended_ && input_.empty() && !is_full(); }
    // Commands of a pipeline that wait for each other get their replies in an iteration each. These are sent together,
    // for a short time and as long as the session takes more in each iteration.
    bool must_gather() {
        if (unsent() == 0 || unsent() > kGatherBytes || is_sending_ || is_finishing_) return false;
        const std::int64_t now_ns = monotonic_now_ns();
        if (gather_until_ns_ == 0) gather_until_ns_ = now_ns + kGatherNs;
        return now_ns < gather_until_ns_;
    }
    void mark() {
        if (std::exchange(is_marked_, true)) return;
        server_.to_flush.push_back(shared_from_this());
    }

    // Reading into a small buffer of its own, for the reason given in HttpConnection::wait_readable().
    void wait_readable() {
        is_reading_ = true;
        socket_.async_read_some(asio::buffer(first_bytes_),
                                [self = shared_from_this(), here = std::weak_ptr(server_.alive)](
                                    const error_code& error, std::size_t size) {
                                    if (here.expired() || error == asio::error::operation_aborted) return;
                                    if (!self->socket_.is_open()) return;
                                    self->is_reading_ = false;
                                    self->on_read(error, size);
                                });
    }
    void on_read(const error_code& error, std::size_t size) {
        if (error && error != asio::error::eof) return close();
        has_sent_ = true;
        if (error) {
            input_ended_ = true;
        } else if (size < first_bytes_.size()) {
            offer({first_bytes_.data(), size});
        } else {
            std::array<char, kReadBytes>& all = server_.read_buffer;
            std::copy(first_bytes_.begin(), first_bytes_.end(), all.begin());
            error_code later;  // an end or an error is returned again by the next read
            size += socket_.read_some(asio::buffer(all) + size, later);
            offer({all.data(), size});
        }
        mark();
    }
    // What was left before, and these.
    void offer(std::string_view bytes) {
        if (is_full() || is_finishing_) {
            input_ += bytes;
            return;
        }
        is_resumed_ = false;
        if (input_.empty()) {
            input_ = bytes.substr(session_->take(bytes));
            return;
        }
        input_ += bytes;
        input_.erase(0, session_->take(input_));
    }

    void send() {
        while (unsent() > 0 && !is_sending_) {
            error_code error;
            sent_ += socket_.write_some(asio::buffer(output_.data() + sent_, unsent()), error);
            if (error == asio::error::would_block || error == asio::error::try_again) return wait_writable();
            if (error) return close();
        }
        if (unsent() > 0) return;
        gather_until_ns_ = 0;
        output_.clear();
        if (output_.capacity() > kKeptBytes) output_.shrink_to_fit();
        if (input_.empty() && input_.capacity() > kKeptBytes) input_.shrink_to_fit();
        sent_ = 0;
    }
    void wait_writable() {
        is_sending_ = true;
        socket_.async_wait(StreamSocket::wait_write,
                           [self = shared_from_this(), here = std::weak_ptr(server_.alive)](const error_code& error) {
                               if (here.expired() || error) return;
                               self->is_sending_ = false;
                               self->mark();
                           });
    }

    static constexpr std::size_t kGatherBytes = 16 * 1024;
    static constexpr std::int64_t kGatherNs = 200'000;
    static constexpr std::size_t kKeptBytes = 4 * 1024;  // of empty buffers: thousands of idle clients have them

    StreamConnections& server_;
    StreamSocket socket_;
    const std::string peer_;
    std::array<char, 512> first_bytes_;
    std::unique_ptr<StreamSession> session_;
    std::string input_;  // that the session did not take yet
    std::string output_;
    std::size_t sent_ = 0;              // of output_
    std::int64_t gather_until_ns_ = 0;  // 0: nothing is being gathered
    bool is_marked_ = false;
    bool is_resumed_ = false;  // and nothing was offered to the session since
    bool has_sent_ = false;
    bool is_reading_ = false;
    bool is_sending_ = false;
    bool is_finishing_ = false;
    bool input_ended_ = false;
};

StreamConnections::~StreamConnections() {
    loop.remove(*this);
    while (!connections.empty()) connections.back()->close();
    if (!unix_path.empty()) ::unlink(unix_path.c_str());
}

// Those that have more to do afterwards wait for the next iteration, so that one client does not hold up all others.
bool StreamConnections::after_turn() {
    const auto batch = std::exchange(to_flush, {});
    for (const auto& connection : batch) connection->flush();
    return !batch.empty();
}

Result<std::string> StreamConnections::listen_unix(const std::string& path, std::optional<gid_t> group) {
    const std::string address = std::string(kUnixPrefix) + path;
    constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty() || path.size() > kPathMax) {
        return Error{"bad_address",
                     "\"" + address + "\" is not a socket to listen on; write unix:PATH with a path of up to " +
                         std::to_string(kPathMax) + " bytes, such as unix:/run/duewheel/socket.",
                     ""};
    }
    if (is_socket_file(path) && is_left_over(loop.context(), path)) ::unlink(path.c_str());
    StreamAcceptor made(loop.context().get_executor());
    if (Status bound = bind(made, Local::endpoint(path), address); !bound) return std::move(bound).error();
    unix_path = path;
    if (group) {
        if (Status opened = open_to_group(path, *group); !opened) return std::move(opened).error();
    }
    if (Status begun = begin_listening(made, address); !begun) return std::move(begun).error();
    acceptor = std::move(made);
    wait_for_client();
    return address;
}

Status StreamConnections::bind(StreamAcceptor& to, const Generic::endpoint& endpoint, std::string_view address) {
    error_code error;
    to.open(endpoint.protocol(), error);
    if (!error && address.starts_with(kUnixPrefix)) {
        if (!close_to_others(to.native_handle())) error.assign(errno, boost::system::generic_category());
    } else if (!error) {
        to.set_option(StreamAcceptor::reuse_address(true), error);
    }
    if (!error) to.bind(endpoint, error);
    if (error) return listen_error(address, error);
    return {};
}

Status StreamConnections::begin_listening(StreamAcceptor& to, std::string_view address) {
    error_code error;
    to.non_blocking(true, error);
    if (!error) to.listen(asio::socket_base::max_listen_connections, error);
    if (error) return listen_error(address, error);
    return {};
}

void StreamConnections::wait_for_client() {
    acceptor->async_wait(StreamAcceptor::wait_read, [this, here = std::weak_ptr(alive)](const error_code& error) {
        if (!here.expired() && !error && acceptor) accept_clients();
    });
}

void StreamConnections::accept_clients() {
    for (int accepted = 0; accepted < kStreamsPerRound; ++accepted) {
        if (connections.size() >= limits.connections_max) {
            if (!has_waiting_client(acceptor->native_handle())) break;
            if (!make_room()) return accept_later();
        }
        StreamSocket socket(loop.context().get_executor());
        error_code error;
        acceptor->accept(socket, error);
        if (error == asio::error::would_block || error == asio::error::try_again) break;
        if (error == asio::error::connection_aborted) continue;
        if (error) return accept_later();
        socket.non_blocking(true, error);
        if (unix_path.empty() && !error) socket.set_option(tcp::no_delay(true), error);
        // A client may wait for hours, and one whose machine has failed must not keep its jobs.
        if (unix_path.empty() && !error) socket.set_option(asio::socket_base::keep_alive(true), error);
        if (error) continue;
        if (unix_path.empty()) limit_kernel_output(socket);
        auto connection = std::make_shared<StreamConnection>(*this, std::move(socket));
        connection->index = connections.size();
        connection->number = next_number++;
        connections.push_back(connection);
        connection->start();
    }
    wait_for_client();
}

// As HttpServer does. A connection that has sent something may have jobs, and what it watches is known to it alone.
bool StreamConnections::make_room() {
    std::vector<std::shared_ptr<StreamConnection>> silent;
    for (const auto& connection : connections) {
        if (!connection->has_sent()) silent.push_back(connection);
    }
    const std::size_t count = std::min(silent.size(), limits.connections_max / kEvictionShare + 1);
    std::partial_sort(silent.begin(), silent.begin() + static_cast<std::ptrdiff_t>(count), silent.end(),
                      [](const auto& left, const auto& right) { return left->number < right->number; });
    for (std::size_t i = 0; i < count; ++i) silent[i]->close();
    return count > 0;
}

void StreamConnections::accept_later() {
    again.expires_after(kAcceptAgain);
    again.async_wait([this, here = std::weak_ptr(alive)](const error_code& error) {
        if (!here.expired() && !error && acceptor) accept_clients();
    });
}

void StreamConnections::remove(StreamConnection& connection) {
    const std::size_t index = connection.index;
    std::swap(connections[index], connections.back());
    connections[index]->index = index;
    connections.pop_back();
}

StreamServer::StreamServer(EventLoop& loop, const StreamLimits& limits, Opener open)
    : parts_(std::make_unique<StreamConnections>(loop, limits, std::move(open))) {}
StreamServer::~StreamServer() = default;

Result<std::string> StreamServer::listen(std::string_view address, std::optional<gid_t> socket_group) {
    if (address.starts_with(kUnixPrefix)) {
        return parts_->listen_unix(std::string(address.substr(kUnixPrefix.size())), socket_group);
    }
    const Result<tcp::endpoint> endpoint = parse_listen_address(address);
    if (!endpoint) return endpoint.error();
    StreamAcceptor made(parts_->loop.context().get_executor());
    if (Status bound = parts_->bind(made, *endpoint, address); !bound) return std::move(bound).error();
    if (Status begun = parts_->begin_listening(made, address); !begun) return std::move(begun).error();
    error_code error;
    const Generic::endpoint local = made.local_endpoint(error);
    if (error) return listen_error(address, error);
    tcp::endpoint shown;
    shown.resize(local.size());
    std::copy_n(reinterpret_cast<const char*>(local.data()), local.size(), reinterpret_cast<char*>(shown.data()));
    parts_->acceptor = std::move(made);
    parts_->wait_for_client();
    return BoundAddress{shown.address().to_string(), shown.port()}.text();
}

void StreamServer::stop_accepting() {
    parts_->acceptor.reset();
}

std::size_t StreamServer::connections() const {
    return parts_->connections.size();
}

}  // namespace duewheel
