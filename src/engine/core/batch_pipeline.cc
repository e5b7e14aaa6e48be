#include "engine/core/batch_pipeline.h"

#include <cassert>
#include <utility>

namespace duewheel {

void BatchPipeline::begin() {
    batch_ = idle_ ? std::move(idle_) : std::make_unique<Batch>();
    batch_->begin(totals_);
}

Commit BatchPipeline::submit(DueMs now, bool closes_segment) {
    Totals& totals = batch_->totals();
    totals.commit += 1;
    totals.server_time_ms = now;
    batch_->closes_segment = closes_segment;
    in_flight_ = true;
    confirm_at_ms_ = kNever;
    Commit commit;
    commit.first_sequence = batch_->first_sequence();
    commit.count = static_cast<std::uint32_t>(batch_->count());
    commit.records = std::move(batch_->record_bytes());
    commit.totals = totals;
    commit.closes_segment = closes_segment;
    return commit;
}

void BatchPipeline::committed(Commit commit) {
    assert(in_flight_ && !durable_ && commit.totals == batch_->totals());
    batch_->record_bytes() = std::move(commit.records);
    durable_ = true;
    taken_ = 0;
}

std::span<Operation> BatchPipeline::take(std::size_t max) {
    std::vector<Operation>& operations = batch_->operations();
    const std::size_t from = taken_;
    // The puts of a request are answered with the last of them.
    const auto must_go_on = [&] {
        if (taken_ == from) return true;
        const Operation& last = operations[taken_ - 1];
        const RecordKind kind = kind_of(last.record);
        const bool is_of_put = kind == RecordKind::put || kind == RecordKind::replace;
        return taken_ - from < max || (is_of_put && last.token == 0);
    };
    while (taken_ < operations.size() && must_go_on()) ++taken_;
    return std::span(operations).subspan(from, taken_ - from);
}

void BatchPipeline::finish() {
    assert(durable_ && is_taken());
    in_flight_ = false;
    durable_ = false;
    totals_ = batch_->totals();
    idle_ = std::move(batch_);
}

}  // namespace duewheel
