#include "net/ip_address.h"

#include <charconv>
#include <cstring>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

namespace ip = boost::asio::ip;

unsigned short bits_of(const IpAddress& address) {
    return address.is_v4() ? 32 : 128;
}

// The first address of its block of `bits`.
IpAddress first_of_block(const IpAddress& address, unsigned short bits) {
    if (address.is_v4()) return ip::network_v4(address.to_v4(), bits).network();
    return ip::network_v6(address.to_v6(), bits).network();
}

Error bad_block(std::string_view text, const std::string& why) {
    return {"bad_address_block"_code, "`" + std::string(text) + "` " + why, ""};
}

}  // namespace

// Asio also accepts a zone, and reads a text only up to its first zero byte.
std::optional<IpAddress> parse_ip_address(std::string_view text) {
    if (text.find('%') != std::string_view::npos || text.find('\0') != std::string_view::npos) return std::nullopt;
    boost::system::error_code error;
    const IpAddress address = ip::make_address(std::string(text), error);
    if (error) return std::nullopt;
    return address;
}

std::optional<IpAddress> ip_address_of(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, &address, sizeof v4);
        return ip::address_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address.sa_family != AF_INET6) return std::nullopt;
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return ip::address_v6(bytes);
}

std::uint16_t port_of(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, &address, sizeof v4);
        return ntohs(v4.sin_port);
    }
    if (address.sa_family != AF_INET6) return 0;
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    return ntohs(v6.sin6_port);
}

Result<IpBlock> IpBlock::from(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::optional<IpAddress> first = parse_ip_address(text.substr(0, slash));
    if (!first) return bad_block(text, "is no address: write 10.1.2.3, 10.0.0.0/8 or fd00::/8");
    IpBlock block;
    block.first_ = *first;
    block.bits_ = bits_of(*first);
    if (slash == std::string_view::npos) return block;
    const std::string_view bits = text.substr(slash + 1);
    const auto [end, problem] = std::from_chars(bits.data(), bits.data() + bits.size(), block.bits_);
    const bool is_number = problem == std::errc() && end == bits.data() + bits.size();
    if (!is_number || block.bits_ > bits_of(*first)) {
        return bad_block(text, "needs 0 to " + std::to_string(bits_of(*first)) + " behind its slash");
    }
    if (first_of_block(*first, block.bits_) != *first) {
        return bad_block(text, "has more bits than it counts: write its first address");
    }
    return block;
}

bool IpBlock::contains(const IpAddress& address) const {
    return address.is_v4() == first_.is_v4() && first_of_block(address, bits_) == first_;
}

std::string IpBlock::text() const {
    return first_.to_string() + "/" + std::to_string(bits_);
}

}  // namespace duewheel
