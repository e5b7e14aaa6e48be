// Leaves a target alone that does not work, so that its messages wait in their queue instead of using up attempts, and
// so that nobody else waits for what it holds.
//
//     closed ──5 failures in a row──► open ──1 s──► half open: one post ──works──► closed
//                                      ▲                          │
//                                      └── 2 s, 4 s, ... 60 s ◄───┘ fails
//
// What was under way when it opened says nothing new when it fails, and closes it when it works: each post carries the
// number of openings before it, which only rises. Told the time; O(1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace duewheel {

class TargetBreaker {
  public:
    static constexpr std::uint32_t kFailuresToOpen = 5;
    static constexpr std::int64_t kFirstRestMs = 1'000;
    static constexpr std::int64_t kLongestRestMs = 60'000;

    bool is_open() const { return rest_ms_ != 0; }
    // When the next post may be tried; one alone while it is open.
    std::int64_t open_until_ms() const { return is_open() ? until_ms_ : 0; }
    std::uint64_t openings() const { return openings_; }

    // Of what comes now nothing is known; what is under way says nothing of it.
    void forget() {
        worked();
        ++openings_;
    }
    // True: it was open until now.
    bool worked() {
        failures_ = 0;
        until_ms_ = 0;
        return std::exchange(rest_ms_, 0) != 0;
    }
    // `openings`: as the post found it. True: it opened, for the first time since it last worked.
    bool failed(std::uint64_t openings, std::int64_t now_ms) {
        if (openings != openings_) return false;
        const bool was_open = is_open();
        if (!was_open && ++failures_ < kFailuresToOpen) return false;
        rest_ms_ = was_open ? std::min(2 * rest_ms_, kLongestRestMs) : kFirstRestMs;
        until_ms_ = now_ms + rest_ms_;
        ++openings_;
        return !was_open;
    }

  private:
    std::uint32_t failures_ = 0;  // in a row, while it is closed
    std::int64_t rest_ms_ = 0;    // 0: closed
    std::int64_t until_ms_ = 0;
    std::uint64_t openings_ = 0;
};

}  // namespace duewheel
