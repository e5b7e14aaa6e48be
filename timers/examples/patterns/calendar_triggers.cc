// Jobs by the clock on the wall. The machine sleeps from 10:45 to 14:30; one job skips what it has missed, one makes up
// for it once.
//
// Prints:
//     10:00 skipping
//     10:00 making up
//     the machine sleeps
//     14:00 making up
//     15:00 skipping
//     15:00 making up
#include <cstdio>
#include <string>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/calendar_triggers.h>
#include <duewheel/timer_thread.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    const Instant midnight = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
    ManualClock clock(midnight + 9h + 30min);
    TimerService service({}, clock);
    TimerThread thread(service);
    CalendarTriggers triggers(service);
    const CronSchedule hourly(*CronRule::parse("@hourly"), Zone::utc());
    const auto say = [midnight](const char* what) {
        return [=](Instant nominal) {
            const auto minutes = (nominal - midnight) / 1min;
            std::printf("%02d:%02d %s\n", static_cast<int>(minutes / 60), static_cast<int>(minutes % 60), what);
        };
    };
    if (!triggers.add(hourly, Misfire::skip, say("skipping"))) return 1;
    if (!triggers.add(hourly, Misfire::fire_once, say("making up"))) return 1;
    clock.advance(75min);
    std::printf("the machine sleeps\n");
    clock.set_wall(clock.wall_now() + 3h + 45min);
    clock.advance(45min);
}
