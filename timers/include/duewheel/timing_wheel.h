// A hierarchical timing wheel: keeps timers by deadline and returns them when time has advanced to it.
//
// Time is a count of ticks, of any length. schedule() returns a handle that cancels or moves the timer until it fires;
// advance_to() sets the time and reports every timer that is due, in order of ticks.
//
// Why choose it. Scheduling, moving and cancelling take constant time with any number of timers; there is no maximum
// delay; no timer is early or late by a tick; a jump over a thousand idle years visits no empty ticks; the work of one
// call can be bounded; a stale handle never refers to a later timer. It takes 32 bytes a timer in total, also after
// long use. Drawbacks: no order within one tick, and no iteration in deadline order. And either few wake-ups or short
// calls: an owner that advances every tick never handles many timers at once, but one that sleeps until next_expiry()
// moves down, in the next call, all timers that it passed; a million timers due within three seconds make that one call
// of some 14 ms. A budget gives both: with one of 1,000, the worst call takes some 0.1 ms (measured:
// bench/README.md). It reads no clock, takes no lock, starts no thread, rounds nothing and knows no
// durations.
//
// Which wheel. This one is the safe default. IdTimingWheel (id_timing_wheel.h) is faster if the caller's objects are
// already numbered 0, 1, 2, ...; IntrusiveTimingWheel (intrusive_timing_wheel.h) needs no memory of its own and is
// faster with few timers, as a member of the caller's objects. parking_levels.h explains how it works.
//
// Example:
//     TimingWheel wheel;                                     // at tick 0; here a tick is a millisecond
//     const TimerHandle request = wheel.schedule(20, 7);     // due at 20, and returns 7 then
//     const TimerHandle session = wheel.schedule(30, 8);
//     const bool stopped = wheel.cancel(request);            // the response has come in time
//     const bool moved = wheel.reschedule(session, 45);
//     assert(stopped && moved && wheel.next_expiry() == 45); // until then the caller may sleep
//     wheel.advance_to(60, [](std::uint64_t cookie, Tick deadline) { assert(cookie == 8 && deadline == 45); });
//
//     operation                 cost (n timers)
//     schedule                  O(1); sometimes it also clears up to 248 unused entries
//     cancel, reschedule        O(1), the latter as schedule
//     deadline_of, size         O(1)
//     advance_to                O(fired + moved down); a timer is moved down at most 10 times, in advance and in small
//                               portions if it is called every tick, otherwise all at once; never more than its
//                               budget; O(1) if there is nothing to do
//     next_expiry               O(1) while the result is known: until the earliest timer fires, moves or is cancelled;
//                               otherwise one scan of the earliest slot, each time: O(n) if all are due close together;
//                               two more if most of it is unused, which is cleared by that
//     memory                    24 bytes a timer and 4 for each of at most 1.75 entries of it; 50 KiB for an empty
//                               wheel, beside its first 8,192 timers' 192 KiB, and 256 bytes for each slot in use;
//                               grows by 8,192 timers or 64 times 256 bytes, is reused, never shrinks
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <duewheel/parking_levels.h>
#include <duewheel/tick.h>

namespace duewheel {

// Identifies one timer of one wheel, from schedule() until it fires or is cancelled. Afterwards the handle is refused,
// even if the memory of the timer is used by another one. A default handle identifies none.
struct TimerHandle {
    std::uint64_t bits = 0;  // generation << 32 | index; can be stored and restored

    explicit operator bool() const { return bits != 0; }
    friend bool operator==(TimerHandle, TimerHandle) = default;
};

// Single-owner: no two calls may overlap, including const ones. Neither copyable nor movable, because handles belong to
// one wheel.
//
// Three terms: a timer is *late* if it was scheduled with a deadline at or before now(); it is *pending* from
// scheduling until it fires or is cancelled; the wheel is *caught up* if advance_to() has no work left.
class TimingWheel {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kTimersMax = kTimerIndexMax;

