#include "webhooks/own_listeners.h"

#include <ifaddrs.h>

namespace duewheel {

std::vector<AddressPolicy::Listener> own_listeners(std::string_view host, std::uint16_t port) {
    const IpAddress loopback = *parse_ip_address("127.0.0.1");
    std::vector<AddressPolicy::Listener> listeners = {{loopback, port}};
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::optional<IpAddress> alone = parse_ip_address(host);
    if (alone && (*alone == parse_ip_address("::1") || IpBlock::from("127.0.0.0/8")->contains(*alone)))
        return listeners;
    if (alone) listeners.push_back({*alone, port});
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return listeners;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr) continue;
        if (const std::optional<IpAddress> address = ip_address_of(*each->ifa_addr)) {
            listeners.push_back({*address, port});
        }
    }
    ::freeifaddrs(all);
    return listeners;
}

}  // namespace duewheel
