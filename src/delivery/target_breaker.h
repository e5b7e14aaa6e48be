// A circuit breaker for a webhook target: while the target fails, its messages wait in their queue instead of using up
// attempts, and do not hold resources that other targets need.
//
//     closed ──5 failures in a row──► open ──1 s──► half open: one post ──works──► closed
//                                      ▲                          │
//                                      └── 2 s, 4 s, ... 60 s ◄───┘ fails
//
// A request in flight when it opened has no effect if it fails, and closes it if it succeeds: each request carries the
// number of openings before it, which only rises. Takes the time as an argument; O(1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace duewheel {

class TargetBreaker {
  public:
    static constexpr std::uint32_t kFailuresToOpen = 5;
    static constexpr std::int64_t kFirstBackoffMs = 1'000;
    static constexpr std::int64_t kBackoffMaxMs = 60'000;

    bool is_open() const { return backoff_ms_ != 0; }
    // When the next request may be sent; a single one while it is open.
    std::int64_t open_until_ms() const { return is_open() ? until_ms_ : 0; }
    std::uint64_t openings() const { return openings_; }

    // The result of later requests is unknown, and that of requests in flight no longer counts.
    void forget() {
        worked();
        ++openings_;
    }
    // True if it was open.
    bool worked() {
        failures_ = 0;
        until_ms_ = 0;
        return std::exchange(backoff_ms_, 0) != 0;
    }
    // `openings`: when the request was sent. True if it opened, for the first time since the last success.
    bool failed(std::uint64_t openings, std::int64_t now_ms) {
        if (openings != openings_) return false;
        const bool was_open = is_open();
        if (!was_open && ++failures_ < kFailuresToOpen) return false;
        backoff_ms_ = was_open ? std::min(2 * backoff_ms_, kBackoffMaxMs) : kFirstBackoffMs;
        until_ms_ = now_ms + backoff_ms_;
        ++openings_;
        return !was_open;
    }

  private:
    std::uint32_t failures_ = 0;   // in a row, while it is closed
    std::int64_t backoff_ms_ = 0;  // 0: closed
    std::int64_t until_ms_ = 0;
    std::uint64_t openings_ = 0;
};

}  // namespace duewheel