    explicit TimingWheel(Tick now = 0) : levels_(now) {}
    TimingWheel(const TimingWheel&) = delete;
    TimingWheel& operator=(const TimingWheel&) = delete;

    // Schedules a timer. `cookie` is any value of the caller, and is returned when it fires. A late timer fires in the
    // next advance_to() whose budget reaches it; with kNever it only waits to be rescheduled or cancelled. For sums of
    // time and delay see tick_after(). For a timer that may be a little late, so that the owner wakes up less often,
    // use schedule(relaxed_tick(deadline, slack), cookie); that later tick is then its deadline, for the sink too.
    // Throws std::bad_alloc, or std::length_error beyond kTimersMax; then the timer is not scheduled.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie);

    // True if the timer was pending and is cancelled; false if it has fired (or is firing) or was cancelled earlier.
    [[nodiscard]] bool cancel(TimerHandle handle);

    // The same without a result, for a handle that is not used any more: the timer never fires, but it is processed up
    // to 16 such calls later, or with the next advance_to(), next_expiry(), deadline_of() or pending(), when its memory
    // has been prefetched; size() counts it until then. Faster if timers are cancelled in random order among a
    // million.
    void cancel_posted(TimerHandle handle);

    // Changes the deadline of a pending timer, to earlier or later; handle and cookie stay. False if it is not pending.
    // Inside the sink, the firing timer can be scheduled again this way, and keeps its handle: this makes periodic
    // timers that can be cancelled at any moment. Throws std::bad_alloc; then nothing has changed.
    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline);

