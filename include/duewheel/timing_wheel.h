// A hierarchical timing wheel: keeps timers by deadline and hands them out when it is told the time.
//
// What it is. Time is a count of ticks, whatever a tick means to the owner. A timer lies on one of 11 levels of 64
// slots. Its level is the highest 6-bit digit in which its deadline differs from the tick the wheel has worked up to;
// its slot is the deadline's own digit there. Eleven digits cover all 64 bits, so there is no longest delay, no
// overflow list and no rotation. As a deadline is later than the wheel, its digit is larger than the wheel's, which
// gives the one fact all else rests on:
//
//     everything on a lower level is due before anything on a higher one, and lower slots before higher slots
//
// so the next slot is two bit scans (one word over the levels, one word over the slots of a level), and an idle jump
// costs the same for one tick and for a thousand years. A slot of level 0 is one tick and is fired. A slot of a higher
// level is demoted when its first tick comes: each timer in it moves to the level where it differs now.
//
// Example, the wheel at tick 100, in base 64 the digits (1, 36):
//
//     deadline   digits        highest difference   lies at         then
//          101   (1, 37)       digit 0              level 0, 37     fires at 101
//          130   (2, 2)        digit 1              level 1, 2      at 128 moves to level 0, slot 2; fires at 130
//         5000   (1, 14, 8)    digit 2              level 2, 1      at 4096 to level 1, 14; at 4992 to level 0, 8
//
// Why choose it. Arming, moving and cancelling are constant time however many timers wait, a cancelled timer leaves at
// once, nothing is ever early or late by a tick, and one call's work can be bounded. What it gives up: the order inside
// one tick, iteration in deadline order, and a cheap answer to "when next?" in one case (see next_expiry). What it
// refuses: it reads no clock, takes no lock, starts no thread, rounds nothing and knows nothing of durations.
//
// The file is long because it is the whole wheel, to be inlined into its owner's loop: first what an owner needs, then
// lists, placement, time, and last the checker.
//
//     operation                 cost (n timers)
//     schedule                  O(1); growing the slab copies it, unless reserve() made room
//     cancel, reschedule        O(1)
//     deadline_of, size         O(1)
//     advance_to                O(fired + demoted); a timer is demoted at most 10 times, O(1) when nothing is due
//     next_expiry               O(1) when something is due or lies within level 0, or the answer is still known;
//                               else one walk over the earliest slot
//     memory                    32 bytes a timer and 22 KiB for an empty wheel; grows, is reused, never shrinks
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace duewheel {

using Tick = std::uint64_t;

// The deadline of a timer that never fires. No wheel gets there: the last tick it can stand at is the one before.
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();

// Names one timer of one wheel, from schedule() until it fires or is cancelled. Afterwards the handle is refused, also
// when the memory of the timer serves another one. A default handle names none.
struct TimerHandle {
    std::uint64_t bits = 0;  // generation << 32 | index; may be stored and brought back as it is

    explicit operator bool() const { return bits != 0; }
    friend bool operator==(TimerHandle, TimerHandle) = default;
};

#ifdef DUEWHEEL_PLANTED_BUGS
// Bugs that can be switched on in builds made to see the tests find them; no such build is ever installed.
inline bool planted_node_lost_when_demoted = false;
inline bool planted_occupancy_cleared_with_node_left = false;
#endif

// Single-owner: no two calls may overlap, const ones included. Neither copied nor moved, as handles belong to one
// wheel.
//
// Three words: a timer is *late* when it was armed with a deadline at or before now(); it is *pending* from arming
// until it fires or is cancelled; the wheel is *caught up* when nothing is left of what advance_to() was asked to do.
class TimingWheel {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kTimersMax = std::size_t{1} << 31;

    explicit TimingWheel(Tick now = 0);
    TimingWheel(const TimingWheel&) = delete;
    TimingWheel& operator=(const TimingWheel&) = delete;

    // Arms a timer. `cookie` is the caller's and comes back when it fires. A late timer fires in the next call of
    // advance_to() whose budget reaches it; kNever makes one that only waits to be rescheduled or cancelled.
    // Throws std::bad_alloc, or std::length_error beyond kTimersMax; then nothing has changed.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie);

    // True when the timer was pending and now is gone; false when it has fired (or is firing) or was cancelled before.
    [[nodiscard]] bool cancel(TimerHandle handle);

    // Gives a pending timer another deadline, earlier or later; handle and cookie stay. False when it is not pending.
    // Inside the sink the timer that is firing can be armed again this way too, and keeps its handle: the way to make
    // periodic timers that can be cancelled at any moment.
    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline);

    // Moves the wheel's time to `now` (a time before now() counts as now()) and calls sink(cookie, deadline) for every
    // timer due by then, with the deadline as it was asked for, never before it. Returns how many fired.
    //
    // Order: all of an earlier tick before any of a later one; inside a tick, none is promised. A late timer comes
    // before every timer due after the tick now() showed when it was armed.
    //
    // Budget: at most `budget` timers are touched, that is fired or demoted. If that is not enough the call stops where
    // it is, caught_up() is false, and further calls, with the same time or a later one, go on from there, losing and
    // reordering nothing. A call may use up its budget and fire none: ask caught_up(), not the returned count.
    //
    // The sink may schedule, reschedule and cancel any timer, peers due in the same tick included, and may clear().
    // What it arms at or before `now` is late and waits for the next call, so a call fires no more timers than were
    // pending when it began. It must not call advance_to() nor destroy the wheel. now() in the sink is this call's
    // time.
    //
    // If the sink throws, its timer counts as fired (or armed again, if it was), the exception passes through, and the
    // next call goes on with the timer after it.
    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);

    // Whether the last advance_to() finished. Timers armed late since it began do not count, so a loop "until caught
    // up" ends even if every timer arms itself again at once.
    [[nodiscard]] bool caught_up() const;

    // The time at which advance_to() next has something to do: the earliest deadline, exactly, or now() if a timer is
    // late or the wheel is not caught up; never before now(). kNever when no timer can fire.
    //
    // Cost: the answer is remembered and kept right by schedule(). After a cancel or reschedule of the earliest timer,
    // or an advance, it is found again by walking the earliest slot if that is above level 0.
    [[nodiscard]] Tick next_expiry() const;

    // A time at which advance_to() may have something to do: never after next_expiry(), at worst the beginning of the
    // slot that holds the earliest timer, where it is demoted. O(1) always: for a loop whose earliest timer is
    // cancelled often, at the price of a few wake-ups that fire nothing.
    [[nodiscard]] Tick next_work() const;

    // The latest time advance_to() was given, or the constructor's.
    [[nodiscard]] Tick now() const { return now_; }

    // Pending timers, those that never fire included.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    // The deadline as it was asked for; nothing if the timer is not pending.
    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const;

    // Makes room for `timers` pending timers in all, so that none of them allocates. Throws like schedule().
    void reserve(std::size_t timers);

    // Forgets all timers without firing them; their handles are refused from now on. Time and memory stay.
    void clear();

    // Everything the wheel occupies, spare room included.
    [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) + nodes_.capacity() * sizeof(Node); }

    // Verifies every invariant in O(n); on the first that does not hold, prints which and aborts, in all builds.
    void check() const;

  private:
    friend struct TimingWheelProbe;  // lets the tests damage a wheel and age a generation

    using Index = std::uint32_t;

    enum class State : std::uint32_t {
        free,     // on the free list, or a list's anchor
        armed,    // pending: in exactly one list
        firing,   // in no list: its sink runs
        retired,  // its generations are used up; never given out again
    };

    struct Node {
        Index next = 0;
        Index prev = 0;
        Tick deadline = 0;
        std::uint64_t cookie = 0;
        std::uint32_t generation = 1;
        State state = State::free;
    };
    static_assert(sizeof(Node) == 32);

    static constexpr unsigned kDigitBits = 6;
    static constexpr unsigned kLevelCount = 11;
    static constexpr unsigned kSlotCount = 64;
    static constexpr Tick kLastTick = kNever - 1;

    // Lists are circular through an anchor. The anchors are the first nodes of the slab, so that linking and unlinking
    // need no branch, and a list that has become empty says by its anchor which slot that was.
    static constexpr Index kDue = kLevelCount * kSlotCount;  // being fired; all of one tick, or one batch of late ones
    static constexpr Index kMoving = kDue + 1;               // the rest of a slot that is being demoted
    static constexpr Index kLate = kDue + 2;                 // late, armed since the last advance_to() began
    static constexpr Index kWaiting = kDue + 3;              // late, armed before it; their turn is at waiting_tick_
    static constexpr Index kAsleep = kDue + 4;               // deadline kNever
    static constexpr Index kAnchorCount = kDue + 5;
    static constexpr Index kNoNode = 0;  // index 0 is an anchor, hence never a timer
    static constexpr Tick kUnknown = 0;  // of earliest_; no timer on the levels has deadline 0

    struct Place {
        unsigned level;
        unsigned slot;

        Index anchor() const { return level * kSlotCount + slot; }
    };

    // Ends the firing of one timer however the sink ends: frees it unless the sink armed it again.
    class Firing {
      public:
        Firing(TimingWheel& wheel, Index index)
            : wheel_(wheel), index_(index), generation_(wheel.nodes_[index].generation) {
            wheel_.in_sink_ = true;
        }
        Firing(const Firing&) = delete;
        Firing& operator=(const Firing&) = delete;
        ~Firing() {
            wheel_.in_sink_ = false;
            const Node& node = wheel_.nodes_[index_];
            if (node.state == State::firing && node.generation == generation_) wheel_.release(index_);
        }

      private:
        TimingWheel& wheel_;
        Index index_;
        std::uint32_t generation_;
    };

    static Index index_of(TimerHandle handle) { return static_cast<Index>(handle.bits); }
    bool names_node(TimerHandle handle) const;
    bool is_empty(Index anchor) const { return nodes_[anchor].next == anchor; }
    void link_last(Index anchor, Index index);
    void unlink(Index index);
    void append_all(Index from, Index to);
    void mark_empty(Place place);

    Index acquire();
    void release(Index index);
    void reset_lists();

    static Place place_of(Tick deadline, Tick position);
    Place next_slot() const;
    Tick next_slot_start() const;
    void arm(Index index, Tick deadline);
    void file(Index index);
    void disarm(Index index);

    void begin_advance(Tick now);
    template <class Sink>
    void fire_first(Sink& sink);
    bool collect();
    std::size_t demote(std::size_t count_max);
    Tick walk_earliest_slot() const;

    [[noreturn]] static void fail_check(const char* what);
    static void require(bool holds, const char* what) {
        if (!holds) fail_check(what);
    }
    std::size_t check_list(Index anchor, std::vector<bool>& seen) const;
    void check_membership(Index anchor, const Node& node) const;
    void check_occupancy() const;
    void check_slab(std::size_t armed) const;
    void check_earliest() const;

    std::vector<Node> nodes_;                            // anchors, then timers
    std::array<std::uint64_t, kLevelCount> occupied_{};  // a bit for each slot with a timer
    std::uint32_t occupied_levels_ = 0;                  // a bit for each level with an occupied slot
    Index free_ = kNoNode;
    Tick position_;  // what the levels are relative to: nothing on them is due by then; never after now_
    Tick now_;
    Tick waiting_tick_ = 0;             // the late ones in kWaiting fire once all due by this tick has
    mutable Tick earliest_ = kUnknown;  // smallest deadline on the levels, when known; kNever if they are empty
    std::size_t size_ = 0;
    bool in_sink_ = false;
};

