#include "store/history.h"

#include <algorithm>
#include <cassert>

namespace duewheel {
namespace {

constexpr std::uint64_t kErasAtBound = 64;

}  // namespace

EndedRow ended_row(const Record& end) {
    assert(end.kind == RecordKind::end);
    EndedRow row;
    row.id = end.id;
    row.outcome = end.state.state;
    row.cause = end.cause;
    row.maybe_delivered = end.state.maybe_delivered;
    row.attempts = end.state.attempts;
    row.ended_ms = end.time_ms;
    row.lateness_ms = end.lateness_ms;
    return row;
}

Era EraLedger::add(std::uint64_t bytes, DueMs first_ms, DueMs last_ms, const HistoryBounds& bounds) {
    const bool is_full = entries_.empty() || entries_.back().bytes >= bounds.bytes_max / kErasAtBound ||
                         first_ms - entries_.back().from_ms >= bounds.keep_ms / static_cast<DueMs>(kErasAtBound);
    const bool may_begin = entries_.empty() || first_ms > entries_.back().until_ms;
    if (is_full && may_begin) entries_.push_back({next_++, 0, first_ms, last_ms});
    Entry& newest = entries_.back();
    newest.bytes += bytes;
    newest.from_ms = std::min(newest.from_ms, first_ms);
    newest.until_ms = std::max(newest.until_ms, last_ms);
    return newest.era;
}

void EraLedger::shrink(DueMs now_ms, const HistoryBounds& bounds) {
    std::uint64_t left = bytes();
    while (!entries_.empty()) {
        const Entry& oldest = entries_.front();
        const bool too_much = left > bounds.bytes_max && entries_.size() > 1;
        const bool too_old = oldest.until_ms < now_ms - bounds.keep_ms;
        if (!too_much && !too_old) return;
        left -= oldest.bytes;
        entries_.erase(entries_.begin());
    }
}

std::uint64_t EraLedger::bytes() const {
    std::uint64_t sum = 0;
    for (const Entry& entry : entries_) sum += entry.bytes;
    return sum;
}

}  // namespace duewheel