    // Advances the time of the wheel to `now` (a time before now() counts as now()) and calls sink(cookie, deadline)
    // for every timer due by then, with its original deadline, never before it. Returns how many fired.
    //
    // Order: all timers of an earlier tick before those of a later one; undefined within a tick. A late timer fires
    // before every timer due after the tick that now() was when it was scheduled. After a call that stopped at its
    // budget it may also fire before timers due by that tick, together with the late ones that have waited longer.
    //
    // Budget: at most `budget` timers are touched, that is fired, moved down or cleared. If that is not enough, the
    // call stops, caught_up() is false, and further calls, with the same time or a later one, continue without losing
    // or reordering timers. A call may use its budget and fire none: check caught_up(), not the returned count. A loop
    // that sleeps passes a budget if no call may be long, and calls again until it is caught up. With less than 62,
    // nothing is moved down in advance, so that one tick may take many calls.
    //
    // The sink may schedule, reschedule and cancel any timer, including others due in the same tick, and may clear().
    // Timers that it schedules at or before `now` are late and wait for the next call, so a call fires no more timers
    // than were pending when it started. It must not call advance_to() or destroy the wheel. now() in the sink is the
    // time of this call.
    //
    // If the sink throws, its timer counts as fired (or as scheduled again, if it was), the exception passes through,
    // and the next call continues with the timer after it. Throws std::bad_alloc if there is no memory to move timers
    // down; the next call continues there too, and nothing is lost.
    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);

    // A timer that fired: its cookie, its deadline.
    struct Fired {
        std::uint64_t cookie;
        Tick deadline;

        friend bool operator==(const Fired&, const Fired&) = default;
    };

    // The same with a list: writes fired timers into `fired` and stops when it is full. Returns the number written; if
    // caught_up() is false there may be more.
    std::size_t advance_to(Tick now, std::span<Fired> fired);

    // Whether the last advance_to() finished. Timers scheduled late since it started do not count, so a loop "until
    // caught up" ends even if every timer schedules itself again at once. Inside the sink, where the firing timer is
    // already removed: true if this call has no more work. It is also false if the only remaining work is moving down
    // or clearing timers; next_expiry() is now() then, so both are bounds from below.
    [[nodiscard]] bool caught_up() const { return levels_.caught_up(); }

    // When advance_to() next has something to fire: the exact earliest deadline, or now() if a timer is late or the
    // wheel is not caught up; never before now(). kNever if no timer can fire. A loop that sleeps until then does not
    // wake up for cancelled or moved timers, nor for moving timers down in advance, which is left to the call that
    // fires. Inside the sink see caught_up(). Without memory it scans every timer.
    [[nodiscard]] Tick next_expiry() const;

    // A time at which advance_to() may have something to fire: never after next_expiry(), at worst the start of the
    // first used slot. Always O(1): for a loop whose earliest timer is cancelled often, at the price of some wake-ups
    // that fire nothing. It does not spread the moving down either: that starts before the slot does.
    [[nodiscard]] Tick next_work() const { return levels_.next_work(); }

    // The latest time passed to advance_to(), or to the constructor.
    [[nodiscard]] Tick now() const { return levels_.now(); }

    // Pending timers, including those that never fire.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    // The original deadline; none if the timer is not pending.
    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const;

    // A pending timer as a value, which can be stored and scheduled again.
    struct Pending {
        Tick deadline;
        std::uint64_t cookie;
        TimerHandle handle;
    };

    // All pending timers in order of deadlines. O(n log n). To move them to another wheel, schedule each.
    [[nodiscard]] std::vector<Pending> pending() const;

    // For pictures of a wheel: calls visit(level, start, timers) for each slot that pending timers are in, where
    // `start` is its first tick and a slot of level L has 64^L ticks; then returns how many are in none, because they
    // are late or are being moved down. Those that never fire are not counted. O(timers).
    template <std::invocable<unsigned, Tick, std::size_t> Visit>
    std::size_t visit_slots(Visit&& visit) const;

    // Reserves memory for `timers` pending timers in total; only slots may allocate after that.
    // Throws like schedule().
    void reserve(std::size_t timers);

    // Removes all timers without firing them; their handles are refused from now on. Time and memory stay.
    void clear();

    // Total memory, including reserves.
    [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) - sizeof(levels_) + levels_.memory_bytes(); }

    // The number of timers and old entries that all calls together have visited to insert, fire, move down or clear:
    // the unit of the bounds in the tests.
    [[nodiscard]] std::uint64_t touched() const { return levels_.touched(); }

    // Verifies every invariant in O(n); prints the first violated one and aborts, in all builds.
    void check() const;

  private:
    friend struct TimingWheelProbe;  // lets the tests corrupt a wheel and age a generation

    struct Node {
        static constexpr std::size_t kEntriesPerNode = 7;  // in quarters

        std::uint32_t place;
        std::uint32_t generation;
        Tick deadline;         // kNever if not scheduled
        std::uint64_t cookie;  // of a free node, the next free one
    };
    static_assert(sizeof(Node) == 24);

    // Ends the firing of one timer in any case: frees it unless the sink scheduled it again.
    class Firing {
      public:
        Firing(TimingWheel& wheel, TimerIndex timer) : wheel_(wheel) { wheel_.firing_ = timer; }
        Firing(const Firing&) = delete;
        Firing& operator=(const Firing&) = delete;
        ~Firing() {
            if (wheel_.firing_ != kNoTimer) wheel_.release(wheel_.firing_);
            wheel_.firing_ = kNoTimer;
        }

      private:
        TimingWheel& wheel_;
    };

    static constexpr std::size_t kPostedMax = 16;  // a power of two

    static TimerIndex index_of(TimerHandle handle) { return static_cast<TimerIndex>(handle.bits); }
    bool names_node(TimerHandle handle) const;
    bool is_pending(const Node& node) const { return node.deadline != kNever || levels_.is_asleep(node); }
    void add_free_node();
    void release(TimerIndex timer);
    void arm(TimerIndex timer, Node& node, Tick deadline);
    void cancel_what_was_posted();
    void carry_out_what_was_posted() const;
    template <class Sink>
    std::size_t advance(Tick now, Sink& sink, std::size_t budget, std::size_t fired_max);

    ParkingLevels<Node> levels_;
    std::size_t size_ = 0;
    TimerIndex free_ = kNoTimer;
    TimerIndex firing_ = kNoTimer;  // its sink runs, and has not scheduled it again
    bool some_posted_ = false;
    unsigned posted_next_ = 0;
    std::array<TimerHandle, kPostedMax> posted_{};  // a ring of those to cancel; default ones identify none
};

