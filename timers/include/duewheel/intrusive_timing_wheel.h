// A timing wheel for timers that the caller owns: each is a member (a base class) of the caller's own object, and the
// wheel only links them.
//
// Why choose it. It never allocates; a cancelled timer leaves at once, and so does one whose object is destroyed; and
// it is the fastest as long as all timers fit into the processor's cache. Drawbacks: with a million timers, a cancel
// touches two neighbours elsewhere in memory; all timers of a slot move down together when its first tick comes, unless
// the caller passes a budget; and each object has 32 bytes for it. An object that derives from IntrusiveLinks has 24
// bytes and is faster if that decides whether all timers fit into the cache, but it must not be destroyed while it is
// pending. For everything else see TimingWheel (timing_wheel.h).
//
// Levels. A timer is on one of 11 levels of 64 slots: its level is the highest 6-bit digit in which its deadline
// differs from the wheel's position, its slot the deadline's digit there. Deadlines are later than the position, so all
// of a lower level is due before anything on a higher one, and the next slot is found by two bit scans. A slot of
// level 0 is one tick and is fired; a slot of a higher level is moved down when its first tick comes.
//
// Example, the wheel at tick 100, in base 64 the digits (1, 36):
//
//     deadline   digits        highest difference   lies at         then
//          101   (1, 37)       digit 0              level 0, 37     fires at 101
//          130   (2, 2)        digit 1              level 1, 2      at 128 moves to level 0, slot 2; fires at 130
//         5000   (1, 14, 8)    digit 2              level 2, 1      at 4096 to level 1, 14; at 4992 to level 0, 8
//
// Example:
//     struct Session : IntrusiveTimer {
//         int number = 5;
//     };
//     IntrusiveTimingWheel<Session> wheel;
//     Session session;
//     wheel.schedule(session, 300);
//     wheel.advance_to(300, [](Session& due) { assert(due.number == 5 && !due.is_pending()); });
//     {
//         Session short_lived;
//         wheel.schedule(short_lived, 400);
//     }                                                      // it is destroyed, which cancels it
//     assert(wheel.empty());
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <duewheel/parking_levels.h>
#include <duewheel/tick.h>

namespace duewheel {

// The links of a timer in its wheel. An object may derive from this instead of IntrusiveTimer, which saves 8 bytes; it
// must then be cancelled, or have fired, before it is destroyed.
class IntrusiveLinks {
  public:
    IntrusiveLinks(const IntrusiveLinks&) = delete;
    IntrusiveLinks& operator=(const IntrusiveLinks&) = delete;

    [[nodiscard]] bool is_pending() const { return next_ != this; }
    // The deadline as scheduled; kNever if it never was.
    [[nodiscard]] Tick deadline() const { return deadline_; }

  protected:
    IntrusiveLinks() = default;
    ~IntrusiveLinks() { assert(!is_pending() && "a pending timer is destroyed: cancel it before"); }

  private:
    template <std::derived_from<IntrusiveLinks> Timer>
    friend class IntrusiveTimingWheel;
    friend struct IntrusiveTimingWheelProbe;  // lets the tests corrupt a wheel

    // Lists are circular through an anchor, so that linking and unlinking need no branch; a single element is linked to
    // itself.
    IntrusiveLinks* next_ = this;
    IntrusiveLinks* prev_ = this;
    Tick deadline_ = kNever;
};

// How a destroyed timer reaches its wheel, whose type it does not know.
struct IntrusiveWheelLink {
    void* wheel;
    void (*cancel)(void* wheel, IntrusiveLinks& timer);
};

// The base class of timers of an IntrusiveTimingWheel. Destroying one that is pending cancels it; that must happen on
// the thread of the wheel.
class IntrusiveTimer : public IntrusiveLinks {
  protected:
    IntrusiveTimer() = default;
    ~IntrusiveTimer() {
        if (is_pending()) wheel_->cancel(wheel_->wheel, *this);
    }

  private:
    template <std::derived_from<IntrusiveLinks> Timer>
    friend class IntrusiveTimingWheel;

