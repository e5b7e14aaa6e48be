// A call that failed and is tried again: after 5 s, then every 3 s, five times in all; then its handler is called.
//
// Prints:
//     5 s: attempt 1 fails
//     8 s: attempt 2 fails
//     11 s: attempt 3 fails
//     14 s: attempt 4 fails
//     17 s: attempt 5 fails
//     given up after 5 attempts
#include <cstdio>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/retry.h>
#include <duewheel/timer_thread.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    const TimerInstant begin = clock.now();
    const RetryPolicy policy{.attempts_max = 5, .first_delay = 5s, .delay = 3s};
    const Result<Retry> retry = Retry::start(
        service, policy,
        [&](unsigned attempt) {
            std::printf("%d s: attempt %u fails\n", static_cast<int>((clock.now() - begin) / 1s), attempt);
            return false;
        },
        [](unsigned attempts) { std::printf("given up after %u attempts\n", attempts); });
    if (!retry) return 1;
    clock.advance(1min);
}
