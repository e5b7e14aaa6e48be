#include "access/audit_share.h"

#include <algorithm>

namespace duewheel {

bool AuditShare::count(const std::string& party, std::size_t bytes, std::int64_t now_ns) {
    if (parties_.size() >= kPartiesMax && !parties_.contains(party)) {
        std::erase_if(parties_, [&](const auto& each) {
            return std::max(each.second.free_ns, each.second.quiet_until_ns) <= now_ns;
        });
    }
    Party& of = parties_[party];
    const double parts = static_cast<double>(bytes) / static_cast<double>(part_bytes_);
    of.free_ns = std::max(of.free_ns, now_ns) + static_cast<std::int64_t>(parts * static_cast<double>(kPartNs));
    of.free_ns = std::min(of.free_ns, now_ns + 2 * kPartNs);  // it is not remembered for days
    if (of.free_ns - now_ns <= kPartNs || now_ns < of.quiet_until_ns) return false;
    of.quiet_until_ns = now_ns + kPartNs;
    return true;
}

}  // namespace duewheel
