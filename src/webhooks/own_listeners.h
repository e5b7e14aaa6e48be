// The addresses at which this server can be reached on this machine. Webhooks are never sent to them, whatever the
// operator allows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "webhooks/address_policy.h"

namespace duewheel {

// Addresses of a listener on `host`, an address or a name, and `port`. A loopback address is itself; any other means
// all current addresses of the machine's interfaces, which may be more than it listens on but never less.
std::vector<AddressPolicy::Listener> own_listeners(std::string_view host, std::uint16_t port);

}  // namespace duewheel
