// Strips: the content of a slot of a wheel. A slot is a chain of strips of 62 timers each, filled at the end and read
// from the front; a timer in it takes four bytes, its number.
//
// Why not a linked list of timers. With a list, the reader must load each timer before it knows the next, about 100 ns
// each if they do not fit into a cache, and removing one touches two neighbours. A strip has 62 numbers, so their
// timers are loaded together, and nothing is ever removed from its middle: the reader of a strip checks whether each
// timer still belongs there.
//
// Drawbacks: entries of timers that moved away stay until the strip is read, and a slot with one timer takes 256
// bytes. A building block of the wheels; start with duewheel/timing_wheel.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace duewheel {

// The number of a timer within its wheel. Number 0 is no timer; it fills the rest of a strip that was closed early.
using TimerIndex = std::uint32_t;
inline constexpr TimerIndex kNoTimer = 0;
inline constexpr std::size_t kTimerIndexMax = std::size_t{1} << 31;
static_assert(kTimerIndexMax <= std::numeric_limits<TimerIndex>::max(), "an index names the last timer");

inline constexpr std::size_t kStripBytes = 256;
inline constexpr std::size_t kStripTimers = (kStripBytes - sizeof(void*)) / sizeof(TimerIndex);

struct alignas(kStripBytes) Strip {
    Strip* next;
    TimerIndex timers[kStripTimers];
};
static_assert(sizeof(Strip) == kStripBytes);

// Strips by the block, allocated and freed in constant time. Memory is kept until the pool is destroyed.
class StripPool {
  public:
    // Throws std::bad_alloc.
    Strip* take() {
        Strip* strip = free_;
        if (strip != nullptr) {
            free_ = strip->next;
        } else {
            if (fresh_ == fresh_end_) add_block();
            strip = fresh_++;
        }
        ++taken_;
        return strip;
    }

    void give_back(Strip* strip) {
        strip->next = free_;
        free_ = strip;
        --taken_;
    }

    std::size_t taken() const { return taken_; }
    std::size_t memory_bytes() const { return blocks_.size() * kBlockStrips * kStripBytes; }

  private:
    static constexpr std::size_t kBlockStrips = 64;

    void add_block() {
        // Not initialised: a strip is first accessed when it is used.
        std::unique_ptr<Strip[]> block(new Strip[kBlockStrips]);
        blocks_.push_back(std::move(block));
        fresh_ = blocks_.back().get();
        fresh_end_ = fresh_ + kBlockStrips;
    }

    std::vector<std::unique_ptr<Strip[]>> blocks_;
    Strip* free_ = nullptr;
    Strip* fresh_ = nullptr;
    Strip* fresh_end_ = nullptr;
    std::size_t taken_ = 0;
};

// The chain of one slot. A strip is aligned to its size, so the end of a full one is too, and so is the null of an
// empty chain: one test tells whether a strip must be added before the next timer.
class StripChain {
  public:
    bool is_empty() const { return first_ == nullptr; }
    bool is_full() const { return reinterpret_cast<std::uintptr_t>(end_) % kStripBytes == 0; }
    std::uint32_t strips() const { return strips_; }

    // Adds the timer if `counts`, without a branch. The chain must not be full.
    void append(TimerIndex timer, bool counts = true) {
        *end_ = timer;
        end_ += counts;
    }

    void add_strip(Strip* strip) {
        strip->next = nullptr;
        (is_empty() ? first_ : last()->next) = strip;
        end_ = strip->timers;
        ++strips_;
    }

    // Fills up the last strip, so that later timers go into another one.
    void close_strip() {
        while (!is_full()) append(kNoTimer);
    }

    struct Part {
        Strip* strip;
        TimerIndex* end;  // of its timers
    };

    // Removes the first strip; there must be one.
    Part take_strip() {
        Part part{first_, first_->timers + kStripTimers};
        first_ = first_->next;
        --strips_;
        if (first_ == nullptr) {
            part.end = end_;
            end_ = nullptr;
        }
        return part;
    }

    // Calls visit(timer) for each, from the front, until it returns false.
    template <class Visit>
    void visit(Visit&& visit) const {
        for (Strip* strip = first_; strip != nullptr; strip = strip->next) {
            TimerIndex* const end = strip->next == nullptr ? end_ : strip->timers + kStripTimers;
            for (TimerIndex* timer = strip->timers; timer != end; ++timer) {
                if (*timer != kNoTimer && !visit(*timer)) return;
            }
        }
    }

  private:
    Strip* last() const {
        const std::uintptr_t inside = reinterpret_cast<std::uintptr_t>(end_) - 1;
        return reinterpret_cast<Strip*>(inside - inside % kStripBytes);
    }

    Strip* first_ = nullptr;
    TimerIndex* end_ = nullptr;  // where the next timer goes
    std::uint32_t strips_ = 0;
};

}  // namespace duewheel