    const IntrusiveWheelLink* wheel_ = nullptr;  // its last wheel, which may be destroyed unless the timer is pending
};

// Single-owner; neither copyable nor movable. Timer is the caller's class, which the sink gets.
template <std::derived_from<IntrusiveLinks> Timer>
class IntrusiveTimingWheel {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    explicit IntrusiveTimingWheel(Tick now = 0) : position_(std::min(now, kLastTick)), now_(position_) {}
    IntrusiveTimingWheel(const IntrusiveTimingWheel&) = delete;
    IntrusiveTimingWheel& operator=(const IntrusiveTimingWheel&) = delete;
    ~IntrusiveTimingWheel() {
        assert(!advancing_ && "a wheel is destroyed by its own sink");
        clear();
    }

    // Schedules the timer, or moves it if it is pending here. With kNever it only waits for another deadline. O(1), and
    // touches no timer except its neighbours.
    void schedule(Timer& timer, Tick deadline);

    // True if the timer was pending and is cancelled. O(1).
    bool cancel(Timer& timer) {
        if (!timer.is_pending()) return false;
        take_out(timer);
        return true;
    }

    // Calls sink(timer) for each timer due by `now`, and returns how many fired; at most `budget` timers are fired or
    // moved down. Before the call the timer is not pending, so the sink may destroy it, or schedule it again. Otherwise
    // like TimingWheel::advance_to().
    template <std::invocable<Timer&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);

