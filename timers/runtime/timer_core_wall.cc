// Timers at instants of the wall clock, inside a timer service: they are in the wheel at the tick at which the wall
// clock will show their instant if it is not set, and in a list, in case it is.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/timer_core.h"

namespace duewheel {
namespace {

using std::chrono::milliseconds;

// Clocks that are synchronized run a little fast or slow; that is followed, and is not a jump.
constexpr milliseconds kFollowed(2);
constexpr milliseconds kJump(1000);

// Too little for any reaction.
bool is_followed(milliseconds moved) {
    return std::abs(moved.count()) < kFollowed.count();
}

milliseconds ahead_of(TimerInstant now, Instant wall_now) {
    return wall_now.time_since_epoch() - std::chrono::floor<milliseconds>(now.time_since_epoch());
}

// Not beyond the ends of the axis: a timer that is never due stays so.
Instant moved_by(Instant wall, milliseconds by) {
    if (by > milliseconds(0)) return wall > Instant::max() - by ? Instant::max() : wall + by;
    return wall < Instant::min() - by ? Instant::min() : wall + by;
}

}  // namespace

// No other thread uses the node. The wall time is stored with it: the wall clock may be set before the node is in the
// wheel, and the driver must detect that.
Tick TimerCore::tick_of_wall(TimerRepeat& repeat) const {
    const TimerInstant now = clock_.now();
    const Instant wall_now = clock_.wall_now();
    repeat.wall_ahead = ahead_of(now, wall_now);
    return tick_of(instant_of_wall(repeat.wall, now, wall_now));
}

// Before an instant is translated, so that a wall clock that is set afterwards causes an alarm.
void TimerCore::watch_wall() {
    uses_wall_.store(true, std::memory_order_relaxed);
    if (watches_wall_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(alarm_mutex_);
    if (alarm_ == nullptr || watches_wall_.load(std::memory_order_relaxed)) return;
    alarm_->ring_when_wall_is_set();
    watches_wall_.store(true, std::memory_order_release);
}

void TimerCore::link_at_wall(TimerNode& node) {
    const milliseconds ahead = node.repeat->wall_ahead;
    if (at_wall_ == nullptr) wall_ahead_ = ahead;
    if (!is_followed(ahead - wall_ahead_)) wall_moved_ = true;
    node.repeat->prev_at_wall = nullptr;
    node.repeat->next_at_wall = at_wall_;
    if (at_wall_ != nullptr) at_wall_->repeat->prev_at_wall = &node;
    at_wall_ = &node;
}

void TimerCore::unlink_at_wall(TimerNode& node) {
    TimerNode* const next = node.repeat->next_at_wall;
    TimerNode* const prev = node.repeat->prev_at_wall;
    if (next != nullptr) next->repeat->prev_at_wall = prev;
    (prev != nullptr ? prev->repeat->next_at_wall : at_wall_) = next;
}

// The wall clock runs a little slow, or was set back since the last check: the timer continues to wait. With the baton,
// in the sink of the wheel.
bool TimerCore::is_before_its_wall(TimerNode& node) {
    const TimerInstant now = clock_.now();
    const Instant wall_now = clock_.wall_now();
    if (node.repeat->wall <= wall_now) return false;
    const bool unseen_jump = std::abs((ahead_of(now, wall_now) - node.repeat->wall_ahead).count()) >= kJump.count();
    const Tick deadline = unseen_jump ? 0 : tick_of_wall(*node.repeat);
    node.wanted.store(deadline, std::memory_order_relaxed);
    wheel_.schedule(node, std::max(deadline, wheel_.now() + 1));
    return true;
}

// With the baton: before a pass, before a sleep, and before the time of the next pass is returned.
void TimerCore::look_at_wall(TimerNode*& dead) {
    if (at_wall_ == nullptr) return;
    const Instant wall_now = clock_.wall_now();
    const milliseconds ahead = ahead_of(clock_.now(), wall_now);
    if (!std::exchange(wall_moved_, false) && is_followed(ahead - wall_ahead_)) return;
    wall_ahead_ = ahead;
    for (TimerNode* node = at_wall_; node != nullptr;) {
        TimerNode* const next = node->repeat->next_at_wall;
        follow_wall(*node, ahead, wall_now, dead);
        node = next;
    }
}

void TimerCore::follow_wall(TimerNode& node, milliseconds ahead, Instant wall_now, TimerNode*& dead) {
    TimerRepeat& repeat = *node.repeat;
    const milliseconds moved = ahead - std::exchange(repeat.wall_ahead, ahead);
    const bool jumped = std::abs(moved.count()) >= kJump.count();
    const WallJump policy = repeat.keeps_to_wall ? WallJump::fire_now : options_.wall_jump;
    if (jumped && policy == WallJump::shift) {
        repeat.wall = moved_by(repeat.wall, moved);
        return;
    }
    // The wall clock did show the instants at the start and at the end of the jump.
    const bool passed_over = jumped && repeat.wall < wall_now && repeat.wall > wall_now - moved;
    if (passed_over && policy == WallJump::skip) {
        const std::optional<Instant> next = repeat.schedule ? repeat.schedule->next(wall_now) : std::nullopt;
        if (!next) return end_unseen(node, dead);
        repeat.wall = *next;
    }
    const Tick deadline = tick_of_wall(repeat);
    node.wanted.store(deadline, std::memory_order_relaxed);
    wheel_.schedule(node, deadline);
}

}  // namespace duewheel
