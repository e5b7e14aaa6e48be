// A timer of the schemes in this folder, and the list that it waits in.
//
// The list is doubly linked through the timers themselves and circular through an anchor, so a timer leaves whichever
// list it is in without that list being known, and neither end is a special case. A list owns nothing: the timers
// belong to a TimerPool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <duewheel/timing_wheel.h>

namespace duewheel {

// In a list, or alone: then it leads to itself.
struct TimerLink {
    TimerLink* next = this;
    TimerLink* prev = this;

    TimerLink() = default;
    TimerLink(const TimerLink&) = delete;
    TimerLink& operator=(const TimerLink&) = delete;
};

struct Timer : TimerLink {
    enum class State : std::uint8_t {
        free,     // names no timer
        filed,    // pending, where the scheme has put it
        queued,   // pending, in a list of the pass: late, due, or without a deadline
        firing,   // its sink runs
        retired,  // its generations are used up; never given out again
    };

    Tick deadline = 0;
    std::uint64_t cookie = 0;
    std::uint64_t note = 0;  // the scheme's own, while filed: a position, a level, rounds left
    std::uint32_t index = 0;
    std::uint32_t generation = 1;
    State state = State::free;
};

class TimerList {
  public:
    // Goes from the first timer to the last. Step on before the timer under it is unlinked.
    class Iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using difference_type = std::ptrdiff_t;
        using value_type = Timer;
        using pointer = Timer*;
        using reference = Timer&;

        Iterator() = default;
        explicit Iterator(TimerLink* link) : link_(link) {}
        Timer& operator*() const { return static_cast<Timer&>(*link_); }
        Timer* operator->() const { return &**this; }
        Iterator& operator++() {
            link_ = link_->next;
            return *this;
        }
        Iterator operator++(int) {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(Iterator, Iterator) = default;

      private:
        TimerLink* link_ = nullptr;
    };

    TimerList() = default;

    bool empty() const { return anchor_.next == &anchor_; }
    Iterator begin() const { return Iterator(anchor_.next); }
    Iterator end() const { return Iterator(const_cast<TimerLink*>(&anchor_)); }

    // The list must not be empty.
    Timer& front() const { return *begin(); }

    // O(length)
    std::size_t length() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

    // How many stand before the timer, which must be in this list. O(length)
    std::size_t position_of(const Timer& timer) const {
        std::size_t position = 0;
        for (auto at = begin(); &*at != &timer; ++at) ++position;
        return position;
    }

    void push_back(Timer& timer) { insert_before(anchor_, timer); }

    // Behind the last timer that is due no later, looked for from the end. O(timers due later)
    void insert_sorted(Timer& timer) {
        TimerLink* before = anchor_.prev;
        while (before != &anchor_ && static_cast<Timer*>(before)->deadline > timer.deadline) before = before->prev;
        insert_before(*before->next, timer);
    }

    // Appends all that is in `other`, in its order, and leaves that empty. O(1)
    void take_all(TimerList& other) {
        if (other.empty()) return;
        TimerLink* const first = other.anchor_.next;
        TimerLink* const last = other.anchor_.prev;
        other.anchor_.next = other.anchor_.prev = &other.anchor_;
        first->prev = anchor_.prev;
        anchor_.prev->next = first;
        last->next = &anchor_;
        anchor_.prev = last;
    }

    // Out of the list it is in, if it is in one.
    static void unlink(Timer& timer) {
        timer.prev->next = timer.next;
        timer.next->prev = timer.prev;
        timer.next = timer.prev = &timer;
    }

  private:
    static void insert_before(TimerLink& link, Timer& timer) {
        timer.next = &link;
        timer.prev = link.prev;
        link.prev->next = &timer;
        link.prev = &timer;
    }

    TimerLink anchor_;
};

// The smallest deadline in the list; kNever if it is empty. O(timers)
inline Tick earliest_in(const TimerList& list) {
    Tick earliest = kNever;
    for (const Timer& timer : list) earliest = std::min(earliest, timer.deadline);
    return earliest;
}

}  // namespace duewheel
