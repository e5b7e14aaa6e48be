#include "access/refusal_limit.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

// The generic cell rate algorithm: `next_ns` is when a bucket that holds `burst` lines is full again.
bool has_line(std::int64_t next_ns, std::int64_t interval_ns, int burst, std::int64_t now_ns) {
    return next_ns - now_ns <= (burst - 1) * interval_ns;
}

}  // namespace

RefusalLimit::Of& RefusalLimit::of(std::string_view address) {
    if (const auto found = addresses_.find(std::string(address)); found != addresses_.end()) return found->second;
    return addresses_[addresses_.size() < kAddressesMax ? std::string(address) : std::string()];
}

bool RefusalLimit::take_line(Of& of, std::int64_t now_ns) {
    if (!has_line(of.next_ns, kIntervalNs, kBurst, now_ns)) return false;
    if (!has_line(next_of_all_ns_, kIntervalOfAllNs, kBurstOfAll, now_ns)) return false;
    of.next_ns = std::max(of.next_ns, now_ns) + kIntervalNs;
    next_of_all_ns_ = std::max(next_of_all_ns_, now_ns) + kIntervalOfAllNs;
    return true;
}

std::optional<std::uint64_t> RefusalLimit::admit(std::string_view address, std::int64_t now_ns) {
    Of& at = of(address);
    if (!take_line(at, now_ns)) {
        suppress(address);
        return std::nullopt;
    }
    suppressed_ -= at.suppressed;
    return std::exchange(at.suppressed, 0);
}

void RefusalLimit::suppress(std::string_view address) {
    ++of(address).suppressed;
    ++suppressed_;
    ++suppressed_total_;
}

std::vector<RefusalLimit::Suppressed> RefusalLimit::take_due(std::int64_t now_ns) {
    std::vector<Suppressed> due;
    for (auto each = addresses_.begin(); each != addresses_.end();) {
        Of& at = each->second;
        if (at.suppressed > 0 && take_line(at, now_ns)) {
            suppressed_ -= at.suppressed;
            due.push_back({each->first, std::exchange(at.suppressed, 0)});
        }
        const bool is_quiet = at.suppressed == 0 && at.next_ns <= now_ns;
        each = is_quiet ? addresses_.erase(each) : std::next(each);
    }
    return due;
}

std::vector<RefusalLimit::Suppressed> RefusalLimit::take_all() {
    std::vector<Suppressed> all;
    for (auto& [address, at] : addresses_) {
        if (at.suppressed > 0) all.push_back({address, std::exchange(at.suppressed, 0)});
    }
    suppressed_ = 0;
    return all;
}

}  // namespace duewheel
