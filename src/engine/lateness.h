// The lateness of deliveries: of all since the process started, and of those in the last 10 to 20 seconds of server
// time. Waiting for a consumer counts, and so does the time while no server ran.
//
// The lateness of a message counts from its due time, but never from before the server accepted it: a message put with
// a due time in 1970 is late by the time since its put. So no client can distort the sum or a percentile by one
// message. An occurrence counts from its due time too, unless it was created more than a minute later, to make up for
// missed time: then it counts from its creation.
//
// The recent figures come from two alternating histograms, so that recording is one step and memory is constant.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/histogram.h"
#include "message/message.h"
#include "message/record.h"

namespace duewheel {

// When a message that was due at `due_ms` began to be late.
inline DueMs late_from(DueMs due_ms, const MessageContent& content) {
    constexpr DueMs kMadeUpAfterMs = 60'000;
    const bool is_occurrence = content.parent != 0 || !content.schedule.empty() || !content.watchdog.empty();
    if (is_occurrence && content.put_ms - due_ms <= kMadeUpAfterMs) return due_ms;
    return std::max(due_ms, content.put_ms);
}

struct LatenessLevels {
    std::uint64_t count = 0;
    std::uint64_t p50_ms = 0;
    std::uint64_t p99_ms = 0;
    std::uint64_t max_ms = 0;
};

class Lateness {
  public:
    // `now` never goes back.
    void record(DueMs now, std::int64_t late_us) {
        turn_to(now);
        const auto late = static_cast<std::uint64_t>(std::max<std::int64_t>(late_us, 0));
        current_us_.record(late);
        all_us_.record(late);
    }
    const Histogram& all_us() const { return all_us_; }
    // O(buckets).
    LatenessLevels of_late(DueMs now) const {
        const DueMs turns = (now - turned_ms_) / kTurnMs;
        Histogram both;
        if (turns < 2) both = current_us_;
        if (turns < 1) both.merge(before_us_);
        return {both.count(), both.percentile(50'000) / 1000, both.percentile(99'000) / 1000, both.max() / 1000};
    }

  private:
    static constexpr DueMs kTurnMs = 10'000;

    void turn_to(DueMs now) {
        const DueMs turns = (now - turned_ms_) / kTurnMs;
        if (turns < 1) return;
        before_us_ = turns == 1 ? current_us_ : Histogram();
        current_us_.clear();
        turned_ms_ += turns * kTurnMs;
    }

    Histogram all_us_;
    Histogram current_us_;
    Histogram before_us_;
    DueMs turned_ms_ = 0;
};

}  // namespace duewheel
