#include "access/refusal_limit.h"

#include <algorithm>
#include <utility>

namespace duewheel {
namespace {

// The generic cell rate algorithm: `next_ns` is when a bucket that holds `burst` lines is full again.
bool has_line(std::int64_t next_ns, std::int64_t interval_ns, int burst, std::int64_t now_ns) {
    return next_ns - now_ns <= (burst - 1) * interval_ns;
}

void count_line(std::int64_t& next_ns, std::int64_t interval_ns, std::int64_t now_ns) {
    next_ns = std::max(next_ns, now_ns) + interval_ns;
}

// No part contains a line feed.
std::string key_of(const RefusalLimit::Refusal& refusal) {
    return refusal.address + '\n' + refusal.actor + '\n' + refusal.verb;
}

const std::string& actor_of(const RefusalLimit::Refusal& refusal) {
    return refusal.is_known ? refusal.actor : refusal.address;
}

}  // namespace

RefusalLimit::Of& RefusalLimit::of(Pool& pool, const Refusal& refusal) {
    std::string key = key_of(refusal);
    if (const auto found = pool.counts.find(key); found != pool.counts.end()) return found->second;
    Refusal like = refusal;
    if (pool.counts.size() >= kCountsMax) {
        like.address = like.actor = like.verb = "";
        key = key_of(like);
    }
    return pool.counts.try_emplace(std::move(key), Of{std::move(like)}).first->second;
}

bool RefusalLimit::take_line(Pool& pool, Of& of, std::int64_t now_ns) {
    const std::int64_t interval_of_pool_ns = of.like.is_known ? kIntervalOfKnownNs : kIntervalNs;
    const auto actor = pool.actors_ns.find(actor_of(of.like));
    const std::int64_t actor_ns = actor == pool.actors_ns.end() ? 0 : actor->second;
    if (!has_line(of.next_ns, kIntervalNs, kBurst, now_ns)) return false;
    if (!has_line(actor_ns, kIntervalNs, kBurstOfActor, now_ns)) return false;
    if (!has_line(pool.next_ns, interval_of_pool_ns, kBurstOfPool, now_ns)) return false;
    count_line(of.next_ns, kIntervalNs, now_ns);
    if (pool.actors_ns.size() >= kCountsMax) {
        std::erase_if(pool.actors_ns, [&](const auto& each) { return each.second <= now_ns; });
    }
    count_line(pool.actors_ns[actor_of(of.like)], kIntervalNs, now_ns);
    count_line(pool.next_ns, interval_of_pool_ns, now_ns);
    return true;
}

std::optional<std::uint64_t> RefusalLimit::admit(const Refusal& refusal, std::int64_t now_ns) {
    Pool& pool = pool_of(refusal);
    Of& at = of(pool, refusal);
    if (!take_line(pool, at, now_ns)) {
        suppress(refusal);
        return std::nullopt;
    }
    suppressed_ -= at.suppressed;
    return std::exchange(at.suppressed, 0);
}

void RefusalLimit::suppress(const Refusal& refusal) {
    ++of(pool_of(refusal), refusal).suppressed;
    ++suppressed_;
    ++suppressed_total_;
}

std::vector<RefusalLimit::Suppressed> RefusalLimit::take_due(std::int64_t now_ns) {
    std::vector<Suppressed> due;
    for (Pool& pool : pools_) {
        for (auto each = pool.counts.begin(); each != pool.counts.end();) {
            Of& at = each->second;
            if (at.suppressed > 0 && take_line(pool, at, now_ns)) {
                suppressed_ -= at.suppressed;
                due.push_back({at.like, std::exchange(at.suppressed, 0)});
            }
            const bool is_quiet = at.suppressed == 0 && at.next_ns <= now_ns;
            each = is_quiet ? pool.counts.erase(each) : std::next(each);
        }
    }
    return due;
}

std::vector<RefusalLimit::Suppressed> RefusalLimit::take_all() {
    std::vector<Suppressed> all;
    for (Pool& pool : pools_) {
        for (auto& [key, at] : pool.counts) {
            if (at.suppressed > 0) all.push_back({at.like, std::exchange(at.suppressed, 0)});
        }
    }
    suppressed_ = 0;
    return all;
}

}  // namespace duewheel
