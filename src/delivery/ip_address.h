// An IP address and a block of them, as they are written and as a socket has them.
//
// Texts are read strictly: four decimal numbers without leading zeros, or the hexadecimal groups of RFC 4291. The
// short, octal and hexadecimal forms that some resolvers take ("127.1", "0177.0.0.1", "0x7f000001") are no addresses
// here, so that what was looked at is what is connected to. An IPv6 address that holds an IPv4 one stays an IPv6
// address.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

struct sockaddr;

namespace duewheel {

struct IpAddress {
    enum class Family : std::uint8_t { v4, v6 };

    Family family = Family::v4;
    std::array<std::uint8_t, 16> bytes{};  // of v4 the first four, the rest zero

    // nullopt: it is no address in the strict form. Without brackets, port or zone.
    static std::optional<IpAddress> from(std::string_view text);
    // nullopt: it is of another family.
    static std::optional<IpAddress> from(const sockaddr& address);

    std::string text() const;
    auto operator<=>(const IpAddress&) const = default;
};

// The port of an address of the internet's families, 0 for others.
std::uint16_t port_of(const sockaddr& address);

// All addresses that begin with the same bits: "10.0.0.0/8". An address alone is a block of one.
class IpBlock {
  public:
    // Error `bad_address_block` with what is wrong: no address, too many bits, or bits behind the first ones that are
    // not zero, because then somebody meant another block.
    static Result<IpBlock> from(std::string_view text);

    bool contains(const IpAddress& address) const;
    std::string text() const;

  private:
    IpAddress first_;
    unsigned bits_ = 0;
};

}  // namespace duewheel
