// A user of the installed library: a wheel that is advanced by hand, a calendar rule that feeds it, and a service with
// a thread of its own on a manual clock.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>

#include <duewheel/cron_schedule.h>
#include <duewheel/manual_clock.h>
#include <duewheel/timer_thread.h>
#include <duewheel/timing_wheel.h>

using namespace duewheel;
using namespace std::chrono_literals;

namespace {

// Nine o'clock on three days, in seconds since eight of the first.
bool turn_a_wheel() {
    const Instant begin = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 8h;
    const Result<CronRule> rule = CronRule::parse("0 9 * * *");
    const Result<Zone> oslo = Zone::load("Europe/Oslo");
    if (!rule || !oslo) return false;
    const CronSchedule daily(*rule, *oslo);

    // A tick is a second after `begin`.
    TimingWheel wheel;
    const auto arm = [&](Instant after) {
        const std::optional<Instant> due = daily.next(after);
        if (due) wheel.schedule(static_cast<Tick>((*due - begin) / 1s), 9);
    };
    arm(begin);
    const TimerHandle cancelled = wheel.schedule(10, 1);
    if (!wheel.cancel(cancelled)) return false;
    int fired = 0;
    while (fired < 3) {
        const Tick next = wheel.next_expiry();
        wheel.advance_to(next, [&](std::uint64_t cookie, Tick deadline) {
            ++fired;
            std::printf("%d at %d\n", static_cast<int>(cookie), static_cast<int>(deadline));
            arm(begin + std::chrono::seconds(deadline));
        });
    }
    return true;
}

bool run_a_service() {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    Result<Timeout> never = service.schedule_after(1s, [] { std::printf("cancelled, and runs\n"); });
    const Result<Timeout> ticks = service.schedule_at_fixed_rate(1s, 2s, [] { std::printf("tick\n"); });
    if (!never || !ticks || never->cancel() != CancelOutcome::removed) return false;
    clock.advance(4s);
    return thread.stop().size() == 1;
}

}  // namespace

int main() {
    return turn_a_wheel() && run_a_service() ? 0 : 1;
}
