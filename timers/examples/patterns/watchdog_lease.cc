// A lock that is held by time, and renewed at every third of it as long as the holder lives, as Redisson does.
//
// Prints:
//     10 s: renewed
//     20 s: renewed
//     25 s: released, and it was held: yes
//     10 s: renewed
//     20 s: another client holds it
//     20 s: lost
#include <cstdio>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/watchdog_lease.h>
#include <duewheel/timer_thread.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    TimerInstant begin = clock.now();
    const auto now_s = [&] { return static_cast<int>((clock.now() - begin) / 1s); };
    bool is_ours = true;
    const auto renew = [&] {
        if (now_s() >= 20 && !is_ours)
            return std::printf("%d s: another client holds it\n", now_s()), Renewal::not_ours;
        return std::printf("%d s: renewed\n", now_s()), Renewal::renewed;
    };
    const auto hold = [&] {
        return WatchdogLease::hold(service, 30s, renew, [&] { std::printf("%d s: lost\n", now_s()); });
    };
    {
        Result<WatchdogLease> lock = hold();
        if (!lock) return 1;
        clock.advance(25s);
        std::printf("%d s: released, and it was held: %s\n", now_s(), lock->release() ? "yes" : "no");
    }
    begin = clock.now();
    is_ours = false;
    const Result<WatchdogLease> lock = hold();
    if (!lock) return 1;
    clock.advance(1min);
}
