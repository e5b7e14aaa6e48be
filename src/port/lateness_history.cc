#include "port/lateness_history.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace duewheel {
namespace {

std::string place_key(const QueueName& name) {
    return name.name_space + '\n' + name.queue;
}

std::size_t text_bytes(const QueueName& name) {
    return name.name_space.capacity() + name.queue.capacity();
}

}  // namespace

void LatenessHistory::Counts::record(std::int64_t value) {
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    const auto late = static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, kMax));
    const int dropped = std::max(0, static_cast<int>(std::bit_width(late)) - (kBits + 1));
    ++counts_[(static_cast<std::size_t>(dropped) << kBits) + (late >> dropped)];
    ++count_;
    max_ = std::max(max_, late);
}

std::uint32_t LatenessHistory::Counts::percentile(std::uint64_t permille) const {
    const std::uint64_t rank = std::max<std::uint64_t>(1, (count_ * permille + 999) / 1000);
    std::uint64_t passed = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
        passed += counts_[bucket];
        if (passed < rank) continue;
        if (bucket < std::size_t{2} << kBits) return std::min(static_cast<std::uint32_t>(bucket), max_);
        const std::size_t dropped = (bucket >> kBits) - 1;
        const std::uint64_t first = static_cast<std::uint64_t>(bucket - (dropped << kBits)) << dropped;
        const std::uint64_t last = first + ((std::uint64_t{1} << dropped) - 1);
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(last, max_));
    }
    return max_;
}

LatenessHistory::LatenessHistory() {
    queues_.reserve(kQueuesMax);
    candidates_.reserve(kQueuesMax);
}

LatenessHistory::Deliveries LatenessHistory::deliver(DueMs now, const QueueName& name, std::size_t number) {
    turn_to(now);
    Deliveries deliveries;
    deliveries.server_ = &server_.now;
    const auto [place, is_new] = places_.try_emplace(place_key(name), queues_.size());
    if (is_new && queues_.size() == kQueuesMax) {
        places_.erase(place);
        count_candidate(name, number);
        return deliveries;
    }
    if (is_new) queues_.emplace_back().name = name;
    deliveries.queue_ = &queues_[place->second].now;
    return deliveries;
}

LatenessHistory::Kept LatenessHistory::figures(const Current& row) {
    const auto& [lateness, wait] = row;
    return {lateness.count(), lateness.percentile(500), lateness.percentile(990),
            lateness.max(),   wait.percentile(500),     wait.percentile(990),
            wait.max()};
}

void LatenessHistory::turn_to(DueMs now) {
    const std::int64_t row = now / kRowMs;
    if (row == current_) return;
    end_row();
    const std::int64_t skipped = std::min<std::int64_t>(row - current_ - 1, kRows);
    for (std::int64_t each = 1; each <= skipped; ++each) {
        const auto at = static_cast<std::size_t>((current_ + each) % static_cast<std::int64_t>(kRows));
        server_.rows[at] = {};
        for (Series& queue : queues_) {
            queue.rows[at] = {};
            queue.recent -= queue.recent / 16;
        }
    }
    if (skipped == static_cast<std::int64_t>(kRows)) {
        for (Series& queue : queues_) queue.recent = 0;
    }
    promote_candidates();
    current_ = row;
}

void LatenessHistory::end_row() {
    const auto at = static_cast<std::size_t>(current_ % static_cast<std::int64_t>(kRows));
    const auto end = [at](Series& series) {
        const std::uint32_t count = series.now.lateness.count();
        series.recent = series.recent - series.recent / 16 + count;
        series.rows[at] = {};
        if (count == 0) return;
        series.rows[at] = figures(series.now);
        series.now.lateness.clear();
        series.now.wait.clear();
    };
    end(server_);
    for (Series& queue : queues_) end(queue);
}

