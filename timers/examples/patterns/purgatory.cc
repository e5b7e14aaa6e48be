// A produce request that is answered when enough replicas have the record, or when its time is up, as in Kafka.
//
// Prints:
//     first: waits
//     replica 2 has it
//     first: acknowledged
//     second: waits
//     second: timed out after 30 s
#include <cstdio>
#include <string>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/purgatory.h>
#include <duewheel/timer_thread.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    Purgatory<std::string> produced(service);

    int replicas = 1;
    const auto produce = [&](const char* name, int wanted) {
        const Result<bool> over = produced.try_complete_else_watch(
            {"orders-0"}, 30s, [&replicas, wanted] { return replicas >= wanted; },
            [name](Completion how) {
                std::printf("%s: %s\n", name, how == Completion::satisfied ? "acknowledged" : "timed out after 30 s");
            });
        if (over && !*over) std::printf("%s: waits\n", name);
    };
    produce("first", 2);
    replicas = 2;
    std::printf("replica 2 has it\n");
    produced.check_and_complete("orders-0");
    produce("second", 3);
    clock.advance(1min);
}
