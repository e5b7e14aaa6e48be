// Limits the posts to a target per second: a token bucket that fills evenly and holds a tenth of a second's tokens, at
// least one. In thousandths of a token, so that any integer rate is exact up to rounding by milliseconds. Takes the
// time as an argument; O(1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace duewheel {

class TargetPace {
  public:
    // 0: no limit. The bucket keeps its content, as far as it still fits.
    void set(std::uint32_t per_second) {
        per_second_ = per_second;
        held_ = std::min(held_, most());
    }
    // The number of posts that may start now.
    std::uint32_t available(std::int64_t now_ms) {
        if (per_second_ == 0) return std::numeric_limits<std::uint32_t>::max();
        fill(now_ms);
        return static_cast<std::uint32_t>(std::max<std::int64_t>(held_, 0) / kToken);
    }
    // When one more may start. After available() with the same time.
    std::int64_t next_ms(std::int64_t now_ms) const {
        if (per_second_ == 0 || held_ >= kToken) return now_ms;
        return now_ms + (kToken - held_ + per_second_ - 1) / per_second_;
    }
    // Counts one post. Tokens that came since the last look, and find the bucket full, are lost first: otherwise they
    // would fill it again right after a post that waited for its message.
    void count(std::int64_t now_ms) {
        if (per_second_ == 0) return;
        fill(now_ms);
        held_ -= kToken;
    }

  private:
    static constexpr std::int64_t kToken = 1000;

    std::int64_t most() const { return std::max<std::int64_t>(per_second_ / 10, 1) * kToken; }
    void fill(std::int64_t now_ms) {
        const std::int64_t passed_ms = std::clamp<std::int64_t>(now_ms - filled_ms_, 0, 10 * kToken);
        filled_ms_ = std::max(filled_ms_, now_ms);
        held_ = std::min(held_ + passed_ms * per_second_, most());
    }

    std::int64_t per_second_ = 0;
    std::int64_t held_ = 0;  // below 0: more was taken than there was, when it was leased earlier
    std::int64_t filled_ms_ = 0;
};

}  // namespace duewheel