// ---- what the owner calls ----

inline TimingWheel::TimingWheel(Tick now) : nodes_(kAnchorCount), position_(std::min(now, kLastTick)), now_(position_) {
    reset_lists();
}

inline TimerHandle TimingWheel::schedule(Tick deadline, std::uint64_t cookie) {
    const Index index = acquire();
    Node& node = nodes_[index];
    node.cookie = cookie;
    arm(index, deadline);
    return TimerHandle{std::uint64_t{node.generation} << 32 | index};
}

inline bool TimingWheel::cancel(TimerHandle handle) {
    const Index index = index_of(handle);
    if (!names_node(handle) || nodes_[index].state != State::armed) return false;
    disarm(index);
    release(index);
    return true;
}

inline bool TimingWheel::reschedule(TimerHandle handle, Tick deadline) {
    const Index index = index_of(handle);
    if (!names_node(handle)) return false;
    if (nodes_[index].state == State::armed) disarm(index);
    arm(index, deadline);
    return true;
}

template <std::invocable<const std::uint64_t&, const Tick&> Sink>
std::size_t TimingWheel::advance_to(Tick now, Sink&& sink, std::size_t budget) {
    begin_advance(now);
    std::size_t fired = 0;
    while (budget > 0) {
        if (!is_empty(kDue)) {
            fire_first(sink);
            ++fired;
            --budget;
        } else if (!is_empty(kMoving)) {
            budget -= demote(budget);
        } else if (!collect()) {
            break;
        }
    }
    return fired;
}

