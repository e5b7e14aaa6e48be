// IP addresses and blocks of them: Asio's type, but read strictly.
//
// Four decimal numbers without leading zeros, or the hexadecimal groups of RFC 4291. The short, octal and hexadecimal
// forms that some resolvers take ("127.1", "0177.0.0.1", "0x7f000001") are no addresses here, so that what was looked
// at is what is connected to. An IPv6 address that holds an IPv4 one stays an IPv6 address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

#include "base/status.h"

struct sockaddr;

namespace duewheel {

using IpAddress = boost::asio::ip::address;

// nullopt: it is no address in the strict form. Without brackets, port or zone.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// nullopt: it is of another family.
std::optional<IpAddress> ip_address_of(const sockaddr& address);

// The port of an address of the internet's families, 0 for others.
std::uint16_t port_of(const sockaddr& address);

// All addresses that begin with the same bits: "10.0.0.0/8". An address alone is a block of one.
class IpBlock {
  public:
    // Error `bad_address_block` with what is wrong: no address, too many bits, or bits behind the first ones that are
    // not zero, because then another block was meant.
    static Result<IpBlock> from(std::string_view text);

    bool contains(const IpAddress& address) const;
    std::string text() const;

  private:
    IpAddress first_;
    unsigned short bits_ = 0;
};

}  // namespace duewheel
