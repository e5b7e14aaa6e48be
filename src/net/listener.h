// A listening socket, of TCP or a Unix socket. Private to the servers of this module: it needs Asio.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <sys/types.h>

#include "base/status.h"
#include "net/bound_address.h"

namespace duewheel {

using StreamProtocol = boost::asio::generic::stream_protocol;
using StreamSocket = boost::asio::basic_stream_socket<StreamProtocol, boost::asio::io_context::executor_type>;

class Listener {
  public:
    // Binds to "127.0.0.1:7420", "[::1]:7420" or "localhost:7420"; port 0 picks a free one. Codes: bad_address,
    // port_in_use, forbidden (a port below 1024 without the privilege), io_error.
    static Result<std::shared_ptr<Listener>> bind_tcp(boost::asio::io_context& context, std::string_view address);
    // Binds to "unix:/path/of/socket". A socket file that no process listens on is replaced. To connect to it, a
    // process must be of the user of this process or, if there is one, of `group`. Codes: bad_address, port_in_use,
    // forbidden, io_error, forbidden_group.
    static Result<std::shared_ptr<Listener>> bind_unix(boost::asio::io_context& context, const std::string& address,
                                                       std::optional<gid_t> group);

    explicit Listener(boost::asio::io_context& context) : acceptor(context.get_executor()) {}
    // Removes the file of a Unix socket.
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Until then the system refuses clients.
    Status listen();

    boost::asio::basic_socket_acceptor<StreamProtocol, boost::asio::io_context::executor_type> acceptor;
    BoundAddress bound;   // with the port that was picked; empty for a Unix socket
    std::string address;  // as text: "127.0.0.1:7420", "unix:/path/of/socket"
    bool is_listening = false;
    bool is_paused = false;  // clients wait in the kernel's queue

  private:
    Status bind(const StreamProtocol::endpoint& endpoint, std::string_view address);

    std::string path_;  // of a Unix socket
};

inline constexpr std::string_view kUnixPrefix = "unix:";

bool is_tcp(const StreamProtocol::endpoint& endpoint);
// Requires is_tcp().
boost::asio::ip::tcp::endpoint tcp_endpoint(const StreamProtocol::endpoint& endpoint);

}  // namespace duewheel
