#include "store/second_ledger.h"

namespace duewheel {

std::optional<SegmentNumber> SecondLedger::watched_since(QueueNumber queue) const {
    const auto found = watched_.find(queue);
    return found == watched_.end() ? std::nullopt : std::optional(found->second.since);
}

void SecondLedger::unwatch(QueueNumber queue) {
    const auto found = watched_.find(queue);
    if (found == watched_.end()) return;
    known_ -= found->second.counts.size();
    watched_.erase(found);
}

void SecondLedger::change(QueueNumber queue, Second second, std::int64_t by, SegmentNumber segment) {
    const auto found = watched_.find(queue);
    if (found == watched_.end()) return;
    found->second.changes[segment][second] += by;
    const auto known = found->second.counts.find(second);
    if (known != found->second.counts.end()) known->second += by;
}

void SecondLedger::table_taken(SegmentNumber through) {
    taken_through_ = through;
    for (auto& [queue, watched] : watched_) {
        watched.changes.erase(watched.changes.begin(), watched.changes.upper_bound(through));
    }
}

bool SecondLedger::learn(QueueNumber queue, Second second, std::int64_t in_index, SegmentNumber through) {
    const auto found = watched_.find(queue);
    if (found == watched_.end() || through < found->second.since || through < taken_through_) return false;
    Watched& watched = found->second;
    std::int64_t count = in_index;
    for (auto newer = watched.changes.upper_bound(through); newer != watched.changes.end(); ++newer) {
        const auto changed = newer->second.find(second);
        if (changed != newer->second.end()) count += changed->second;
    }
    known_ += watched.counts.insert_or_assign(second, count).second ? 1 : 0;
    return true;
}

std::optional<std::int64_t> SecondLedger::count(QueueNumber queue, Second second) const {
    const auto found = watched_.find(queue);
    if (found == watched_.end()) return std::nullopt;
    const auto known = found->second.counts.find(second);
    return known == found->second.counts.end() ? std::nullopt : std::optional(known->second);
}

void SecondLedger::forget_before(Second second) {
    for (auto& [queue, watched] : watched_) {
        while (!watched.counts.empty() && watched.counts.begin()->first < second) {
            watched.counts.erase(watched.counts.begin());
            --known_;
        }
    }
}

void SecondLedger::forget_counts() {
    for (auto& [queue, watched] : watched_) watched.counts.clear();
    known_ = 0;
}

}  // namespace duewheel
