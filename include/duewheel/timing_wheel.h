// A hierarchical timing wheel: keeps timers by deadline and hands them out when it is told the time.
//
// Time is a count of ticks, whatever a tick means to the owner. schedule() gives a handle, which cancels or moves the
// timer until it fires; advance_to() says what the time is and gets every timer that is due, in order of ticks.
//
// Why choose it. Arming, moving and cancelling are constant time however many timers wait; there is no longest delay;
// nothing is ever early or late by a tick; a jump over a thousand idle years walks no empty ticks; one call's work
// can be bounded; a handle is never mistaken for a later timer's. It takes 32 bytes a timer with everything, also after
// long use. What it gives up: the order inside one tick, and iteration in deadline order. And either few wake-ups or
// short calls: an owner who advances every tick never pays for a crowd at once, but one who sleeps until next_expiry()
// moves down, in the call after it, all that he slept past; a million timers due within three seconds make that one
// call of some 14 ms. With a budget he has both: of 1,000, the worst call takes some 0.1 ms (measured:
// bench/README.md). What it refuses: it reads no clock, takes no lock, starts no thread, rounds nothing and knows
// nothing of durations.
//
// Which front. This one is the safe default. IdTimingWheel (id_timing_wheel.h) is faster where the caller already
// counts its objects 0, 1, 2, ...; IntrusiveTimingWheel (intrusive_timing_wheel.h) needs no memory of its own and is
// faster with few timers, as a member of the caller's objects. How it works inside: parking_levels.h.
//
// Example:
//     TimingWheel wheel;                                     // at tick 0; here a tick is a millisecond
//     const TimerHandle request = wheel.schedule(20, 7);     // due at 20, and 7 comes back
//     const TimerHandle session = wheel.schedule(30, 8);
//     const bool stopped = wheel.cancel(request);            // the answer has come in time
//     const bool moved = wheel.reschedule(session, 45);
//     assert(stopped && moved && wheel.next_expiry() == 45); // until then the caller may sleep
//     wheel.advance_to(60, [](std::uint64_t cookie, Tick deadline) { assert(cookie == 8 && deadline == 45); });
//
//     operation                 cost (n timers)
//     schedule                  O(1); now and then it also clears away up to 248 entries that are of no more use
//     cancel, reschedule        O(1), the latter as schedule
//     deadline_of, size         O(1)
//     advance_to                O(fired + moved down); a timer is moved down at most 10 times, ahead of time and in
//                               small shares if it is called every tick, else all at once; never more than its
//                               budget; O(1) when nothing is to be done
//     next_expiry               O(1) while the answer is known: until the earliest timer fires, moves or is cancelled;
//                               else one reading of the earliest slot, each time: O(n) if all are due near together;
//                               two more when most of it is of no use, which is cleared away by that
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

// Names one timer of one wheel, from schedule() until it fires or is cancelled. Afterwards the handle is refused, also
// when the memory of the timer serves another one. A default handle names none.
struct TimerHandle {
    std::uint64_t bits = 0;  // generation << 32 | index; may be stored and brought back as it is

    explicit operator bool() const { return bits != 0; }
    friend bool operator==(TimerHandle, TimerHandle) = default;
};

// Single-owner: no two calls may overlap, const ones included. Neither copied nor moved, as handles belong to one
// wheel.
//
// Three words: a timer is *late* when it was armed with a deadline at or before now(); it is *pending* from arming
// until it fires or is cancelled; the wheel is *caught up* when nothing is left of what advance_to() was asked to do.
class TimingWheel {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kTimersMax = kTimerIndexMax;

    explicit TimingWheel(Tick now = 0) : levels_(now) {}
    TimingWheel(const TimingWheel&) = delete;
    TimingWheel& operator=(const TimingWheel&) = delete;

    // Arms a timer. `cookie` is the caller's and comes back when it fires. A late timer fires in the next call of
    // advance_to() whose budget reaches it; kNever makes one that only waits to be rescheduled or cancelled. For sums
    // of time and delay see tick_after(); for a timer that may be a little late, so that the owner wakes less often,
    // schedule(relaxed_tick(deadline, slack), cookie); that later tick is its deadline then, for the sink too.
    // Throws std::bad_alloc, or std::length_error beyond kTimersMax; then the timer is not armed.
    TimerHandle schedule(Tick deadline, std::uint64_t cookie);

    // True when the timer was pending and now is gone; false when it has fired (or is firing) or was cancelled before.
    [[nodiscard]] bool cancel(TimerHandle handle);

    // The same for a caller who does not ask, and who uses the handle no more: the timer never fires, but it is looked
    // at up to 16 such calls later, or with the next advance_to(), next_expiry(), deadline_of() or pending(), when it
    // has come nearer to the processor; size() counts it until then. Faster where timers are cancelled in no order
    // among a million.
    void cancel_posted(TimerHandle handle);

    // Gives a pending timer another deadline, earlier or later; handle and cookie stay. False when it is not pending.
    // Inside the sink the timer that is firing can be armed again this way too, and keeps its handle: the way to make
    // periodic timers that can be cancelled at any moment. Throws std::bad_alloc; then nothing has changed.
    [[nodiscard]] bool reschedule(TimerHandle handle, Tick deadline);

