// A timer service at work: a thread that sleeps until something is due, a timeout that is cancelled in time and one
// that is not, a heartbeat, and a future.
//
// It runs for half a second of real time, and prints what it did.
#include <chrono>
#include <cstdio>
#include <future>

#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

int main() {
    using namespace std::chrono_literals;
    using namespace duewheel;

    TimerService service;
    TimerThread thread(service);

    // Two requests wait for their answers. The first one comes in time.
    Timeout answered = service.schedule_after(200ms, [] { std::puts("never printed"); }).value();
    std::future<void> given_up = service.submit_after(250ms, [] { std::puts("no answer: given up"); }).value();
    if (answered.cancel() == CancelOutcome::removed) std::puts("answered: timeout removed");

    // A beat every 100 ms, counted from its start.
    int beats = 0;
    Timeout heart = service
                        .schedule_at_fixed_rate(0ms, 100ms,
                                                [&beats] {
                                                    ++beats;
                                                    std::printf("beat %d\n", beats);
                                                })
                        .value();
    given_up.wait();
    // After this the beat does not run and does not use `beats` any more.
    heart.cancel_and_wait();

    std::printf("%zu pending, the thread woke %s\n", service.pending(),
                thread.wakeups() <= 8 ? "when it had to" : "often");
    return beats >= 3 ? 0 : 1;
}