// Whether the handle has the generation of its node. Node 0, that of a default handle, and retired nodes have
// generation 0 and are never pending.
inline bool TimingWheel::names_node(TimerHandle handle) const {
    const TimerIndex timer = index_of(handle);
    return timer < levels_.node_count() && levels_[timer].generation == handle.bits >> 32;
}

inline void TimingWheel::add_free_node() {
    if (levels_.node_count() > kTimersMax) {
        throw std::length_error("TimingWheel: more timers than an index can name");
    }
    free_ = levels_.add_node();
    levels_[free_].generation = 1;
    levels_[free_].cookie = kNoTimer;
}

// For a node that is not scheduled. One without unused generations is retired: 24 bytes once in four billion uses, and
// no stale handle can ever match.
inline void TimingWheel::release(TimerIndex timer) {
    Node& node = levels_[timer];
    if (++node.generation == 0) [[unlikely]]
        return;
    node.cookie = free_;
    free_ = timer;
}

inline void TimingWheel::arm(TimerIndex timer, Node& node, Tick deadline) {
    if (deadline != kNever) [[likely]]
        return levels_.arm(timer, node, deadline);
    levels_.put_to_sleep(node);
}

inline TimerHandle TimingWheel::schedule(Tick deadline, std::uint64_t cookie) {
    if (free_ == kNoTimer) [[unlikely]]
        add_free_node();
    const TimerIndex timer = free_;
    Node& node = levels_[timer];
    const TimerHandle handle{std::uint64_t{node.generation} << 32 | timer};
    arm(timer, node, deadline);  // or there is no memory, and the node stays free
    free_ = static_cast<TimerIndex>(node.cookie);
    node.cookie = cookie;
    ++size_;
    return handle;
}

inline bool TimingWheel::cancel(TimerHandle handle) {
    if (!names_node(handle)) return false;
    const TimerIndex timer = index_of(handle);
    Node& node = levels_[timer];
    if (node.deadline == kNever) [[unlikely]] {
        if (!levels_.is_asleep(node)) return false;  // it is firing, or was never used
        levels_.awake(node);
    }
    levels_.disarm(node);
    release(timer);
    --size_;
    return true;
}

inline void TimingWheel::cancel_posted(TimerHandle handle) {
    if (index_of(handle) >= levels_.node_count()) return;
    if (levels_.is_advancing()) {  // it may be due in this call
        static_cast<void>(cancel(handle));
        return;
    }
    levels_.prefetch(index_of(handle));
    some_posted_ = true;
    const TimerHandle due = std::exchange(posted_[posted_next_], handle);
    posted_next_ = (posted_next_ + 1) % kPostedMax;
    static_cast<void>(cancel(due));
}

inline void TimingWheel::cancel_what_was_posted() {
    some_posted_ = false;
    for (TimerHandle& handle : posted_) static_cast<void>(cancel(std::exchange(handle, TimerHandle{})));
}

inline bool TimingWheel::reschedule(TimerHandle handle, Tick deadline) {
    if (!names_node(handle)) return false;
    const TimerIndex timer = index_of(handle);
    Node& node = levels_[timer];
    const bool is_firing = !is_pending(node);
    if (is_firing && (timer != firing_ || timer == kNoTimer)) [[unlikely]]
        return false;
    arm(timer, node, deadline);
    if (is_firing) [[unlikely]] {
        firing_ = kNoTimer;
        ++size_;
    }
    return true;
}

template <class Sink>
std::size_t TimingWheel::advance(Tick now, Sink& sink, std::size_t budget, std::size_t fired_max) {
    if (some_posted_) cancel_what_was_posted();
    const auto fire = [&](TimerIndex timer, Tick deadline) {
        --size_;
        const Firing firing(*this, timer);
        sink(std::uint64_t{levels_[timer].cookie}, deadline);
    };
    return levels_.advance_to(now, fire, budget, fired_max);
}