inline bool TimingWheel::caught_up() const {
    return is_empty(kDue) && is_empty(kMoving) && is_empty(kWaiting) && next_slot_start() > now_;
}

inline Tick TimingWheel::next_expiry() const {
    if (!is_empty(kLate) || !caught_up()) return now_;
    if (occupied_levels_ == 0) return kNever;
    if ((occupied_levels_ & 1) != 0) return next_slot_start();
    if (earliest_ == kUnknown) earliest_ = walk_earliest_slot();
    return earliest_;
}

inline Tick TimingWheel::next_work() const {
    return !is_empty(kLate) || !caught_up() ? now_ : next_slot_start();
}

inline std::optional<Tick> TimingWheel::deadline_of(TimerHandle handle) const {
    if (!names_node(handle) || nodes_[index_of(handle)].state != State::armed) return std::nullopt;
    return nodes_[index_of(handle)].deadline;
}

inline void TimingWheel::reserve(std::size_t timers) {
    if (timers > kTimersMax) throw std::length_error("TimingWheel: more timers than an index can name");
    nodes_.reserve(kAnchorCount + timers);
}

inline void TimingWheel::clear() {
    reset_lists();
    for (Index index = kAnchorCount; index < nodes_.size(); ++index) {
        const State state = nodes_[index].state;
        if (state == State::armed || state == State::firing) release(index);
    }
    size_ = 0;
}

