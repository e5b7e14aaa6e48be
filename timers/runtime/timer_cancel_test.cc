// The content of a cancelled timer's task is destroyed by the canceller, after it has left the timer: its destructor
// may do anything with the service, with the timer's last handle, and with its node.
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

// Owns the handle of the timer that holds it.
struct Session {
    TimerService& service;
    bool schedules_a_rate;
    int& ran;
    Timeout timer{};

    Session(TimerService& timers, bool rate, int& runs) : service(timers), schedules_a_rate(rate), ran(runs) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        timer = Timeout();
        EXPECT_EQ(service.pending(), 0U) << "and no lock is held";
        if (schedules_a_rate) {
            static_cast<void>(service.schedule_at_fixed_rate(1ms, 1ms, [&ran = ran] { ++ran; }));
        } else {
            static_cast<void>(service.schedule_after(1ms, [&ran = ran] { ++ran; }));
        }
    }
};

// On the driver's thread the task was destroyed in its node. That had been given back with the last handle, and taken
// for the timer that the destructor scheduled, which then lost its task, or its period.
TEST(TimerCancel, objects_of_a_task_may_own_the_last_handle_and_schedule) {
    for (const bool drives : {false, true}) {
        for (const bool was_periodic : {false, true}) {
            for (const bool schedules_a_rate : {false, true}) {
                ManualClock clock;
                TimerService service({}, clock);
                int ran = 0;
                Session* bare = nullptr;
                {
                    const auto session = std::make_shared<Session>(service, schedules_a_rate, ran);
                    bare = session.get();
                    session->timer = was_periodic ? service.schedule_at_fixed_rate(1h, 1h, [session] {}).value()
                                                  : service.schedule_after(1h, [session] {}).value();
                }
                service.advance();
                const auto cancel = [&] { EXPECT_EQ(bare->timer.cancel(), CancelOutcome::removed); };
                drives ? cancel() : std::thread(cancel).join();
                for (int i = 0; i < 3; ++i) {
                    clock.advance(1ms);
                    service.advance();
                }
                EXPECT_EQ(ran, schedules_a_rate ? 3 : 1);
            }
        }
    }
}

}  // namespace
}  // namespace duewheel
