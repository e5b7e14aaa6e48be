// How long the index keeps ended messages, by a time that is set from outside.
//
// Outcomes and idempotency keys expire. The index keeps their rows until a compaction, so that readers and compaction
// both ask here. Any thread may ask; one thread sets the time, which never goes back.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <limits>

#include "message/message.h"
#include "store/history.h"

namespace duewheel {

class Retention {
  public:
    static constexpr std::int64_t kDefaultKeepMs = 24 * 60 * 60 * 1000;

    explicit Retention(std::int64_t keep_ms = kDefaultKeepMs, const HistoryBounds& history = {})
        : keep_ms_(keep_ms), history_(history) {
        assert(keep_ms >= 0);
    }

    // An earlier time than the current one is ignored: what has expired stays expired.
    void set_now(DueMs now_ms) {
        if (now_ms > this->now_ms()) now_ms_.store(now_ms, std::memory_order_relaxed);
    }
    DueMs now_ms() const { return now_ms_.load(std::memory_order_relaxed); }

    // Whether an end at `ended_ms` has expired; never for 0, which means "has not ended".
    bool has_expired(DueMs ended_ms, DueMs now_ms) const { return ended_ms != 0 && now_ms - keep_ms_ > ended_ms; }

    const HistoryBounds& history() const { return history_; }
    // How long outcomes count as kept, whatever their number.
    HistoryBounds outcomes() const { return {keep_ms_, std::numeric_limits<std::uint64_t>::max()}; }

  private:
    const std::int64_t keep_ms_;
    const HistoryBounds history_;
    std::atomic<DueMs> now_ms_ = 0;
};

}  // namespace duewheel
