#include "runtime/timer_repeat.h"

#include <algorithm>
#include <utility>

namespace duewheel {

bool move_on(TimerRepeat& repeat, TimerInstant now, Instant wall_now) {
    switch (repeat.kind) {
        case TimerRepeat::Kind::rate:
            repeat.nominal = next_nominal(repeat.missed, repeat.period, repeat.nominal, repeat.begun, now);
            repeat.nominal = std::exchange(repeat.moved, std::nullopt).value_or(repeat.nominal);
            return true;
        case TimerRepeat::Kind::delay:
            repeat.nominal = std::exchange(repeat.moved, std::nullopt).value_or(instant_after(now, repeat.period));
            return true;
        case TimerRepeat::Kind::cron: {
            // After the previous one, so that none is repeated when the wall clock was set back, and after now, so that
            // missed ones do not fire in a burst.
            const Instant now_excluded = wall_now - std::chrono::milliseconds(1);
            const std::optional<Instant> next = repeat.schedule->next(std::max(repeat.wall, now_excluded));
            if (next) repeat.wall = *next;
            return next.has_value();
        }
        case TimerRepeat::Kind::wall: {
            const std::optional<Instant> next = std::exchange(repeat.next, std::nullopt);
            if (next) repeat.wall = *next;
            return next.has_value();
        }
    }
    return false;
}

TimerInstant next_nominal(MissedPeriods missed, std::chrono::nanoseconds period, TimerInstant nominal,
                          TimerInstant begun, TimerInstant ended) {
    const TimerInstant next = instant_after(nominal, period);
    if (next > ended || missed == MissedPeriods::burst) return next;
    if (missed == MissedPeriods::delay) return instant_after(begun, period);
    return instant_after(nominal + (ended - nominal) / period * period, period);
}

TimerInstant instant_of_wall(Instant wall, TimerInstant now, Instant wall_now) {
    using std::chrono::milliseconds;
    constexpr milliseconds kFarthest = std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds::max());
    if (wall <= wall_now) return now;
    const milliseconds left = wall - wall_now;
    return left >= kFarthest ? kNeverInstant : instant_after(now, left);
}

}  // namespace duewheel
