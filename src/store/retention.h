// How long the index answers for what has ended, by a time it is told.
//
// Outcomes and idempotency keys expire; the index keeps their rows until a compaction comes by, so that readers and
// compaction ask the same question here. Any thread may ask; one sets the time, which never goes back.
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

    // A time before the one that was set is passed over: what has expired stays so.
    void set_now(DueMs now_ms) {
        if (now_ms > this->now_ms()) now_ms_.store(now_ms, std::memory_order_relaxed);
    }
    DueMs now_ms() const { return now_ms_.load(std::memory_order_relaxed); }

    // Whether what ended at `ended_ms` is gone; never for 0, which stands for "has not ended".
    bool has_expired(DueMs ended_ms, DueMs now_ms) const { return ended_ms != 0 && now_ms - keep_ms_ > ended_ms; }

    const HistoryBounds& history() const { return history_; }
    // How long outcomes count as kept, however many.
    HistoryBounds outcomes() const { return {keep_ms_, std::numeric_limits<std::uint64_t>::max()}; }

  private:
    const std::int64_t keep_ms_;
    const HistoryBounds history_;
    std::atomic<DueMs> now_ms_ = 0;
};

}  // namespace duewheel
