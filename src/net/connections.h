// The connections of one server, and the sockets on which it accepts them. Private to the servers of this module.
//
// Clients are accepted until there are `connections_max`. Then connections that may be evicted are closed, the oldest
// first; without any, and when the process is out of file descriptors, clients wait in the kernel's queue. It is tried
// again when a connection has closed, and after `accept_again`, because descriptors may become free elsewhere in the
// process.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>

#include "net/connection.h"
#include "net/connection_counters.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace duewheel {

using LoopTimer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      boost::asio::io_context::executor_type>;

struct ConnectionLimits {
    std::size_t connections_max = 0;
    std::chrono::milliseconds accept_again{0};
    std::size_t kept_bytes_max = 0;  // memory of an empty buffer
};

class Connections : public AfterTurn {
  public:
    // `loop` and `counters` outlive it; the counters may be constructed later.
    Connections(EventLoop& loop, const ConnectionLimits& limits, ConnectionCounters& counters);
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    void add(std::shared_ptr<Listener> listener) { listeners_.push_back(std::move(listener)); }
    // Listens on all that were added. One that fails is dropped.
    Status start_accepting();
    // Closes the listening sockets. Connections stay open.
    void stop_accepting();
    // What becomes of the next client that is accepted: a function takes its socket; an empty one: this server keeps
    // it.
    using Dealer = std::function<std::function<void(int socket)>()>;
    void set_dealer(Dealer dealer) { dealer_ = std::move(dealer); }
    // As if this had accepted the client. Closes the socket if there is no room.
    void adopt(int socket);

    std::size_t size() const { return open_.size(); }
    boost::asio::io_context& context() { return loop_.context(); }

  protected:
    // Requires that all connections are closed: a derived class calls close_all().
    virtual ~Connections();

    // A client was accepted: its connection, or null if it is refused. Does not start it.
    virtual std::shared_ptr<Connection> connect(StreamSocket socket, const StreamProtocol::endpoint& peer) = 0;
    virtual void on_started() {}
    // A connection was closed, and is not among `open_` any more.
    virtual void on_closed() {}

    // Flushes those that want it; false if there was none. What they want meanwhile is left for the next call.
    bool flush_once();
    // Closes the connections that have been idle for longest; false if there is none. O(connections).
    bool make_room();
    void close_all(bool tell_owners);

    EventLoop& loop_;
    std::vector<std::shared_ptr<Connection>> open_;
    // Completions may already be queued when the server is destroyed; they check this and do nothing.
    const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  private:
    friend class Connection;

    void wait_for_client(const std::shared_ptr<Listener>& listener);
    void accept_clients(const std::shared_ptr<Listener>& listener);
    void accepted(StreamSocket socket, const StreamProtocol::endpoint& peer);
    void pause(Listener& listener);
    void try_again_later();
    void resume_accepting();
    void remove(Connection& connection);
    bool is_full() const { return open_.size() >= limits_.connections_max; }
    std::vector<std::shared_ptr<Connection>> evictable() const;

    const ConnectionLimits limits_;
    ConnectionCounters& counters_;
    // Shared with the wait for the next client, which may complete after the listener was closed and dropped.
    std::vector<std::shared_ptr<Listener>> listeners_;
    LoopTimer again_;
    bool is_paused_ = false;
    Dealer dealer_;  // empty: this gets all clients
    std::vector<std::shared_ptr<Connection>> to_flush_;
    std::uint64_t idle_marks_ = 0;  // the next Connection::idle_mark()
    // Readable connections read into this, one after the other; only what is left of a message in pieces is copied.
    std::array<char, 64 * 1024> read_buffer_;
};

}  // namespace duewheel