void LatenessHistory::promote_candidates() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& left, const Candidate& right) {
        return left.count - left.too_high > right.count - right.too_high;
    });
    for (Candidate& candidate : candidates_) {
        const auto least =
            std::min_element(queues_.begin(), queues_.end(),
                             [](const Series& left, const Series& right) { return left.recent < right.recent; });
        const std::uint64_t count = candidate.count - candidate.too_high;
        if (count <= least->recent) break;
        places_.erase(place_key(least->name));
        places_.emplace(place_key(candidate.name), static_cast<std::size_t>(least - queues_.begin()));
        least->name = std::move(candidate.name);
        std::fill(least->rows.begin(), least->rows.end(), Kept());
        least->recent = count;
    }
    candidates_.clear();
}

void LatenessHistory::count_candidate(const QueueName& name, std::size_t number) {
    const auto known =
        std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& each) { return each.name == name; });
    if (known != candidates_.end()) {
        known->count += number;
    } else if (candidates_.size() < kQueuesMax) {
        candidates_.push_back({name, number, 0});
    } else {
        const auto least =
            std::min_element(candidates_.begin(), candidates_.end(),
                             [](const Candidate& left, const Candidate& right) { return left.count < right.count; });
        *least = {name, least->count + number, least->count};
    }
}

std::vector<LatenessHistory::Row> LatenessHistory::rows(DueMs now, DueMs window_ms) const {
    return rows(server_, now, window_ms);
}

std::vector<LatenessHistory::Row> LatenessHistory::rows_of(const QueueName& name, DueMs now, DueMs window_ms) const {
    const auto place = places_.find(place_key(name));
    return place == places_.end() ? std::vector<Row>() : rows(queues_[place->second], now, window_ms);
}

std::vector<LatenessHistory::Row> LatenessHistory::rows(const Series& series, DueMs now, DueMs window_ms) const {
    const std::int64_t end = now / kRowMs;  // the row of `now` has not ended
    // A test clock may begin at 0, and no row is before it.
    const std::int64_t oldest = std::max<std::int64_t>(current_ - static_cast<std::int64_t>(kRows) + 1, 0);
    std::vector<Row> rows;
    for (std::int64_t row = std::max(oldest, (now - window_ms) / kRowMs); row < std::min(end, current_ + 1); ++row) {
        Kept kept;
        if (row < current_) {
            kept = series.rows[static_cast<std::size_t>(row % static_cast<std::int64_t>(kRows))];
        } else if (series.now.lateness.count() > 0) {
            kept = figures(series.now);
        }
        if (kept.count == 0) continue;
        rows.push_back({row * kRowMs, kept.count, kept.p50_ms, kept.p99_ms, kept.max_ms, kept.wait_p50_ms,
                        kept.wait_p99_ms, kept.wait_max_ms});
    }
    return rows;
}

std::vector<LatenessHistory::QueueRows> LatenessHistory::queues(DueMs now, DueMs window_ms) const {
    std::vector<QueueRows> all;
    for (const Series& queue : queues_) {
        QueueRows sum{.name = queue.name};
        for (const Row& row : rows(queue, now, window_ms)) {
            sum.count += row.count;
            sum.p99_ms = std::max(sum.p99_ms, row.p99_ms);
            sum.max_ms = std::max(sum.max_ms, row.max_ms);
            sum.wait_p99_ms = std::max(sum.wait_p99_ms, row.wait_p99_ms);
            sum.wait_max_ms = std::max(sum.wait_max_ms, row.wait_max_ms);
        }
        if (sum.count > 0) all.push_back(std::move(sum));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const QueueRows& left, const QueueRows& right) { return left.count > right.count; });
    return all;
}

std::size_t LatenessHistory::memory_bytes() const {
    std::size_t bytes = sizeof(*this) + server_.rows.capacity() * sizeof(Kept);
    bytes += queues_.capacity() * sizeof(Series) + candidates_.capacity() * sizeof(Candidate);
    for (const Series& queue : queues_) bytes += queue.rows.capacity() * sizeof(Kept) + text_bytes(queue.name);
    for (const Candidate& candidate : candidates_) bytes += text_bytes(candidate.name);
    constexpr std::size_t kNodeBytes = sizeof(std::pair<const std::string, std::size_t>) + 2 * sizeof(void*);
    bytes += places_.bucket_count() * sizeof(void*);
    for (const auto& [key, place] : places_) bytes += kNodeBytes + key.capacity();
    return bytes;
}

}  // namespace duewheel
