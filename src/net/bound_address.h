// The address of a listening socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace duewheel {

struct BoundAddress {
    std::string host;
    std::uint16_t port = 0;
    std::string text() const;  // "127.0.0.1:7420", "[::1]:7420"
};

// Whether it is an address to listen on, as HttpServer::listen() takes it. Code: bad_address.
Status check_listen_address(std::string_view address);

}  // namespace duewheel
