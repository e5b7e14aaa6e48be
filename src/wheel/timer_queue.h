// What every timer scheme of this project promises: the core wheel (duewheel/timing_wheel.h) and the schemes of the
// literature in wheel/schemes/. One suite of tests runs on whatever models this concept, so a scheme is exchanged for
// another by changing the name of a type.
//
// A timer queue keeps timers by deadline and hands them out when it is told the time. Time is a count of ticks. A
// timer is *pending* from schedule() until it fires or is cancelled; it is *late* when it was armed with a deadline at
// or before now(); the queue is *caught up* when nothing is left of what advance_to() was asked to do.
//
//     schedule(deadline, cookie)    arms a timer, whose cookie comes back when it fires. A late one fires in the next
//                                   call of advance_to() whose budget reaches it. kNever only waits to be rescheduled.
//                                   The handle names none if the deadline is after latest_deadline(), see below.
//     cancel(handle)                true: it was pending and now is gone. False: it has fired, is firing, or is gone.
//     reschedule(handle, deadline)  another deadline, earlier or later, for the same handle; also for the timer that is
//                                   firing just now. False, and nothing has changed, if it is not pending (and not
//                                   firing), or if the deadline is after latest_deadline().
//     advance_to(now, sink, budget) moves the time to `now`, never backward, and calls sink(cookie, deadline) for what
//                                   is due. Returns how many fired.
//     caught_up()                   whether that was all. What was armed late since the call began does not count.
//     next_expiry()                 when advance_to() next fires something, exactly; now() if that is at once, or when
//                                   the queue is not caught up; kNever if nothing pending can fire.
//     deadline_of(handle)           as it was asked for; nothing if the timer is not pending.
//     now(), size(), clear()        the latest time it was told; pending timers; forgets them all.
//     check()                       verifies every invariant; prints the first that does not hold and aborts.
//
// Firing. Never early; all of an earlier tick before any of a later one; inside a tick no order is promised. At most
// `budget` fire in one call; later calls go on where it stopped, losing and reordering nothing. What a late timer
// counts as due at is the tick at which it was armed; after a call that stopped, it may come earlier, with late ones
// that wait longer. The sink may call everything but advance_to(): cancel a peer due
// in the same tick, arm its own timer again, clear the queue. What it arms at or before `now` waits for the next call,
// so that no call runs for ever. If the sink throws, its timer counts as fired and the next call goes on after it.
//
// What the sink is told. The timer that fires is out: size() does not count it, and when nothing is left to do but what
// the sink itself has armed, caught_up() is true and next_expiry() exact. While something is left, caught_up() is false
// and next_expiry() is now(). That is always so when another timer is due; it may be so, too, when only timers that are
// due after `now` are still to be moved, or what is cancelled to be cleared away: next_expiry() is never after the tick
// at which something fires.
//
// Costs. n pending timers, s slots, b the timers in one slot (n / s, if they are spread evenly). `tick` is what
// advance_to() does for one tick beside firing; an arrow leads to what it costs to skip a long idle time.
//
//  scheme                    file                     schedule        cancel     tick                  next_expiry
//  unordered list            unordered_list.h         1               1          n                     n
//  ordered list              ordered_list.h           n               1          1                     1
//  binary, 4-ary heap        timer_heap.h             log n           log n      1 (log n a fire)      1
//  simple wheel              simple_wheel.h           1               1          1 -> s                s
//  hashed wheel, sorted      hashed_sorted_wheel.h    b               1          1 -> s                s
//  hashed wheel with rounds  hashed_rounds_wheel.h    1               1          b -> n                n
//  hierarchical wheel        hierarchical_wheel.h     levels          1          1 -> levels * s       levels * s + b
//  overflow wheels           overflow_wheel.h         levels + log s  log s      log s a slot          levels * b
//  non-cascading wheel       non_cascading_wheel.h    levels          1          1 -> levels * s       levels * s
//  calendar wheel            calendar_wheel.h         1               1          1 -> s                s + b
//  per-duration lanes        duration_lanes.h         log lanes       log lanes  1 (log lanes a fire)  1
//  core wheel                duewheel/timing_wheel.h  1               1          1                     1, or b once
//
// Single-owner, all of them: no two calls may overlap. A scheme throws std::bad_alloc where its memory runs out; only
// the core wheel promises that nothing has changed then.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <duewheel/timing_wheel.h>

namespace duewheel {

using TimerSink = void (*)(std::uint64_t cookie, Tick deadline);

template <class Queue>
concept TimerQueue = requires(Queue& queue, const Queue& seen, TimerHandle handle, Tick tick, std::uint64_t cookie,
                              TimerSink sink, std::size_t budget) {
    { queue.schedule(tick, cookie) } -> std::same_as<TimerHandle>;
    { queue.cancel(handle) } -> std::same_as<bool>;
    { queue.reschedule(handle, tick) } -> std::same_as<bool>;
    { queue.advance_to(tick, sink) } -> std::same_as<std::size_t>;
    { queue.advance_to(tick, sink, budget) } -> std::same_as<std::size_t>;
    { seen.caught_up() } -> std::same_as<bool>;
    { seen.next_expiry() } -> std::same_as<Tick>;
    { seen.deadline_of(handle) } -> std::same_as<std::optional<Tick>>;
    { seen.now() } -> std::same_as<Tick>;
    { seen.size() } -> std::same_as<std::size_t>;
    queue.clear();
    seen.check();
};

// Two things a scheme may say about itself. One that says nothing takes every deadline and is exact to the tick.

// The latest deadline that schedule() and reschedule() take just now, kNever aside, which all of them take.
template <TimerQueue Queue>
Tick latest_deadline(const Queue& queue) {
    if constexpr (requires { queue.latest_deadline(); }) {
        return queue.latest_deadline();
    } else {
        return kNever - 1;
    }
}

// How many ticks late a timer may fire that was armed `delay` ticks ahead, in a queue that is caught up.
template <TimerQueue Queue>
constexpr Tick lateness_max(Tick delay) {
    if constexpr (requires { Queue::lateness_max(delay); }) {
        return Queue::lateness_max(delay);
    } else {
        return 0;
    }
}

}  // namespace duewheel
