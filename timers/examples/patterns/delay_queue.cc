// Orders that are to be looked at when their time has come, taken by a thread that waits for them.
//
// Prints:
//     3 s: order of 3 s
//     5 s: order of 5 s
//     10 s: order of 10 s
//     closed with 1 order left
#include <cstdio>
#include <string>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/delay_queue.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    clock.auto_advance(true);  // the wait of the thread has started
    DelayQueue<std::string> orders(clock);
    const TimerInstant begin = clock.now();
    for (const int delay_s : {5, 3, 10, 3600}) {
        if (!orders.put("order of " + std::to_string(delay_s) + " s", std::chrono::seconds(delay_s))) return 1;
    }
    for (int i = 0; i < 3; ++i) {
        const std::string order = orders.take().value_or("");
        std::printf("%d s: %s\n", static_cast<int>((clock.now() - begin) / 1s), order.c_str());
    }
    std::printf("closed with %zu order left\n", orders.close().size());
}
