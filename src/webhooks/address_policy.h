// The addresses to which webhooks may be sent: public ones, and those that the operator allows. A client that can put
// messages must not be able to reach internal services through the server.
//
// The policy checks addresses, not names: a name is resolved again for each connection, so the policy checks the
// address to which the socket is about to be connected.
//
// Refused are: the special ranges of the registries of RFC 6890, this machine, private, shared and link-local networks,
// multicast, documentation; the metadata services of clouds, wherever their address is; every IPv6 address that
// contains or leads to an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), because they are not needed and
// bypass the rules of the other family; and, even if it is allowed otherwise, every address at which this server itself
// listens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "net/ip_address.h"

namespace duewheel {

class AddressPolicy {
  public:
    struct Listener {
        IpAddress address;
        std::uint16_t port = 0;
    };

    static constexpr std::string_view kOwn = "an address that this server listens on";

    AddressPolicy() = default;
    // `own`: the addresses at which this server listens, each by itself, without wildcards.
    AddressPolicy(std::vector<IpBlock> allowed, std::vector<Listener> own)
        : allowed_(std::move(allowed)), own_(std::move(own)) {}

    // Empty: it is allowed. Otherwise the kind of address: "a private address". O(rules).
    std::string_view refusal(const IpAddress& address, std::uint16_t port) const;

  private:
    std::vector<IpBlock> allowed_;
    std::vector<Listener> own_;
};

}  // namespace duewheel
