#include "net/listen_address.h"

#include <charconv>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <poll.h>

#include "base/error_codes.h"

namespace duewheel {

namespace asio = boost::asio;
using asio::ip::tcp;

Error bad_listen_address(std::string_view address) {
    return {"bad_address"_code,
            "\"" + std::string(address) +
                "\" is not an address to listen on; write ADDRESS:PORT, such as 127.0.0.1:7420, [::1]:7420 or "
                "0.0.0.0:7420.",
            ""};
}

Result<tcp::endpoint> parse_listen_address(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos) return bad_listen_address(address);
    const std::string_view port_text = address.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    if (port_text.empty() || failure != std::errc{} || end != port_text.data() + port_text.size()) {
        return bad_listen_address(address);
    }
    std::string host(address.substr(0, colon));
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    boost::system::error_code error;
    const auto ip = asio::ip::make_address(host, error);
    // Without brackets it would be unclear which colon ends an IPv6 address.
    if (error || ip.is_v6() != bracketed) return bad_listen_address(address);
    return tcp::endpoint(ip, port);
}

Error listen_error(std::string_view address, const boost::system::error_code& error) {
    const std::string where(address);
    if (error == asio::error::address_in_use) {
        return {"port_in_use"_code,
                "Cannot listen on " + where +
                    ": another program already does. Stop it, or choose another port (port 0 selects a free one).",
                ""};
    }
    if (error == asio::error::access_denied) {
        return {"forbidden"_code,
                "Cannot listen on " + where +
                    ": ports below 1024 need a privilege this process does not have. Choose a higher port.",
                ""};
    }
    if (error == boost::system::errc::address_not_available) {
        return {"bad_address"_code, "Cannot listen on " + where + ": this machine has no such address.", ""};
    }
    return {"io_error"_code, "Cannot listen on " + where + ": " + error.message() + ".", ""};
}

Status check_listen_address(std::string_view address) {
    const auto endpoint = parse_listen_address(address);
    return endpoint ? Status() : Status(endpoint.error());
}

std::string BoundAddress::text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool has_waiting_client(int socket) {
    pollfd listener{.fd = socket, .events = POLLIN, .revents = 0};
    return ::poll(&listener, 1, 0) == 1;
}

}  // namespace duewheel
