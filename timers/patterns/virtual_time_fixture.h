// Virtual time for the tests of the patterns: a service that only the test drives, on a clock that only the test moves.
// An hour passes at once, and everything due in it happens in order.
#pragma once

#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>

namespace duewheel {

class VirtualTime : public testing::Test {
  protected:
    // Goes from one expiry to the next, to the end of the time that passes.
    void pass(std::chrono::nanoseconds time) {
        const TimerInstant end = clock.now() + time;
        service.advance();
        for (TimerInstant next = service.next_expiry(); next <= end; next = service.next_expiry()) {
            clock.advance_to(std::max(next, clock.now()));
            service.advance();
        }
        clock.advance_to(end);
        service.advance();
    }

    // Since the test began.
    std::chrono::seconds now() const { return std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begin_); }

    ManualClock clock{Instant{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}}};
    TimerService service{{}, clock};

  private:
    const TimerInstant begin_ = clock.now();
};

}  // namespace duewheel
