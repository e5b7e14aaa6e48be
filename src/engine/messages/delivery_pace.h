// When the next delivery may start under a rate. It is the generic cell rate algorithm of ITU-T I.371: one instant
// instead of a bucket, so that a group needs 8 bytes, and a changed rate needs only a bound.
//
// `next_us_` is when the deliveries so far would be paid for, at one interval each. One more may start when that is at
// most `burst - 1` intervals ahead. Over any time T at most T / interval + burst deliveries start. Nothing is known of
// the deliveries of an earlier run, so this one begins without any saved up.
//
// Worked example: 10 a second with a burst of 3: an interval is 100 ms. After a pause three start at once, and the
// instant is 300 ms ahead. The fourth starts when it is 200 ms ahead: 100 ms later.
#pragma once

#include <algorithm>
#include <cstdint>

#include "message/message.h"
#include "resource/rate_rule.h"

namespace duewheel {

class DeliveryPace {
  public:
    // From when on one more may start. `began_ms`: no earlier run has delivered anything after it.
    DueMs next_ms(const RateRule& rule, DueMs began_ms) const {
        const std::int64_t ahead_us = (rule.burst_size() - 1) * rule.interval_us();
        return (paid_until_us(rule, began_ms) - ahead_us + kUsPerMs - 1) / kUsPerMs;
    }
    // One has started.
    void count(const RateRule& rule, DueMs now, DueMs began_ms) {
        next_us_ = std::max(paid_until_us(rule, began_ms), now * kUsPerMs) + rule.interval_us();
    }
    // One that was counted just now did not start after all.
    void uncount(const RateRule& rule) { next_us_ -= rule.interval_us(); }
    // This rule is in force from now on: what is owed under another one is not more than its whole burst.
    void bound(const RateRule& rule, DueMs now) {
        next_us_ = std::min(next_us_, now * kUsPerMs + rule.burst_size() * rule.interval_us());
    }
    // Whether it says nothing any more: as many may start as after the longest pause.
    bool is_full(DueMs now) const { return next_us_ <= now * kUsPerMs; }
    DueMs full_ms() const { return next_us_ / kUsPerMs + 1; }

  private:
    static constexpr std::int64_t kUsPerMs = 1'000;

    std::int64_t paid_until_us(const RateRule& rule, DueMs began_ms) const {
        return next_us_ != 0 ? next_us_ : began_ms * kUsPerMs + rule.burst_size() * rule.interval_us();
    }

    std::int64_t next_us_ = 0;  // 0: none has started in this run
};

}  // namespace duewheel