template <std::invocable<const std::uint64_t&, const Tick&> Sink>
std::size_t TimingWheel::advance_to(Tick now, Sink&& sink, std::size_t budget) {
    return advance(now, sink, budget, kUnlimited);
}

inline std::size_t TimingWheel::advance_to(Tick now, std::span<Fired> fired) {
    Fired* next = fired.data();
    const auto sink = [&next](std::uint64_t cookie, Tick deadline) { *next++ = Fired{cookie, deadline}; };
    return advance(now, sink, kUnlimited, fired.size());
}

// For its owner the wheel is unchanged by a query: pending orders are executed or entries moved, which was to happen
// anyway. A const wheel has no pending orders.
inline void TimingWheel::carry_out_what_was_posted() const {
    if (some_posted_) const_cast<TimingWheel&>(*this).cancel_what_was_posted();
}

inline Tick TimingWheel::next_expiry() const {
    carry_out_what_was_posted();
    return const_cast<TimingWheel&>(*this).levels_.next_expiry();
}

inline std::optional<Tick> TimingWheel::deadline_of(TimerHandle handle) const {
    carry_out_what_was_posted();
    if (!names_node(handle) || !is_pending(levels_[index_of(handle)])) return std::nullopt;
    return levels_[index_of(handle)].deadline;
}

inline std::vector<TimingWheel::Pending> TimingWheel::pending() const {
    carry_out_what_was_posted();
    std::vector<Pending> all;
    all.reserve(size_);
    for (std::size_t index = 1; index < levels_.node_count(); ++index) {
        const auto timer = static_cast<TimerIndex>(index);
        const Node& node = levels_[timer];
        const TimerHandle handle{std::uint64_t{node.generation} << 32 | timer};
        if (is_pending(node)) all.push_back(Pending{node.deadline, node.cookie, handle});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Pending& a, const Pending& b) { return a.deadline < b.deadline; });
    return all;
}

template <std::invocable<unsigned, Tick, std::size_t> Visit>
std::size_t TimingWheel::visit_slots(Visit&& visit) const {
    carry_out_what_was_posted();
    return levels_.visit_slots(visit);
}

inline void TimingWheel::reserve(std::size_t timers) {
    if (timers > kTimersMax) throw std::length_error("TimingWheel: more timers than an index can name");
    levels_.reserve(timers);
}

inline void TimingWheel::clear() {
    posted_.fill(TimerHandle{});
    for (std::size_t index = 1; index < levels_.node_count(); ++index) {
        const auto timer = static_cast<TimerIndex>(index);
        Node& node = levels_[timer];
        if (!is_pending(node) && timer != firing_) continue;
        levels_.disarm(node);
        release(timer);
    }
    firing_ = kNoTimer;
    size_ = 0;
    levels_.reset();
}

inline void TimingWheel::check() const {
    levels_.check();
    std::vector<bool> is_free(levels_.node_count(), false);
    std::size_t free_nodes = 0;
    for (TimerIndex timer = free_; timer != kNoTimer; timer = static_cast<TimerIndex>(levels_[timer].cookie)) {
        require_of_wheel(timer < levels_.node_count(), "the free list leads to nodes");
        require_of_wheel(!is_free[timer], "the free list ends");
        require_of_wheel(!is_pending(levels_[timer]), "a node on the free list is not pending");
        is_free[timer] = true;
        ++free_nodes;
    }
    std::size_t pending_nodes = 0;
    std::size_t retired_nodes = 0;
    for (std::size_t index = 1; index < levels_.node_count(); ++index) {
        const Node& node = levels_[static_cast<TimerIndex>(index)];
        pending_nodes += is_pending(node);
        retired_nodes += node.generation == 0;
    }
    require_of_wheel(pending_nodes == size_, "the size is the number of pending timers");
    const std::size_t firing_nodes = firing_ == kNoTimer ? 0 : 1;
    require_of_wheel(pending_nodes + free_nodes + retired_nodes + firing_nodes + 1 == levels_.node_count(),
                     "every node is pending, free, firing or retired");
}

}  // namespace duewheel