// ---- lists and slab ----

// Whether the handle is the latest one given out for its node. Then the node is armed or firing: being freed moves the
// generation on.
inline bool TimingWheel::names_node(TimerHandle handle) const {
    const Index index = index_of(handle);
    return index >= kAnchorCount && index < nodes_.size() && nodes_[index].generation == handle.bits >> 32 &&
           nodes_[index].state != State::free && nodes_[index].state != State::retired;
}

inline void TimingWheel::link_last(Index anchor, Index index) {
    const Index last = nodes_[anchor].prev;
    nodes_[index].next = anchor;
    nodes_[index].prev = last;
    nodes_[last].next = index;
    nodes_[anchor].prev = index;
}

inline void TimingWheel::unlink(Index index) {
    const Index next = nodes_[index].next;
    const Index prev = nodes_[index].prev;
    nodes_[prev].next = next;
    nodes_[next].prev = prev;
    // Both neighbours are one only if that is the anchor.
    if (next == prev && next < kDue) mark_empty(Place{next / kSlotCount, next % kSlotCount});
#ifdef DUEWHEEL_PLANTED_BUGS
    if (planted_occupancy_cleared_with_node_left && next < kDue)
        mark_empty(Place{next / kSlotCount, next % kSlotCount});
#endif
}

inline void TimingWheel::append_all(Index from, Index to) {
    if (is_empty(from)) return;
    const Index first = nodes_[from].next;
    const Index last = nodes_[from].prev;
    const Index tail = nodes_[to].prev;
    nodes_[tail].next = first;
    nodes_[first].prev = tail;
    nodes_[last].next = to;
    nodes_[to].prev = last;
    nodes_[from].next = nodes_[from].prev = from;
}

inline void TimingWheel::mark_empty(Place place) {
    occupied_[place.level] &= ~(std::uint64_t{1} << place.slot);
    if (occupied_[place.level] == 0) occupied_levels_ &= ~(std::uint32_t{1} << place.level);
}

inline TimingWheel::Index TimingWheel::acquire() {
    if (free_ != kNoNode) {
        const Index index = free_;
        free_ = nodes_[index].next;
        return index;
    }
    if (nodes_.size() - kAnchorCount >= kTimersMax) {
        throw std::length_error("TimingWheel: more timers than an index can name");
    }
    nodes_.emplace_back();
    return static_cast<Index>(nodes_.size() - 1);
}

// A node whose generations are used up is given away for good: 32 bytes once in four billion uses, and no stale handle
// can ever match.
inline void TimingWheel::release(Index index) {
    Node& node = nodes_[index];
    if (++node.generation == 0) {
        node.state = State::retired;
        return;
    }
    node.state = State::free;
    node.next = free_;
    free_ = index;
}

inline void TimingWheel::reset_lists() {
    for (Index anchor = 0; anchor < kAnchorCount; ++anchor) nodes_[anchor].next = nodes_[anchor].prev = anchor;
    occupied_.fill(0);
    occupied_levels_ = 0;
    earliest_ = kNever;
}

// ---- placement ----

// Where a deadline after `position` lies.
inline TimingWheel::Place TimingWheel::place_of(Tick deadline, Tick position) {
    const unsigned highest_bit = static_cast<unsigned>(std::bit_width(deadline ^ position)) - 1;
    const unsigned level = highest_bit / kDigitBits;
    return Place{level, static_cast<unsigned>(deadline >> (level * kDigitBits)) % kSlotCount};
}

