#include "net/stream_server.h"

#include <utility>

#include <boost/asio/socket_base.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/connections.h"
#include "net/unix_socket.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr std::size_t kStreamKeptBytesMax = 4 * 1024;
constexpr int kKernelBytes = 128 * 1024;  // of unsent output; beyond it counts as unsent here
constexpr std::chrono::milliseconds kAcceptAgain{1'000};

// By default the kernel takes megabytes for a client that does not read.
void limit_kernel_output(StreamSocket& socket) {
    static_cast<void>(
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kKernelBytes, sizeof kKernelBytes));
}

}  // namespace

struct StreamConnections final : Connections {
    StreamConnections(EventLoop& loop, const StreamLimits& of, StreamServer::Opener opener)
        : Connections(loop, {of.connections_max, kAcceptAgain, kStreamKeptBytesMax}, counters),
          limits(of),
          open_session(std::move(opener)) {}
    ~StreamConnections() { close_all(true); }

    // Those that have more to do afterwards wait for the next iteration, so that one client does not hold up all
    // others.
    bool after_turn() override { return flush_once(); }
    std::shared_ptr<Connection> connect(StreamSocket socket, const StreamProtocol::endpoint& peer) override;

    ConnectionCounters counters;
    const StreamLimits limits;
    const StreamServer::Opener open_session;
};

namespace {

class StreamConnection final : public StreamClient, public Connection {
  public:
    StreamConnection(StreamConnections& server, StreamSocket socket)
        : Connection(server, std::move(socket)), server_(server), peer_(peer_of(socket_->native_handle())) {}

    void start() override {
        session_ = server_.open_session(*this);
        read_on();
    }

    void write(std::string_view bytes) override {
        output_ += bytes;
        want_flush();
    }
    void resume() override {
        is_resumed_ = true;
        want_flush();
    }
    void finish() override {
        is_finishing_ = true;
        want_flush();
    }
    const std::string& peer() const override { return peer_; }

    void flush() override {
        // The session is called even without bytes: it may have taken those of a command that it could not begin yet.
        const std::size_t before = input_.size();
        if (!input_.empty() || is_resumed_) offer({});
        const bool was_full = is_full();
        if (input_.size() < before && must_gather()) return want_flush();
        send_output();
        if (closed_) return;
        if (all_sent()) {
            gather_until_ns_ = 0;
            if (input_.empty()) empty(input_);
            const bool is_over = input_ended_ && input_.empty() && !session_->owes_replies();
            if (is_finishing_ || is_over) return close(true);
        }
        if (was_full && !is_full()) want_flush();  // what was not offered
        if (!is_finishing_ && input_.empty() && !is_full()) read_on();
    }

    void close(bool /*tell_owners*/) override {
        if (closed_) return;
        const auto self = shared_from_this();
        leave();
        session_.reset();
    }

    // One that has sent something may have jobs, and what it watches is known to it alone.
    bool may_be_evicted() const override { return !has_sent_; }

  private:
    bool is_full() const { return unsent_bytes() >= server_.limits.unsent_bytes_max; }
    // Commands of a pipeline that wait for each other get their replies in an iteration each. These are sent together,
    // for a short time and as long as the session takes more in each iteration.
    bool must_gather() {
        if (all_sent() || unsent_bytes() > kGatherBytes || output_blocked_ || is_finishing_) return false;
        const std::int64_t now_ns = monotonic_now_ns();
        if (gather_until_ns_ == 0) gather_until_ns_ = now_ns + kGatherNs;
        return now_ns < gather_until_ns_;
    }

    void receive(std::string_view bytes) override {
        has_sent_ = true;
        offer(bytes);
        want_flush();
    }
    void on_input_end() override {
        has_sent_ = true;
        want_flush();
    }
    // What was left before, and these.
    void offer(std::string_view bytes) {
        if (is_full() || is_finishing_) {
            input_ += bytes;
            return;
        }
        is_resumed_ = false;
        if (input_.empty()) {
            input_ = bytes.substr(session_->consume(bytes));
            return;
        }
        input_ += bytes;
        input_.erase(0, session_->consume(input_));
    }

    static constexpr std::size_t kGatherBytes = 16 * 1024;
    static constexpr std::int64_t kGatherNs = 200'000;

    StreamConnections& server_;
    const std::string peer_;
    std::unique_ptr<StreamSession> session_;
    std::int64_t gather_until_ns_ = 0;  // 0: nothing is being gathered
    bool is_resumed_ = false;           // and nothing was offered to the session since
    bool has_sent_ = false;
    bool is_finishing_ = false;
};

}  // namespace

std::shared_ptr<Connection> StreamConnections::connect(StreamSocket socket, const StreamProtocol::endpoint& peer) {
    if (is_tcp(peer)) {
        // A client may wait for hours, and one whose machine has failed must not keep its jobs.
        boost::system::error_code error;
        socket.set_option(boost::asio::socket_base::keep_alive(true), error);
        if (error) return nullptr;
        limit_kernel_output(socket);
    }
    return std::make_shared<StreamConnection>(*this, std::move(socket));
}

StreamServer::StreamServer(EventLoop& loop, const StreamLimits& limits, Opener open)
    : parts_(std::make_unique<StreamConnections>(loop, limits, std::move(open))) {}
StreamServer::~StreamServer() = default;

Result<std::string> StreamServer::listen(std::string_view address, std::optional<gid_t> socket_group) {
    Result<std::shared_ptr<Listener>> listener =
        address.starts_with(kUnixPrefix) ? Listener::bind_unix(parts_->context(), std::string(address), socket_group)
                                         : Listener::bind_tcp(parts_->context(), address);
    if (!listener) return listener.error();
    const std::string bound = (*listener)->address;
    parts_->add(std::move(*listener));
    if (Status accepting = parts_->start_accepting(); !accepting) return std::move(accepting).error();
    return bound;
}

void StreamServer::stop_accepting() {
    parts_->stop_accepting();
}

std::size_t StreamServer::connections() const {
    return parts_->size();
}

}  // namespace duewheel
