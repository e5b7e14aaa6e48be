// How late messages were handed out: how long after they fell due, of late and in all. Waiting for a consumer counts.
//
// "Of late" is the last ten to twenty seconds by server time: two histograms take turns, so that recording stays one
// step and nothing is kept that grows.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "message/message.h"

namespace duewheel {

struct LatenessLevels {
    std::uint64_t count = 0;
    std::uint64_t p50_ms = 0;
    std::uint64_t p99_ms = 0;
    std::uint64_t most_ms = 0;
};

class Lateness {
  public:
    // `now` never goes back.
    void record(DueMs now, std::int64_t late_ms) {
        turn_to(now);
        const auto late = static_cast<std::uint64_t>(late_ms < 0 ? 0 : late_ms);
        current_.record(late);
        all_.record(late);
    }
    const Histogram& all() const { return all_; }
    // O(buckets).
    LatenessLevels of_late(DueMs now) const {
        const DueMs turns = (now - turned_ms_) / kTurnMs;
        Histogram both;
        if (turns < 2) both = current_;
        if (turns < 1) both.merge(before_);
        return {both.count(), both.percentile(50'000), both.percentile(99'000), both.most()};
    }

  private:
    static constexpr DueMs kTurnMs = 10'000;

    void turn_to(DueMs now) {
        const DueMs turns = (now - turned_ms_) / kTurnMs;
        if (turns < 1) return;
        before_ = turns == 1 ? current_ : Histogram();
        current_.clear();
        turned_ms_ += turns * kTurnMs;
    }

    Histogram all_;
    Histogram current_;
    Histogram before_;
    DueMs turned_ms_ = 0;
};

}  // namespace duewheel
