// The memory of a scheme's timers, and the handles that name them.
//
// A handle is an index and a generation. The generation moves on when a timer is given back, so that an old handle is
// refused although the same memory serves another timer (the ABA trap). Timers stay where they are: the pool grows by
// blocks and never shrinks, and a list may hold their addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schemes/timer_list.h"

namespace duewheel {

class TimerPool {
  public:
    // A timer in no list, in state `free`: the caller says what becomes of it. O(1) but for growing.
    Timer& acquire() {
        if (free_ == nullptr) grow();
        Timer& timer = *free_;
        free_ = static_cast<Timer*>(timer.next == &timer ? nullptr : timer.next);
        timer.next = timer.prev = &timer;
        return timer;
    }

    // Takes back a timer that is in no list; its handles are refused from now on. O(1)
    void release(Timer& timer) {
        if (++timer.generation == 0) {
            timer.state = Timer::State::retired;
            return;
        }
        timer.state = Timer::State::free;
        timer.next = free_ == nullptr ? &timer : free_;
        free_ = &timer;
    }

    static TimerHandle handle_of(const Timer& timer) {
        return TimerHandle{std::uint64_t{timer.generation} << 32 | timer.index};
    }

    // The timer that the handle names, pending or firing; nullptr if it names none any more. O(1)
    Timer* find(TimerHandle handle) const {
        const std::size_t index = handle.bits & 0xffff'ffff;
        if (index >= size()) return nullptr;
        Timer& timer = at(index);
        const bool named = timer.state != Timer::State::free && timer.state != Timer::State::retired;
        return named && timer.generation == handle.bits >> 32 ? &timer : nullptr;
    }

    // All there are, free ones included; index 0 to size() - 1.
    std::size_t size() const { return blocks_.size() * kBlockTimers; }
    Timer& at(std::size_t index) const { return (*blocks_[index / kBlockTimers])[index % kBlockTimers]; }

  private:
    static constexpr std::size_t kBlockTimers = 256;
    using Block = std::array<Timer, kBlockTimers>;

    void grow() {
        const auto first = static_cast<std::uint32_t>(size());
        blocks_.push_back(std::make_unique<Block>());
        // From the last to the first, so that they are given out in order.
        for (std::uint32_t i = kBlockTimers; i-- > 0;) {
            Timer& timer = (*blocks_.back())[i];
            timer.index = first + i;
            timer.next = free_ == nullptr ? &timer : free_;
            free_ = &timer;
        }
    }

    std::vector<std::unique_ptr<Block>> blocks_;
    Timer* free_ = nullptr;  // linked by `next`; the last one leads to itself
};

}  // namespace duewheel
