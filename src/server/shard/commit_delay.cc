#include "server/shard/commit_delay.h"

#include <algorithm>

namespace duewheel {
namespace {

constexpr unsigned kMostSkips = 64;

// Two groups in turns get half of the expected commands in a sync. The longest wait makes it half as long again, so it
// is worth it from three quarters of them.
bool is_worth_it(std::size_t came, std::size_t expected) {
    return came * 4 >= expected * 3;
}

}  // namespace

void CommitDelay::committed(std::int64_t now_ns, std::int64_t took_ns, std::size_t commands, std::size_t waiting) {
    until_ns_ = 0;
    const bool is_alone = commands + waiting <= 1;
    if (took_ns < kShortestSyncNs || is_alone || commands == 0 || commands + waiting > kMostCommands) return;
    if (skips_left_ != 0) {
        --skips_left_;
        return;
    }
    expected_ = commands + waiting;
    until_ns_ = now_ns + std::min(took_ns / kPartOfSync, kLongestNs);
}

bool CommitDelay::holds(std::int64_t now_ns, std::size_t waiting) {
    if (until_ns_ == 0) return false;
    if (waiting < expected_ && now_ns < until_ns_) return true;
    end(is_worth_it(waiting, expected_));
    return false;
}

void CommitDelay::end(bool was_worth_it) {
    until_ns_ = 0;
    skipped_ = was_worth_it ? 0 : std::clamp(skipped_ * 2, 1U, kMostSkips);
    skips_left_ = skipped_;
}

}  // namespace duewheel