// The first occupied slot in time. Some slot must be occupied.
inline TimingWheel::Place TimingWheel::next_slot() const {
    const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    return Place{level, static_cast<unsigned>(std::countr_zero(occupied_[level]))};
}

// The first tick of the first occupied slot: the position's digits above the level, the slot's digit, zeros below.
inline Tick TimingWheel::next_slot_start() const {
    if (occupied_levels_ == 0) return kNever;
    const Place place = next_slot();
    const unsigned shift = place.level * kDigitBits;
    const Tick digits_up_to_level = (Tick{kSlotCount - 1} << shift) | ((Tick{1} << shift) - 1);
    return (position_ & ~digits_up_to_level) | (Tick{place.slot} << shift);
}

// Makes an unlinked node pending, in the list its deadline asks for.
inline void TimingWheel::arm(Index index, Tick deadline) {
    Node& node = nodes_[index];
    node.deadline = deadline;
    node.state = State::armed;
    ++size_;
    if (deadline <= now_) {
        link_last(kLate, index);
    } else if (deadline == kNever) {
        link_last(kAsleep, index);
    } else {
        file(index);
        earliest_ = std::min(earliest_, deadline);
    }
}

// Puts a node whose deadline is after the position into its slot.
inline void TimingWheel::file(Index index) {
    const Place place = place_of(nodes_[index].deadline, position_);
    link_last(place.anchor(), index);
    occupied_[place.level] |= std::uint64_t{1} << place.slot;
    occupied_levels_ |= std::uint32_t{1} << place.level;
}

inline void TimingWheel::disarm(Index index) {
    if (nodes_[index].deadline == earliest_) earliest_ = kUnknown;
    unlink(index);
    --size_;
}

// ---- time ----

inline void TimingWheel::begin_advance(Tick now) {
    assert(!in_sink_ && "advance_to() called from its own sink");
    if (!is_empty(kLate)) {
        // Those of an earlier call that ran out of budget keep their turn, and the new ones share it.
        if (is_empty(kWaiting)) waiting_tick_ = now_;
        append_all(kLate, kWaiting);
    }
    now_ = std::max(now_, std::min(now, kLastTick));
}

template <class Sink>
void TimingWheel::fire_first(Sink& sink) {
    const Index index = nodes_[kDue].next;
    disarm(index);
    nodes_[index].state = State::firing;
    // Copies, as the sink may make the slab grow.
    const std::uint64_t cookie = nodes_[index].cookie;
    const Tick deadline = nodes_[index].deadline;
    const Firing firing(*this, index);
    sink(cookie, deadline);
}

// With nothing left to fire or to demote: moves on to what comes next, a slot or the late ones. False when nothing is
// due any more. The position may go anywhere before the start of the next slot, as no timer's highest differing digit
// changes by that.
inline bool TimingWheel::collect() {
    const Tick slot_start = next_slot_start();
    if (!is_empty(kWaiting) && waiting_tick_ < slot_start) {
        // They wait for their tick although they are overdue, for otherwise a timer that always arms itself late could
        // use up every budget before any other timer has its turn.
        append_all(kWaiting, kDue);
        return true;
    }
    if (slot_start > now_) {
        position_ = now_;
        return false;
    }
    const Place place = next_slot();
    position_ = slot_start;
    append_all(place.anchor(), place.level == 0 ? kDue : kMoving);
    mark_empty(place);
    earliest_ = kUnknown;
    return true;
}

// Moves up to `count_max` timers of the slot that starts at the position to where they belong now.
inline std::size_t TimingWheel::demote(std::size_t count_max) {
    std::size_t count = 0;
    for (; count < count_max && !is_empty(kMoving); ++count) {
        const Index index = nodes_[kMoving].next;
        unlink(index);
#ifdef DUEWHEEL_PLANTED_BUGS
        if (planted_node_lost_when_demoted && !is_empty(kMoving)) continue;
#endif
        if (nodes_[index].deadline == position_) {
            link_last(kDue, index);
        } else {
            file(index);
        }
    }
    return count;
}

inline Tick TimingWheel::walk_earliest_slot() const {
    const Index anchor = next_slot().anchor();
    Tick earliest = kNever;
    for (Index index = nodes_[anchor].next; index != anchor; index = nodes_[index].next) {
        earliest = std::min(earliest, nodes_[index].deadline);
    }
    return earliest;
}

