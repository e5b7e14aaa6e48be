// A program's chores in the forms of java.util.Timer. One of them throws, and neither it nor the others end.
//
// Prints:
//     1 s: sweep
//     2 s: report
//     3 s: sweep
//     4 s: report
//     4 s: at a date
//     5 s: sweep
//     6 s: report
//     3 errors were reported
#include <atomic>
#include <cstdio>
#include <stdexcept>

#include <duewheel/manual_clock.h>
#include <duewheel/patterns/task_timer.h>

using namespace duewheel;
using namespace std::chrono_literals;

int main() {
    ManualClock clock;
    std::atomic<int> errors = 0;
    TaskTimer timer({.on_error = [&](std::exception_ptr, const char*) { ++errors; }}, clock);
    const auto say = [&, begin = clock.now()](const char* what) {
        std::printf("%d s: %s\n", static_cast<int>((clock.now() - begin) / 1s), what);
    };
    const Instant date = clock.wall_now() + 4500ms;
    const Result<Timeout> sweep = timer.schedule([&] { say("sweep"); }, 1s, 2s);
    const Result<Timeout> report = timer.schedule_at_fixed_rate(
        [&] {
            say("report");
            throw std::runtime_error("no paper");
        },
        2s, 2s);
    const Result<Timeout> once = timer.schedule([&] { say("at a date"); }, date);
    if (!sweep || !report || !once) return 1;
    clock.advance(6s);
    std::printf("%d errors were reported\n", errors.load());
}
