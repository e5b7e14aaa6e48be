// Where this server can be reached on this machine, address by address: what webhooks are not sent to, wherever else an
// operator lets them go.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "delivery/address_policy.h"

namespace duewheel {

// Of a listener on `host`, an address or a name, and `port`. One on loopback is itself; of any other each address that
// the machine's interfaces have now, which is more than it may listen on and never less.
std::vector<AddressPolicy::Listener> own_listeners(std::string_view host, std::uint16_t port);

}  // namespace duewheel