// ---- the checker ----

inline void TimingWheel::fail_check(const char* what) {
    std::fprintf(stderr, "TimingWheel::check: %s\n", what);
    std::abort();
}

inline void TimingWheel::check() const {
    require(position_ <= now_ && now_ <= kLastTick,
            "the position is not after the time, which is not after the last tick");
    require(is_empty(kWaiting) || waiting_tick_ <= now_, "the turn of the late timers is not after the time");
    std::vector<bool> seen(nodes_.size(), false);
    std::size_t armed = 0;
    for (Index anchor = 0; anchor < kAnchorCount; ++anchor) armed += check_list(anchor, seen);
    require(armed == size_, "the size is the number of timers in all lists");
    check_occupancy();
    check_slab(armed);
    check_earliest();
}

inline std::size_t TimingWheel::check_list(Index anchor, std::vector<bool>& seen) const {
    std::size_t count = 0;
    Index before = anchor;
    for (Index index = nodes_[anchor].next; index != anchor; index = nodes_[index].next) {
        require(index >= kAnchorCount && index < nodes_.size(), "a link leads to a timer");
        require(!seen[index], "a timer is in one list, once");
        seen[index] = true;
        require(nodes_[index].prev == before, "links agree in both directions");
        require(nodes_[index].state == State::armed, "a timer in a list is armed");
        check_membership(anchor, nodes_[index]);
        before = index;
        ++count;
    }
    require(nodes_[anchor].prev == before, "the anchor leads back to the last timer");
    return count;
}

inline void TimingWheel::check_membership(Index anchor, const Node& node) const {
    const Tick deadline = node.deadline;
    if (anchor < kDue) {
        require(deadline > position_ && deadline < kNever, "a timer on the levels is due after the position");
        const unsigned shift = anchor / kSlotCount * kDigitBits;
        const Tick digit = deadline >> shift;
        const Tick position_digit = position_ >> shift;
        require(digit / kSlotCount == position_digit / kSlotCount && digit != position_digit,
                "a timer lies on the level of its highest differing digit");
        require(digit % kSlotCount == anchor % kSlotCount, "a timer lies in the slot of its own digit");
    } else if (anchor == kAsleep) {
        require(deadline == kNever, "only timers without a deadline sleep");
    } else if (anchor == kMoving) {
        require(deadline >= position_ && deadline < kNever, "a timer that is demoted is due in the slot's span");
    } else {
        require(deadline <= now_, "a timer that waits to be fired is due");
    }
}

inline void TimingWheel::check_occupancy() const {
    for (unsigned level = 0; level < kLevelCount; ++level) {
        for (unsigned slot = 0; slot < kSlotCount; ++slot) {
            const bool marked = ((occupied_[level] >> slot) & 1) != 0;
            require(marked != is_empty(Place{level, slot}.anchor()), "a slot's bit says whether it holds a timer");
        }
        const bool level_marked = ((occupied_levels_ >> level) & 1) != 0;
        require(level_marked == (occupied_[level] != 0), "a level's bit says whether it holds a timer");
    }
    require(occupied_levels_ >> kLevelCount == 0, "there is no level above the last");
}

inline void TimingWheel::check_slab(std::size_t armed) const {
    std::size_t free_linked = 0;
    for (Index index = free_; index != kNoNode; index = nodes_[index].next) {
        require(index >= kAnchorCount && index < nodes_.size(), "the free list leads to nodes");
        require(nodes_[index].state == State::free, "a node on the free list is free");
        require(++free_linked <= nodes_.size(), "the free list ends");
    }
    std::array<std::size_t, 4> counts{};
    for (Index index = kAnchorCount; index < nodes_.size(); ++index) {
        ++counts[static_cast<std::size_t>(nodes_[index].state)];
    }
    require(counts[static_cast<std::size_t>(State::free)] == free_linked, "every free node is on the free list");
    require(counts[static_cast<std::size_t>(State::armed)] == armed, "every armed node is in a list");
    require(counts[static_cast<std::size_t>(State::firing)] <= (in_sink_ ? 1U : 0U), "a timer fires only in the sink");
}

inline void TimingWheel::check_earliest() const {
    if (earliest_ == kUnknown || !is_empty(kMoving)) return;
    require(earliest_ == (occupied_levels_ == 0 ? kNever : walk_earliest_slot()),
            "the remembered earliest deadline is the earliest");
}

}  // namespace duewheel
