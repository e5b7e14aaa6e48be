// The effects of feeds and firings on a watchdog: pure functions, without the engine.
//
//     timeout 30 s, max 2 min, repeat_every 1 min; fed at 0:00, 0:20, 0:45
//     0:45  due at 1:15: the last feed and 30 s. Fed every 20 s, it would fire at 2:00: the first feed and 2 min
//     1:15  fires. No feed has come since, so it is due again at 2:15, 3:15 and so on
//     4:00  fed: due at 4:30, and the two minutes count from here
//
// A feed counts from the instant at which it is decided. A feed that comes when the watchdog is due, even at that exact
// instant, is too late: the message is overdue, and is created anyway.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "message/watchdog_state.h"

namespace duewheel {

// It is due, and its message is not created yet.
inline bool is_due(const WatchdogState& state, DueMs now) {
    return state.due_ms != 0 && state.due_ms <= now;
}
inline bool has_to_fire(const WatchdogState& state, DueMs now) {
    return state.owed_ms != 0 || is_due(state, now);
}

// When it fires by its rule, its last feed and its last firing; 0: it sleeps.
inline DueMs due_by_rule(const WatchdogState& state) {
    const WatchdogRule& rule = state.rule;
    if (state.first_fed_ms == 0) return rule.repeat_every_ms == 0 ? 0 : state.last_due_ms + rule.repeat_every_ms;
    const DueMs due = state.fed_ms + rule.timeout_ms;
    return rule.max_ms == 0 ? due : std::min(due, state.first_fed_ms + rule.max_ms);
}

// Whether a feed at `now` is too late: it was due or has fired since the previous feed.
inline bool is_late_to_feed(const WatchdogState& state, DueMs now) {
    return state.first_fed_ms == 0 || is_due(state, now);
}

// Times of `repeat_every` that have passed, beside the one at which it is due.
inline std::int64_t passed_beside(const WatchdogState& state, DueMs now) {
    assert(is_due(state, now));
    return state.rule.repeat_every_ms == 0 ? 0 : (now - state.due_ms) / state.rule.repeat_every_ms;
}

// One message represents all times before it.
inline void feed(WatchdogState& state, DueMs now) {
    if (is_due(state, now)) {
        state.merged += static_cast<std::uint64_t>(passed_beside(state, now));
        if (state.owed_ms == 0) {
            state.owed_ms = state.due_ms;
            state.owed_fed_ms = state.fed_ms;
        } else {
            ++state.merged;
        }
        state.first_fed_ms = 0;
    }
    state.fed_ms = now;
    if (state.first_fed_ms == 0) state.first_fed_ms = now;
    ++state.feeds;
    state.due_ms = due_by_rule(state);
}

// Another rule: times that have passed by the old one stay; everything else follows the new one, and is never past.
inline void set_rule(WatchdogState& state, WatchdogRule rule, DueMs now) {
    const bool has_same_times = rule.timeout_ms == state.rule.timeout_ms && rule.max_ms == state.rule.max_ms &&
                                rule.repeat_every_ms == state.rule.repeat_every_ms;
    const std::int64_t again_before = state.rule.repeat_every_ms;
    state.rule = std::move(rule);
    if (has_same_times || is_due(state, now)) return;
    DueMs due = due_by_rule(state);
    // The last one of the times that have passed counts.
    const bool goes_on = state.first_fed_ms == 0 && again_before != 0 && state.rule.repeat_every_ms != 0;
    if (goes_on) due = state.due_ms - again_before + state.rule.repeat_every_ms;
    state.due_ms = due == 0 ? 0 : std::max(due, now);
}

struct Firing {
    DueMs due_ms = 0;
    DueMs fed_ms = 0;  // the last feed before
    std::uint64_t number = 0;
};

// Takes the message to be created. Of several passed times of `repeat_every`, one message represents all.
inline Firing next_firing(WatchdogState& state, DueMs now) {
    assert(has_to_fire(state, now));
    Firing firing{state.due_ms, state.fed_ms, ++state.fired};
    if (state.owed_ms != 0) {
        firing.due_ms = state.owed_ms;
        firing.fed_ms = state.owed_fed_ms;
        state.owed_ms = state.owed_fed_ms = 0;
    } else {
        const std::int64_t passed = passed_beside(state, now);
        const std::int64_t again = state.rule.repeat_every_ms;
        state.merged += static_cast<std::uint64_t>(passed);
        state.first_fed_ms = 0;
        state.due_ms = again == 0 ? 0 : firing.due_ms + (passed + 1) * again;
    }
    state.last_due_ms = firing.due_ms;
    return firing;
}

}  // namespace duewheel
