// A loop that drives its own timer and does something else between two waits, as Kafka's reaper thread does.
//
// Prints:
//     waited 200 ms, nothing was due
//     500 ms: expired
//     waited 200 ms, nothing was due
#include <cstdio>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/system_timer.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    clock.auto_advance(true);  // the wait of the thread has started
    SystemTimer timer({}, clock);
    const TimerInstant begin = clock.now();
    const Result<Timeout> fetch =
        timer.add(500ms, [&] { std::printf("%d ms: expired\n", static_cast<int>((clock.now() - begin) / 1ms)); });
    if (!fetch) return 1;
    for (const auto patience : {200ms, 400ms, 200ms}) {
        if (!timer.advance_clock(patience)) {
            std::printf("waited %d ms, nothing was due\n", static_cast<int>(patience / 1ms));
        }
    }
}