    [[nodiscard]] bool caught_up() const;
    // Exact. O(1) if something is due or on level 0, or if the result is still known; otherwise one scan of the
    // earliest slot.
    [[nodiscard]] Tick next_expiry();
    [[nodiscard]] Tick now() const { return now_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    // Cancels all, like the destructor of the wheel. O(n). Time stays.
    void clear() {
        clear([](Timer&) {});
    }
    // The same, and calls sink(timer) for each, in no order, when it is no longer pending. The sink may destroy it, and
    // must not use the wheel.
    template <std::invocable<Timer&> Sink>
    void clear(Sink&& sink);

    // The number of timers that all calls of advance_to() and next_expiry() have fired, moved down or visited: the unit
    // of the bounds in the tests.
    [[nodiscard]] std::uint64_t touched() const { return touched_; }

    // Verifies every invariant in O(n); prints the first violated one and aborts, in all builds.
    void check() const;

  private:
    friend struct IntrusiveTimingWheelProbe;  // lets the tests corrupt a wheel

    static constexpr unsigned kDigitBits = 6;
    static constexpr unsigned kLevelCount = 11;
    static constexpr unsigned kSlotCount = 64;
    static constexpr Tick kUnknown = 0;  // of earliest_; no timer on the levels has deadline 0

    struct Anchor : IntrusiveLinks {
        ~Anchor() { this->next_ = this->prev_ = this; }
    };
    struct Place {
        unsigned level;
        unsigned slot;
    };

    static bool is_empty(const IntrusiveLinks& anchor) { return anchor.next_ == &anchor; }
    static void link_last(IntrusiveLinks& anchor, IntrusiveLinks& timer);
    static void append_all(IntrusiveLinks& from, IntrusiveLinks& to);
    void unlink(IntrusiveLinks& timer);
    void take_out(IntrusiveLinks& timer);
    void mark_empty(Place place);
    Anchor& slot_at(Place place) { return slots_[place.level * kSlotCount + place.slot]; }

    Place next_slot() const;
    Tick next_slot_start() const;
    void file(IntrusiveLinks& timer);
    void begin_advance(Tick now);
    bool collect();
    std::size_t demote(std::size_t count_max);
    Tick walk_earliest_slot();
    std::size_t check_list(const IntrusiveLinks& anchor, std::size_t number) const;

    // First, so that the address of a slot needs no addition: otherwise a tenth slower with a million timers.
    std::array<Anchor, kLevelCount * kSlotCount> slots_;
    Anchor due_;                                         // being fired: all of one tick, or one batch of late ones
    Anchor moving_;                                      // the rest of a slot that is being moved down
    Anchor late_;                                        // scheduled late since the last advance started
    Anchor waiting_;                                     // scheduled late before it; they fire at waiting_tick_
    Anchor asleep_;                                      // deadline kNever
    std::array<std::uint64_t, kLevelCount> occupied_{};  // a bit for each slot with a timer
    std::uint32_t occupied_levels_ = 0;                  // a bit for each level with a used slot
    Tick position_;  // the reference of the levels: nothing on them is due by then; never after now_
    Tick now_;
    Tick waiting_tick_ = 0;     // the late ones in waiting_ fire once all due by this tick has
    Tick earliest_ = kUnknown;  // smallest deadline on the levels, if known
    std::size_t size_ = 0;
    std::uint64_t touched_ = 0;
    bool advancing_ = false;
    const IntrusiveWheelLink link_{
        this, [](void* wheel, IntrusiveLinks& timer) { static_cast<IntrusiveTimingWheel*>(wheel)->take_out(timer); }};
};

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::schedule(Timer& timer, Tick deadline) {
    if (timer.is_pending()) {
        if (timer.deadline_ == earliest_) earliest_ = kUnknown;
        unlink(timer);
    } else {
        ++size_;
        if constexpr (std::derived_from<Timer, IntrusiveTimer>) {
            // One more store to a timer that is not in the cache costs a tenth, so a timer that is scheduled again is
            // only read.
            IntrusiveTimer& owned = timer;
            if (owned.wheel_ != &link_) owned.wheel_ = &link_;
        }
    }
    IntrusiveLinks& links = timer;
    links.deadline_ = deadline;
    if (deadline <= now_) {
        link_last(late_, timer);
    } else if (deadline == kNever) {
        link_last(asleep_, timer);
    } else {
        file(timer);
        earliest_ = std::min(earliest_, deadline);
    }
}

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::take_out(IntrusiveLinks& timer) {
    if (timer.deadline_ == earliest_) earliest_ = kUnknown;
    unlink(timer);
    --size_;
}

template <std::derived_from<IntrusiveLinks> Timer>
template <std::invocable<Timer&> Sink>
std::size_t IntrusiveTimingWheel<Timer>::advance_to(Tick now, Sink&& sink, std::size_t budget) {
    assert(!advancing_ && "advance_to() called from its own sink");
    struct End {  // also when the sink throws
        bool& advancing;
        ~End() { advancing = false; }
    } const end{advancing_ = true};
    begin_advance(now);
    std::size_t fired = 0;
    while (budget > 0) {
        if (!is_empty(due_)) {
            IntrusiveLinks& timer = *due_.next_;
            unlink(timer);
            --size_;
            ++fired;
            ++touched_;
            --budget;
            sink(static_cast<Timer&>(timer));
        } else if (!is_empty(moving_)) {
            budget -= demote(budget);
        } else if (!collect()) {
            break;
        }
    }
    return fired;
}

template <std::derived_from<IntrusiveLinks> Timer>
bool IntrusiveTimingWheel<Timer>::caught_up() const {
    return is_empty(due_) && is_empty(moving_) && is_empty(waiting_) && next_slot_start() > now_;
}

template <std::derived_from<IntrusiveLinks> Timer>
Tick IntrusiveTimingWheel<Timer>::next_expiry() {
    if (!is_empty(late_) || !caught_up()) return now_;
    if (occupied_levels_ == 0) return kNever;
    if ((occupied_levels_ & 1) != 0) return next_slot_start();
    if (earliest_ == kUnknown) earliest_ = walk_earliest_slot();
    return earliest_;
}

template <std::derived_from<IntrusiveLinks> Timer>
template <std::invocable<Timer&> Sink>
void IntrusiveTimingWheel<Timer>::clear(Sink&& sink) {
    const auto free_all = [&sink](IntrusiveLinks& anchor) {
        while (!is_empty(anchor)) {
            IntrusiveLinks& timer = *anchor.next_;
            anchor.next_ = timer.next_;
            timer.next_ = timer.prev_ = &timer;
            sink(static_cast<Timer&>(timer));
        }
        anchor.prev_ = &anchor;
    };
    for (Anchor& anchor : slots_) free_all(anchor);
    for (Anchor* anchor : {&due_, &moving_, &late_, &waiting_, &asleep_}) free_all(*anchor);
    occupied_.fill(0);
    occupied_levels_ = 0;
    earliest_ = kUnknown;
    size_ = 0;
}

// ---- lists ----

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::link_last(IntrusiveLinks& anchor, IntrusiveLinks& timer) {
    timer.prev_ = anchor.prev_;
    timer.next_ = &anchor;
    anchor.prev_->next_ = &timer;
    anchor.prev_ = &timer;
}

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::append_all(IntrusiveLinks& from, IntrusiveLinks& to) {
    if (is_empty(from)) return;
    to.prev_->next_ = from.next_;
    from.next_->prev_ = to.prev_;
    from.prev_->next_ = &to;
    to.prev_ = from.prev_;
    from.next_ = from.prev_ = &from;
}

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::unlink(IntrusiveLinks& timer) {
    IntrusiveLinks* const next = timer.next_;
    IntrusiveLinks* const prev = timer.prev_;
    next->prev_ = prev;
    prev->next_ = next;
    timer.next_ = timer.prev_ = &timer;
    // Determined from the timer's own links, because loading the neighbours from memory would take time.
    if (next != prev) return;
    // Only an anchor can be its neighbour on both sides; its address tells whether it is a slot's, and which.
    const auto distance = reinterpret_cast<std::uintptr_t>(next) - reinterpret_cast<std::uintptr_t>(slots_.data());
    const auto slot = static_cast<unsigned>(distance / sizeof(Anchor));
    if (distance < sizeof(slots_)) mark_empty(Place{slot / kSlotCount, slot % kSlotCount});
}

template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::mark_empty(Place place) {
    occupied_[place.level] &= ~(std::uint64_t{1} << place.slot);
    if (occupied_[place.level] == 0) occupied_levels_ &= ~(std::uint32_t{1} << place.level);
}

// ---- placement ----

// The first used slot in time. There must be one.
template <std::derived_from<IntrusiveLinks> Timer>
inline typename IntrusiveTimingWheel<Timer>::Place IntrusiveTimingWheel<Timer>::next_slot() const {
    const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    return Place{level, static_cast<unsigned>(std::countr_zero(occupied_[level]))};
}

// The first tick of the first used slot: the position's digits above the level, the slot's digit, zeros below.
template <std::derived_from<IntrusiveLinks> Timer>
inline Tick IntrusiveTimingWheel<Timer>::next_slot_start() const {
    if (occupied_levels_ == 0) return kNever;
    const Place place = next_slot();
    const unsigned shift = place.level * kDigitBits;
    const Tick digits_up_to_level = (Tick{kSlotCount - 1} << shift) | ((Tick{1} << shift) - 1);
    return (position_ & ~digits_up_to_level) | (Tick{place.slot} << shift);
}

// Puts a timer whose deadline is after the position into its slot.
template <std::derived_from<IntrusiveLinks> Timer>
inline void IntrusiveTimingWheel<Timer>::file(IntrusiveLinks& timer) {
    const unsigned highest_bit = static_cast<unsigned>(std::bit_width(timer.deadline_ ^ position_)) - 1;
    const unsigned level = highest_bit / kDigitBits;
    const Place place{level, static_cast<unsigned>(timer.deadline_ >> (level * kDigitBits)) % kSlotCount};
    link_last(slot_at(place), timer);
    occupied_[level] |= std::uint64_t{1} << place.slot;
    occupied_levels_ |= std::uint32_t{1} << level;
}

// ---- time ----

template <std::derived_from<IntrusiveLinks> Timer>
void IntrusiveTimingWheel<Timer>::begin_advance(Tick now) {
    if (!is_empty(late_)) {
        // Late timers of an earlier call that stopped at its budget keep their position, and the new ones share it.
        if (is_empty(waiting_)) waiting_tick_ = now_;
        append_all(late_, waiting_);
    }
    now_ = std::max(now_, std::min(now, kLastTick));
}

// With nothing left to fire or move down: proceeds to what comes next, a slot or the late ones. False if nothing is due
// any more. The position may be anywhere before the start of the next slot, because the highest differing digit of no
// timer changes by that.
template <std::derived_from<IntrusiveLinks> Timer>
bool IntrusiveTimingWheel<Timer>::collect() {
    const Tick slot_start = next_slot_start();
    if (!is_empty(waiting_) && waiting_tick_ < slot_start) {
        // They wait for their tick although they are overdue; otherwise a timer that always schedules itself late could
        // use every budget before any other timer fires.
        append_all(waiting_, due_);
        return true;
    }
    if (slot_start > now_) {
        position_ = now_;
        return false;
    }
    const Place place = next_slot();
    position_ = slot_start;
    append_all(slot_at(place), place.level == 0 ? due_ : moving_);
    mark_empty(place);
    earliest_ = kUnknown;
    return true;
}

// Moves up to `count_max` timers of the slot that starts at the position to their new slots.
template <std::derived_from<IntrusiveLinks> Timer>
std::size_t IntrusiveTimingWheel<Timer>::demote(std::size_t count_max) {
    std::size_t count = 0;
    for (; count < count_max && !is_empty(moving_); ++count, ++touched_) {
        IntrusiveLinks& timer = *moving_.next_;
        unlink(timer);
        if (timer.deadline_ == position_) {
            link_last(due_, timer);
        } else {
            file(timer);
        }
    }
    return count;
}

template <std::derived_from<IntrusiveLinks> Timer>
Tick IntrusiveTimingWheel<Timer>::walk_earliest_slot() {
    const Anchor& anchor = slot_at(next_slot());
    Tick earliest = kNever;
    for (const IntrusiveLinks* timer = anchor.next_; timer != &anchor; timer = timer->next_) {
        ++touched_;
        earliest = std::min(earliest, timer->deadline_);
    }
    return earliest;
}

// ---- the checker ----

template <std::derived_from<IntrusiveLinks> Timer>
void IntrusiveTimingWheel<Timer>::check() const {
    require_of_wheel(position_ <= now_ && now_ <= kLastTick,
                     "the position is not after the time, which is not after the last tick");
    std::size_t pending = 0;
    for (std::size_t number = 0; number < slots_.size(); ++number) {
        pending += check_list(slots_[number], number);
        const bool marked = (occupied_[number / kSlotCount] >> number % kSlotCount & 1) != 0;
        require_of_wheel(marked != is_empty(slots_[number]), "a slot's bit says whether it holds a timer");
    }
    for (unsigned level = 0; level < kLevelCount; ++level) {
        require_of_wheel((occupied_levels_ >> level & 1) == (occupied_[level] != 0),
                         "a level's bit says whether it holds a timer");
    }
    for (const Anchor* anchor : {&due_, &moving_, &late_, &waiting_, &asleep_}) {
        pending += check_list(*anchor, slots_.size());
    }
    require_of_wheel(pending == size_, "the size is the number of timers in all lists");
}

// The number of timers in a list: that of a slot or, with a number beyond them, another.
template <std::derived_from<IntrusiveLinks> Timer>
std::size_t IntrusiveTimingWheel<Timer>::check_list(const IntrusiveLinks& anchor, std::size_t number) const {
    std::size_t count = 0;
    const IntrusiveLinks* before = &anchor;
    for (const IntrusiveLinks* timer = anchor.next_;; timer = timer->next_) {
        require_of_wheel(timer->prev_ == before, "links agree in both directions");
        if (timer == &anchor) return count;
        before = timer;
        require_of_wheel((timer->deadline_ == kNever) == (&anchor == &asleep_), "only timers without a deadline sleep");
        if (&anchor == &due_ || &anchor == &late_ || &anchor == &waiting_) {
            require_of_wheel(timer->deadline_ <= now_, "what waits to fire is due");
        }
        require_of_wheel(&anchor != &moving_ || timer->deadline_ >= position_, "what is moved down is not overdue");
        ++count;
        if (number == slots_.size()) continue;
        const auto shift = static_cast<unsigned>(number / kSlotCount * kDigitBits);
        const Tick digit = timer->deadline_ >> shift;
        const Tick position_digit = position_ >> shift;
        require_of_wheel(timer->deadline_ > position_ && digit / kSlotCount == position_digit / kSlotCount &&
                             digit != position_digit && digit % kSlotCount == number % kSlotCount,
                         "a timer lies in the slot of its highest differing digit");
        require_of_wheel(earliest_ == kUnknown || !is_empty(moving_) || timer->deadline_ >= earliest_,
                         "the remembered earliest deadline is the earliest");
    }
}

}  // namespace duewheel
