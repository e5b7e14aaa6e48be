#include "delivery/ip_address.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace duewheel {
namespace {

unsigned bits_of(IpAddress::Family family) {
    return family == IpAddress::Family::v4 ? 32 : 128;
}

bool have_same_beginning(const IpAddress& left, const IpAddress& right, unsigned bits) {
    const unsigned whole = bits / 8;
    if (!std::equal(left.bytes.begin(), left.bytes.begin() + whole, right.bytes.begin())) return false;
    if (bits % 8 == 0) return true;
    const unsigned shift = 8 - bits % 8;
    return left.bytes[whole] >> shift == right.bytes[whole] >> shift;
}

// Whether all behind the first `bits` is zero.
bool ends_at(const IpAddress& address, unsigned bits) {
    for (unsigned bit = bits; bit < bits_of(address.family); ++bit) {
        if ((address.bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
}

Error bad_block(std::string_view text, const std::string& why) {
    return {"bad_address_block", "`" + std::string(text) + "` " + why, ""};
}

}  // namespace

// inet_pton() takes none of the short forms; it does take leading zeros in some C libraries.
std::optional<IpAddress> IpAddress::from(std::string_view text) {
    constexpr std::size_t kLongest = 45;
    if (text.empty() || text.size() > kLongest || text.find('\0') != std::string_view::npos) return std::nullopt;
    const std::string terminated(text);
    IpAddress address;
    if (text.find(':') == std::string_view::npos) {
        for (std::size_t at = 0; at + 1 < text.size(); ++at) {
            const bool begins = at == 0 || text[at - 1] == '.';
            if (begins && text[at] == '0' && text[at + 1] != '.') return std::nullopt;
        }
        if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
        return address;
    }
    address.family = Family::v6;
    if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
    return address;
}

std::optional<IpAddress> IpAddress::from(const sockaddr& address) {
    IpAddress read;
    if (address.sa_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, &address, sizeof v4);
        std::memcpy(read.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
        return read;
    }
    if (address.sa_family != AF_INET6) return std::nullopt;
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    read.family = Family::v6;
    std::memcpy(read.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    return read;
}

std::string IpAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> written{};
    const int family_number = family == Family::v4 ? AF_INET : AF_INET6;
    inet_ntop(family_number, bytes.data(), written.data(), written.size());
    return written.data();
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
    const std::optional<IpAddress> first = IpAddress::from(text.substr(0, slash));
    if (!first) return bad_block(text, "is no address: write 10.1.2.3, 10.0.0.0/8 or fd00::/8");
    IpBlock block;
    block.first_ = *first;
    block.bits_ = bits_of(first->family);
    if (slash == std::string_view::npos) return block;
    const std::string_view bits = text.substr(slash + 1);
    const auto [end, problem] = std::from_chars(bits.data(), bits.data() + bits.size(), block.bits_);
    const bool is_number = problem == std::errc() && end == bits.data() + bits.size();
    if (!is_number || block.bits_ > bits_of(first->family)) {
        return bad_block(text, "needs 0 to " + std::to_string(bits_of(first->family)) + " behind its slash");
    }
    if (!ends_at(*first, block.bits_)) {
        return bad_block(text, "has more bits than it counts: write its first address");
    }
    return block;
}

bool IpBlock::contains(const IpAddress& address) const {
    return address.family == first_.family && have_same_beginning(address, first_, bits_);
}

std::string IpBlock::text() const {
    return first_.text() + "/" + std::to_string(bits_);
}

}  // namespace duewheel
