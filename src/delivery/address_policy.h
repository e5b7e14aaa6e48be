// Which addresses a webhook may be sent to: those that anybody on the internet may reach, and what the administrator
// allows beside them. Whoever may put a message must not get the server to knock at doors that are closed to him.
//
// It judges addresses, not names: a name is looked up again whenever a connection is opened, so it is asked about the
// very address that the socket is about to be connected to.
//
// What is refused: the special ranges of the registries of RFC 6890, this machine, private, shared and link-local nets,
// multicast, documentation; the services by which clouds tell a machine its secrets, wherever their address lies; every
// IPv6 address that holds or leads to an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo, ISATAP), as nobody needs
// those and each is a way around the rules for the other; and, even where it is allowed otherwise, what this server
// itself listens on.
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
    // `own`: where this server listens, each address by itself, so none that stands for all.
    AddressPolicy(std::vector<IpBlock> allowed, std::vector<Listener> own)
        : allowed_(std::move(allowed)), own_(std::move(own)) {}

    // Empty: it may be. Otherwise what the address is: "a private address". O(rules).
    std::string_view refusal(const IpAddress& address, std::uint16_t port) const;

  private:
    std::vector<IpBlock> allowed_;
    std::vector<Listener> own_;
};

}  // namespace duewheel