    // Moves the wheel's time to `now` (a time before now() counts as now()) and calls sink(cookie, deadline) for every
    // timer due by then, with the deadline as it was asked for, never before it. Returns how many fired.
    //
    // Order: all of an earlier tick before any of a later one; inside a tick, none is promised. A late timer comes
    // before every timer due after the tick now() showed when it was armed. After a call that stopped at its budget it
    // may also come before timers due by that tick: it goes with the late ones that wait longer.
    //
    // Budget: at most `budget` timers are touched, that is fired, moved down or cleared away. If that is not enough the
    // call stops where it is, caught_up() is false, and further calls, with the same time or a later one, go on from
    // there, losing and reordering nothing. A call may use up its budget and fire none: ask caught_up(), not the
    // returned count. A loop that sleeps gives one if no call may be long, and calls again until it is caught up. Below
    // 62 nothing is moved down ahead of time, so that a tick may take many calls.
    //
    // The sink may schedule, reschedule and cancel any timer, peers due in the same tick included, and may clear().
    // What it arms at or before `now` is late and waits for the next call, so a call fires no more timers than were
    // pending when it began. It must not call advance_to() nor destroy the wheel. now() in the sink is this call's
    // time.
    //
    // If the sink throws, its timer counts as fired (or armed again, if it was), the exception passes through, and the
    // next call goes on with the timer after it. Throws std::bad_alloc when there is no memory to move timers down; the
    // next call goes on there too, and nothing is lost.
    template <std::invocable<const std::uint64_t&, const Tick&> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);

    // A timer that fired: its cookie, its deadline.
    struct Fired {
        std::uint64_t cookie;
        Tick deadline;

        friend bool operator==(const Fired&, const Fired&) = default;
    };

    // The same for a caller who would rather have a list: writes what fires into `fired` and stops when it is full.
    // Returns how many it wrote; if caught_up() is false there may be more.
    std::size_t advance_to(Tick now, std::span<Fired> fired);

    // Whether the last advance_to() finished. Timers armed late since it began do not count, so a loop "until caught
    // up" ends even if every timer arms itself again at once. Inside the sink, where the timer that fires is out
    // already: true when this call has nothing left to do. It is false also when all that is left is moving timers down
    // or clearing away what is cancelled, and next_expiry() is now() then; so there both are bounds from below.
    [[nodiscard]] bool caught_up() const { return levels_.caught_up(); }

    // The time at which advance_to() next has something to fire: the earliest deadline, exactly, or now() if a timer is
    // late or the wheel is not caught up; never before now(). kNever when no timer can fire. A loop that sleeps until
    // then wakes for no cancelled timer and for none that was moved away; nor for moving timers down ahead of time,
    // which is left to the call that fires. Inside the sink see caught_up(). Without memory it looks at every timer.
    [[nodiscard]] Tick next_expiry() const;

    // A time at which advance_to() may have something to fire: never after next_expiry(), at worst the beginning of the
    // first slot in use. O(1) always: for a loop whose earliest timer is cancelled often, at the price of a few
    // wake-ups that fire nothing. It does not spread the moving down either: that begins before the slot does.
    [[nodiscard]] Tick next_work() const { return levels_.next_work(); }

    // The latest time advance_to() was given, or the constructor's.
    [[nodiscard]] Tick now() const { return levels_.now(); }

    // Pending timers, those that never fire included.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    // The deadline as it was asked for; nothing if the timer is not pending.
    [[nodiscard]] std::optional<Tick> deadline_of(TimerHandle handle) const;

    // A pending timer as a value, to be kept elsewhere and scheduled again.
    struct Pending {
        Tick deadline;
        std::uint64_t cookie;
        TimerHandle handle;
    };

    // All pending timers in order of deadlines. O(n log n). To import them into another wheel, schedule each.
    [[nodiscard]] std::vector<Pending> pending() const;

    // Makes room for `timers` pending timers in all; only the slots that they come to lie in may ask for memory then.
    // Throws like schedule().
    void reserve(std::size_t timers);

    // Forgets all timers without firing them; their handles are refused from now on. Time and memory stay.
    void clear();

    // Everything the wheel occupies, spare room included.
    [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) - sizeof(levels_) + levels_.memory_bytes(); }

    // How many timers and old entries of timers all calls together have looked at to file, fire, move down or clear
    // away: what the bounds of the tests are stated in.
    [[nodiscard]] std::uint64_t touched() const { return levels_.touched(); }

    // Verifies every invariant in O(n); on the first that does not hold, prints which and aborts, in all builds.
    void check() const;

  private:
    friend struct TimingWheelProbe;  // lets the tests damage a wheel and age a generation

    struct Node {
        static constexpr std::size_t kEntriesPerNode = 7;  // in quarters

        std::uint32_t place;
        std::uint32_t generation;
        Tick deadline;         // kNever while not armed
        std::uint64_t cookie;  // of a free node, the next free one
    };
    static_assert(sizeof(Node) == 24);

    // Ends the firing of one timer however the sink ends: frees it unless the sink armed it again.
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
    TimerIndex firing_ = kNoTimer;  // its sink runs, and has not armed it again
    bool some_posted_ = false;
    unsigned posted_next_ = 0;
    std::array<TimerHandle, kPostedMax> posted_{};  // a ring of those to cancel; default ones name none
};

// Whether the handle has the generation of its node. Node 0, which a default handle names, and retired nodes have
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

// Of a node that is disarmed. One whose generations are used up is given away for good: 24 bytes once in four billion
// uses, and no stale handle can ever match.
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
        if (!levels_.is_asleep(node)) return false;  // it is firing, or was never given out
        levels_.awake(node);
    }
    levels_.disarm(node);
    release(timer);
    --size_;
    return true;
}

inline void TimingWheel::cancel_posted(TimerHandle handle) {
    if (index_of(handle) >= levels_.node_count()) return;
    if (levels_.is_advancing()) {  // it may be due in this very pass
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

// To its owner the wheel is the same after a question: what is carried out or filed elsewhere was to be so anyway. A
// wheel that is const itself has nothing pending.
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
