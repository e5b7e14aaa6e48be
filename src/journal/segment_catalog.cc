#include "journal/segment_catalog.h"

#include <algorithm>
#include <cassert>

#include "base/error_codes.h"

namespace duewheel {

Result<std::shared_ptr<const SegmentFile>> SegmentCatalog::find(Sequence log_position) const {
    const std::lock_guard lock(mutex_);
    if (failed_) return *failed_;
    const auto after = std::upper_bound(segments_.begin(), segments_.end(), log_position,
                                        [](Sequence wanted, const std::shared_ptr<const SegmentFile>& segment) {
                                            return wanted < segment->first_sequence();
                                        });
    if (after == segments_.begin() || log_position > (*std::prev(after))->end().totals.sequence) {
        return Error{"not_found"_code, "record " + std::to_string(log_position) + " is not in the log"};
    }
    return *std::prev(after);
}

Result<std::vector<OwnedRecord>> SegmentCatalog::read_records(std::span<const Sequence> log_positions) const {
    std::vector<OwnedRecord> records;
    records.reserve(log_positions.size());
    while (!log_positions.empty()) {
        const Result<std::shared_ptr<const SegmentFile>> segment = find(log_positions.front());
        if (!segment) return segment.error();
        const Sequence last = (*segment)->end().totals.sequence;
        const auto beyond = std::upper_bound(log_positions.begin(), log_positions.end(), last);
        const auto here = static_cast<std::size_t>(beyond - log_positions.begin());
        assert(here > 0);
        if (Status read = (*segment)->read_records(log_positions.first(here), records); !read)
            return std::move(read).error();
        log_positions = log_positions.subspan(here);
    }
    return records;
}

std::vector<SegmentSummary> SegmentCatalog::list() const {
    std::vector<SegmentSummary> summaries;
    for (const auto& segment : snapshot()) {
        const SegmentEnd end = segment->end();
        summaries.push_back({segment->header().number, segment->first_sequence(), end.totals.sequence,
                             segment->header().segment_bytes, end.closed});
    }
    return summaries;
}

std::vector<std::shared_ptr<const SegmentFile>> SegmentCatalog::snapshot() const {
    const std::lock_guard lock(mutex_);
    return segments_;
}

std::uint64_t SegmentCatalog::bytes() const {
    std::uint64_t sum = 0;
    const std::lock_guard lock(mutex_);
    for (const auto& segment : segments_) sum += segment->header().segment_bytes;
    return sum;
}

void SegmentCatalog::add(std::shared_ptr<const SegmentFile> segment) {
    const std::lock_guard lock(mutex_);
    assert(segments_.empty() || segments_.back()->first_sequence() < segment->first_sequence());
    segments_.push_back(std::move(segment));
}

void SegmentCatalog::remove_first() {
    const std::lock_guard lock(mutex_);
    segments_.erase(segments_.begin());
}

void SegmentCatalog::fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = error;
}

}  // namespace duewheel
