#include "net/connections.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/listen_address.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kAcceptsPerRound = 64;
// Looking for connections to close visits all of them, so several are closed at once.
constexpr std::size_t kEvictionShare = 64;

bool out_of_descriptors(const error_code& error) {
    return error == asio::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system ||
           error == asio::error::no_buffer_space || error == asio::error::no_memory;
}

}  // namespace

Connections::Connections(EventLoop& loop, const ConnectionLimits& limits, ConnectionCounters& counters)
    : loop_(loop), limits_(limits), counters_(counters), again_(context().get_executor()) {
    loop_.add(*this);
}

Connections::~Connections() {
    loop_.remove(*this);
}

Status Connections::start_accepting() {
    for (const auto& listener : listeners_) {
        if (listener->is_listening) continue;
        if (Status listening = listener->listen(); !listening) {
            std::erase(listeners_, listener);
            return listening;
        }
        wait_for_client(listener);
    }
    return {};
}

void Connections::stop_accepting() {
    listeners_.clear();
    is_paused_ = false;
}

void Connections::wait_for_client(const std::shared_ptr<Listener>& listener) {
    auto completed = [this, weak = std::weak_ptr(listener), here = std::weak_ptr(alive_)](const error_code& error) {
        const auto still_listening = weak.lock();
        if (!here.expired() && !error && still_listening) accept_clients(still_listening);
    };
    listener->acceptor.async_wait(asio::socket_base::wait_read, std::move(completed));
}

void Connections::accept_clients(const std::shared_ptr<Listener>& listener) {
    for (int accepts = 0; accepts < kAcceptsPerRound; ++accepts) {
        if (is_full()) {
            if (!has_waiting_client(listener->acceptor.native_handle())) break;
            if (!make_room()) return pause(*listener);
        }
        StreamSocket socket(context().get_executor());
        StreamProtocol::endpoint peer;
        error_code error;
        listener->acceptor.accept(socket, peer, error);
        if (would_block(error)) break;
        if (!error) {
            if (const auto take = dealer_ ? dealer_() : nullptr) {
                take(socket.release());
            } else {
                accepted(std::move(socket), peer);
            }
            continue;
        }
        ++counters_.accept_failures;
        if (out_of_descriptors(error)) {
            ++counters_.descriptors_lacked;
            return pause(*listener);
        }
    }
    wait_for_client(listener);
}

void Connections::accepted(StreamSocket socket, const StreamProtocol::endpoint& peer) {
    error_code error;
    socket.non_blocking(true, error);
    if (!error && is_tcp(peer)) socket.set_option(tcp::no_delay(true), error);
    if (error) {
        ++counters_.accept_failures;
        return;
    }
    const std::shared_ptr<Connection> connection = connect(std::move(socket), peer);
    if (!connection) return;
    connection->index_ = open_.size();
    open_.push_back(connection);
    ++counters_.connections_accepted;
    ++counters_.connections_open;
    connection->start();
    on_started();
}

void Connections::adopt(int native) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    StreamSocket socket(context().get_executor());
    error_code error;
    if (::getpeername(native, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        error.assign(errno, boost::system::generic_category());
    }
    if (!error) socket.assign(StreamProtocol(address.ss_family, IPPROTO_TCP), native, error);
    if (error || (is_full() && !make_room())) {
        ++counters_.accept_failures;
        if (!socket.is_open()) ::close(native);
        return;
    }
    accepted(std::move(socket), StreamProtocol::endpoint(&address, size, IPPROTO_TCP));
}

void Connections::pause(Listener& listener) {
    ++counters_.accept_pauses;
    listener.is_paused = is_paused_ = true;
    try_again_later();
}

void Connections::try_again_later() {
    again_.expires_after(limits_.accept_again);
    again_.async_wait([this, here = std::weak_ptr(alive_)](const error_code& error) {
        if (here.expired() || error) return;
        resume_accepting();
        if (is_paused_) try_again_later();
    });
}

void Connections::resume_accepting() {
    if (!is_paused_ || (is_full() && evictable().empty())) return;
    is_paused_ = false;
    for (const auto& listener : listeners_) {
        if (std::exchange(listener->is_paused, false)) wait_for_client(listener);
    }
}

std::vector<std::shared_ptr<Connection>> Connections::evictable() const {
    std::vector<std::shared_ptr<Connection>> found;
    for (const auto& connection : open_) {
        if (connection->may_be_evicted()) found.push_back(connection);
    }
    return found;
}

bool Connections::make_room() {
    std::vector<std::shared_ptr<Connection>> found = evictable();
    const std::size_t count = std::min(found.size(), limits_.connections_max / kEvictionShare + 1);
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                      [](const auto& left, const auto& right) { return left->idle_mark() < right->idle_mark(); });
    for (std::size_t i = 0; i < count; ++i) {
        ++counters_.connections_evicted;
        found[i]->close(true);
    }
    return count > 0;
}

bool Connections::flush_once() {
    const auto batch = std::exchange(to_flush_, {});
    for (const auto& connection : batch) {
        connection->wants_flush_ = false;
        if (!connection->closed_) connection->flush();
    }
    return !batch.empty();
}

void Connections::close_all(bool tell_owners) {
    while (!open_.empty()) open_.back()->close(tell_owners);
}

// The last connection moves into the gap.
void Connections::remove(Connection& connection) {
    const std::size_t index = connection.index_;
    open_.back()->index_ = index;
    std::swap(open_[index], open_.back());
    open_.pop_back();
    --counters_.connections_open;
    resume_accepting();
    on_closed();
}

}  // namespace duewheel
