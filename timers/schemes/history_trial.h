// One history of a timer queue, judged step by step.
//
// A History is plain data: steps, and what the sinks do. It says "a deadline at the edge of a slot" or "the third of
// the pending timers" rather than numbers, so that a history still means something when a shrinker takes steps out of
// it. The trial carries it out on a queue, and on the judge, an ordered list in its plainest form, which holds what is
// pending by the tick at which each timer's turn is. They must agree on every answer. The queue checks itself after
// every step and at every firing.
//
// The judge shares nothing with the schemes, so that a mistake they have in common is found as well.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "schemes/tested_schemes.h"
#include "wheel/timer_queue.h"

namespace duewheel {

struct TimerOperation {
    enum class Kind : std::uint8_t {
        schedule,
        cancel,
        reschedule,
        reschedule_firing,  // the timer whose sink runs; elsewhere like reschedule
        refuse_dead_handle,
        advance,
        advance_with_budget,
        advance_to_next,  // to the tick before the next expiry, where nothing may fire, and then to it
        clear,
    };
    static constexpr std::uint64_t kKinds = 9;
    static constexpr std::uint64_t kShapes = 11;

    Kind kind = Kind::schedule;
    std::uint64_t shape = 0;   // below kShapes: what sort of time
    std::uint64_t amount = 0;  // how much of it
    std::uint64_t which = 0;   // which of the pending timers, or which budget
};

struct History {
    Tick start = 0;
    std::vector<TimerOperation> steps;
    std::vector<std::vector<TimerOperation>> sinks;  // what the first, second, ... firing does; later ones do nothing
};

// What a queue did that it must not do, or did not do.
class Disagreement : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

// Carries the history out on a fresh queue. Throws Disagreement where queue and judge differ.
void try_history(const TestedScheme& scheme, const History& history);

}  // namespace duewheel
