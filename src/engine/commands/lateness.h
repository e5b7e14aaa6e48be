// How long after its due time a message is delivered, in two parts that add up to it:
//
//     due                              could be delivered                       delivered
//      │◄─────────────── wait ──────────────►│◄────────────── lateness ──────────────►│
//
// Lateness is what the server causes. It counts from the instant at which the message was due and could be delivered:
// a consumer was waiting or a target was ready, the queue was not paused, and neither a lease nor an earlier message of
// its order key was in the way. Time in which no server ran counts too, if the message became due in it. Everything
// else is wait: for a consumer, a target that fails or is at its rate, a pause, attempts before and their backoff.
//
// Nothing counts from before the server accepted the message: one that was put with a due time in 1970 waits since its
// put. So no client can distort a sum or a percentile by one message. An occurrence counts from its due time, unless it
// was created more than a minute later, to make up for missed time: then it counts from its creation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/histogram.h"
#include "message/message.h"
#include "message/records/record.h"

namespace duewheel {

// From when a message counts that was due at `due_ms` and accepted at `accepted_ms`.
inline DueMs counts_from(DueMs due_ms, DueMs accepted_ms, const MessageContent& content) {
    constexpr DueMs kMadeUpAfterMs = 60'000;
    const bool is_occurrence = content.parent != 0 || !content.schedule.empty() || !content.watchdog.empty();
    if (is_occurrence && accepted_ms - due_ms <= kMadeUpAfterMs) return due_ms;
    return std::max(due_ms, accepted_ms);
}

struct DurationLevels {
    std::uint64_t count = 0;
    std::uint64_t p50_ms = 0;
    std::uint64_t p99_ms = 0;
    std::uint64_t max_ms = 0;
};

// Durations since the process started, and those of the last 10 to 20 seconds of server time: from two alternating
// histograms, so that recording is one step and memory is constant.
class Durations {
  public:
    // `now` never goes back.
    void record(DueMs now, std::int64_t duration_us) {
        turn_to(now);
        const auto duration = static_cast<std::uint64_t>(std::max<std::int64_t>(duration_us, 0));
        current_us_.record(duration);
        all_us_.record(duration);
    }
    const Histogram& all_us() const { return all_us_; }
    // O(buckets).
    DurationLevels recent(DueMs now) const {
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

// The two parts of recent deliveries.
struct DeliveryLevels {
    DurationLevels lateness;
    DurationLevels wait;
};

}  // namespace duewheel
