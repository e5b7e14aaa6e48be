#include "webhooks/address_policy.h"

#include <algorithm>
#include <cassert>

namespace duewheel {
namespace {

struct Rule {
    const char* block;
    std::string_view what;
};

// The first matching rule applies.
constexpr Rule kRules[] = {
    {"169.254.169.254/32", "a cloud metadata service"},
    {"169.254.170.2/32", "a cloud metadata service"},
    {"100.100.100.200/32", "a cloud metadata service"},
    {"192.0.0.192/32", "a cloud metadata service"},
    {"168.63.129.16/32", "a cloud metadata service"},
    {"fd00:ec2::254/128", "a cloud metadata service"},
    {"0.0.0.0/8", "an address of this machine"},
    {"127.0.0.0/8", "an address of this machine"},
    {"::1/128", "an address of this machine"},
    {"::/128", "an address of this machine"},
    {"10.0.0.0/8", "a private address"},
    {"172.16.0.0/12", "a private address"},
    {"192.168.0.0/16", "a private address"},
    {"fc00::/7", "a private address"},
    {"fec0::/10", "a private address"},
    {"100.64.0.0/10", "a shared address (RFC 6598)"},
    {"169.254.0.0/16", "a link-local address"},
    {"fe80::/10", "a link-local address"},
    {"224.0.0.0/4", "a multicast address"},
    {"ff00::/8", "a multicast address"},
    {"192.88.99.0/24", "a tunnel address"},
    {"::ffff:0:0/96", "an IPv6 address that contains an IPv4 address"},
    {"::/96", "an IPv6 address that contains an IPv4 address"},
    {"64:ff9b::/96", "an IPv6 address that contains an IPv4 address"},
    {"64:ff9b:1::/48", "an IPv6 address that contains an IPv4 address"},
    {"2001::/32", "a tunnel address"},
    {"2002::/16", "a tunnel address"},
    {"192.0.0.0/24", "a reserved address"},
    {"192.0.2.0/24", "a reserved address"},
    {"198.18.0.0/15", "a reserved address"},
    {"198.51.100.0/24", "a reserved address"},
    {"203.0.113.0/24", "a reserved address"},
    {"240.0.0.0/4", "a reserved address"},
    {"2001::/23", "a reserved address"},
    {"2001:db8::/32", "a reserved address"},
    {"3fff::/20", "a reserved address"},
};

// Contains all globally reachable unicast addresses that are assigned so far.
constexpr const char* kGlobalIpv6 = "2000::/3";

IpBlock block(const char* text) {
    const Result<IpBlock> read = IpBlock::from(text);
    assert(read);
    return *read;
}

IpAddress without_wrapping(const IpAddress& address) {
    namespace ip = boost::asio::ip;
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

// A connection to the unspecified address reaches this machine.
bool leads_to_loopback(const IpAddress& address) {
    static const std::vector<IpBlock> all = {block("127.0.0.0/8"), block("0.0.0.0/8"), block("::1"), block("::")};
    return std::any_of(all.begin(), all.end(), [&](const IpBlock& each) { return each.contains(address); });
}

// The interface identifier of an address that contains the IPv4 address of a tunnel (RFC 5214).
bool is_isatap(const IpAddress& address) {
    if (!address.is_v6()) return false;
    const auto bytes = address.to_v6().to_bytes();
    return (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

std::string_view by_the_registries(const IpAddress& address) {
    struct Read {
        IpBlock block;
        std::string_view what;
    };
    static const std::vector<Read> rules = [] {
        std::vector<Read> all;
        for (const Rule& rule : kRules) all.push_back({block(rule.block), rule.what});
        return all;
    }();
    static const IpBlock global = block(kGlobalIpv6);
    for (const Read& rule : rules) {
        if (rule.block.contains(address)) return rule.what;
    }
    if (is_isatap(address)) return "a tunnel address";
    if (address.is_v6() && !global.contains(address)) return "a reserved address";
    return {};
}

}  // namespace

std::string_view AddressPolicy::refusal(const IpAddress& address, std::uint16_t port) const {
    const IpAddress reached = without_wrapping(address);
    const bool is_own = std::any_of(own_.begin(), own_.end(), [&](const Listener& listener) {
        if (listener.port != port) return false;
        return listener.address == reached || (leads_to_loopback(listener.address) && leads_to_loopback(reached));
    });
    if (is_own) return kOwn;
    const bool is_allowed =
        std::any_of(allowed_.begin(), allowed_.end(), [&](const IpBlock& each) { return each.contains(address); });
    return is_allowed ? std::string_view() : by_the_registries(address);
}

}  // namespace duewheel
