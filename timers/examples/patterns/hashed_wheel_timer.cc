// Time-outs of calls on one thread, as with Netty's HashedWheelTimer; here on a clock that this program moves.
//
// Prints:
//     3 s: task
//     4 s: task
//     5 s: cancelled before
//     left at the end: 1
#include <cstdio>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/hashed_wheel_timer.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    HashedWheelTimer timer({.tick = 1s, .ticks_per_wheel = 100}, clock);
    const auto now_s = [&, begin = clock.now()] { return static_cast<int>((clock.now() - begin) / 1s); };
    const auto task = [&] { std::printf("%d s: task\n", now_s()); };

    const Result<Timeout> three = timer.new_timeout(task, 3s);
    const Result<Timeout> four = timer.new_timeout(task, 4s);
    Result<Timeout> six = timer.new_timeout(task, 6s);
    const Result<Timeout> hour = timer.new_timeout(task, 1h);
    if (!three || !four || !six || !hour) return 1;
    clock.advance(5s);
    if (six->cancel() == CancelOutcome::removed) std::printf("%d s: cancelled before\n", now_s());
    clock.advance(5s);
    std::printf("left at the end: %zu\n", timer.stop().size());
}
