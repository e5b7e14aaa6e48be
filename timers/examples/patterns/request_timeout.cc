// Calls that wait for their answers: one comes in time, one does not, and the work for that one is stopped.
//
// Prints:
//     call 1: the answer is 42
//     call 2: request_timeout
//     call 2: its work stops
//     too late: 43 is dropped
#include <cstdio>
#include <string>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/pending_requests.h>
#include <duewheel/timer_thread.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    PendingRequests<std::string> calls(service);
    const auto tell = [](int call) {
        return [call](Result<std::string> answer) {
            const std::string said =
                answer ? "the answer is " + *answer : std::string(library_name_of(answer.error().code));
            std::printf("call %d: %s\n", call, said.c_str());
        };
    };
    const auto first = calls.start(2s, tell(1));
    const auto second = calls.start(2s, tell(2));
    if (!first || !second) return 1;
    const std::stop_callback work(second->stop, [] { std::printf("call 2: its work stops\n"); });

    clock.advance(1s);
    calls.complete(first->id, "42");
    clock.advance(1s);
    if (!calls.complete(second->id, "43")) std::printf("too late: 43 is dropped\n");
}
