// Addresses to listen on, as text, and why a server cannot listen on one. Private to the servers of this module: it
// needs Asio.
#pragma once

#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "base/status.h"
#include "net/bound_address.h"

namespace duewheel {

Error bad_listen_address(std::string_view address);
// "127.0.0.1:7420", "[::1]:7420" or "localhost:7420". Code: bad_address.
Result<boost::asio::ip::tcp::endpoint> parse_listen_address(std::string_view address);
// Codes: bad_address, forbidden, io_error, port_in_use.
Error listen_error(std::string_view address, const boost::system::error_code& error);

// Whether a client waits to be accepted by the listening socket.
bool has_waiting_client(int socket);

}  // namespace duewheel
