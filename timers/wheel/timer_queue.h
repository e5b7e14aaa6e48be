// The interface of every timer scheme of this project: the core wheel (duewheel/timing_wheel.h) and the schemes of the
// literature in wheel/schemes/. One test suite runs on all models of this concept, so a scheme is exchanged for another
// by changing the name of a type.
//
// A timer queue keeps timers by deadline and returns them when time has advanced to it. Time is a count of ticks. A
// timer is *pending* from schedule() until it fires or is cancelled; it is *late* if it was scheduled with a deadline
// at or before now(); the queue is *caught up* if advance_to() has no work left.
//
//     schedule(deadline, cookie)    schedules a timer, whose cookie is returned when it fires. A late one fires in the
//                                   next advance_to() whose budget reaches it. kNever only waits to be rescheduled.
//                                   The handle is empty if the deadline is after latest_deadline(), see below.
//     cancel(handle)                true: it was pending and is cancelled. False: it has fired, is firing, or is gone.
//     reschedule(handle, deadline)  another deadline, earlier or later, for the same handle; also for the timer that is
//                                   firing now. False, and nothing has changed, if it is not pending (and not
//                                   firing), or if the deadline is after latest_deadline().
//     advance_to(now, sink, budget) advances the time to `now`, never back, and calls sink(cookie, deadline) for each
//                                   due timer. Returns how many fired.
//     caught_up()                   whether that was all. Timers scheduled late since the call do not count.
//     next_expiry()                 when advance_to() next fires a timer, exactly; now() if that is at once, or if
//                                   the queue is not caught up; kNever if nothing pending can fire.
//     deadline_of(handle)           the original one; none if the timer is not pending.
//     now(), size(), clear()        the latest time passed to it; pending timers; removes all.
//     check()                       verifies every invariant; prints the first violated one and aborts.
//
// Firing. Never early; all timers of an earlier tick before those of a later one; undefined within a tick. At most
// `budget` fire in one call; later calls continue without losing or reordering timers. A late timer counts as due at
// the tick at which it was scheduled; after a call that stopped, it may come earlier, with late ones that have waited
// longer. The sink may call everything except advance_to(): cancel another timer due in the same tick, schedule its own
// timer again, clear the queue. Timers that it schedules at or before `now` wait for the next call, so that every call
// ends. If the sink throws, its timer counts as fired and the next call continues.
//
// Inside the sink. The firing timer is removed: size() does not count it, and if only timers that the sink itself has
// scheduled are left, caught_up() is true and next_expiry() exact. While other work is left, caught_up() is false and
// next_expiry() is now(). That is always so if another timer is due; it can also be so if only timers due after `now`
// are still to be moved, or cancelled ones to be cleared: next_expiry() is never after the tick at which
// a timer fires.
//
// Costs. n pending timers, s slots, b the timers in one slot (n / s, if they are spread evenly). `tick` is the cost of
// advance_to() for one tick without firing; an arrow leads to the cost of skipping a long idle time.
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
// All are single-owner: no two calls may overlap. A scheme throws std::bad_alloc if it runs out of memory; only the
// core wheel guarantees that nothing has changed then.
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

// Two optional properties of a scheme. Without them it accepts every deadline and is exact to the tick.

// The latest deadline that schedule() and reschedule() accept now, except kNever, which all of them accept.
template <TimerQueue Queue>
Tick latest_deadline(const Queue& queue) {
    if constexpr (requires { queue.latest_deadline(); }) {
        return queue.latest_deadline();
    } else {
        return kNever - 1;
    }
}

// The maximum lateness in ticks of a timer that was scheduled `delay` ticks ahead, in a queue that is caught up.
template <TimerQueue Queue>
constexpr Tick lateness_max(Tick delay) {
    if constexpr (requires { Queue::lateness_max(delay); }) {
        return Queue::lateness_max(delay);
    } else {
        return 0;
    }
}

}  // namespace duewheel
