// A clock for tests: time advances only when the test moves it, and a year passes at once.
//
// Choose it for every test of a program with timers, including threads, and for simulations. Drawback: it says nothing
// about how long anything takes.
//
// Example:
//     #include <duewheel/timer_service.h>
//     ManualClock clock;
//     TimerService service({}, clock);
//     int fired = 0;
//     static_cast<void>(service.schedule_after(1h, [&] { ++fired; }));
//     clock.advance(1h);
//     assert(service.advance() == 1 && fired == 1);
//
// With threads. A TimerThread, like everything else that has an alarm of this clock, is an owner of the clock as long
// as it has the alarm. advance() moves the time from alarm to alarm, wakes the owners of ringing alarms one after the
// other in the order in which the alarms were created, and waits until each sleeps again before it continues: the same
// program fires the same timers in the same order each time. With auto_advance() the clock does that by itself whenever
// all owners sleep and there is no Hold. An owner runs until it sleeps: so a task must not wait for another owner, such
// as the end of another TimerThread (stop(), or its destructor), because that could not run.
//
// A thread that works without sleeping on the clock, such as one of a pool, is unknown to it: such a thread takes a
// Hold.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include <duewheel/timer_clock.h>

namespace duewheel {

// Thread safe. Must outlive its alarms and holds.
class ManualClock final : public TimerClock {
  public:
    explicit ManualClock(Instant wall = Instant{std::chrono::days{20'000}});
    ManualClock(const ManualClock&) = delete;
    ManualClock& operator=(const ManualClock&) = delete;
    ~ManualClock() override;

    [[nodiscard]] TimerInstant now() const override;
    [[nodiscard]] Instant wall_now() const override;
    [[nodiscard]] std::unique_ptr<TimerAlarm> make_alarm() const override;

    // Moves the time, alarm by alarm, and returns when all owners sleep again. Not from an owner's thread. It goes no
    // further than the instant before kNeverInstant, and not back: a past instant counts as now, and for a negative
    // duration advance() throws std::invalid_argument.
    void advance(std::chrono::nanoseconds by);
    void advance_to(TimerInstant to);

    // Returns when all owners sleep with nothing due. Not from an owner's thread.
    void wait_until_idle() { advance_to(TimerInstant::min()); }

    // Sets the wall clock, not the time: like a correction of the clock, or the start of daylight saving time.
    void set_wall(Instant wall);

    // While it is on, time goes to the next alarm whenever all owners sleep and nothing holds or advances the clock.
    // Without alarms it does not advance.
    void auto_advance(bool on);

    // While one exists, time does not advance by itself.
    class Hold {
      public:
        explicit Hold(ManualClock& clock);
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold();

      private:
        ManualClock& clock_;
    };

  private:
    class Alarm;

    bool all_asleep() const;
    TimerInstant earliest() const;
    void give_turn() const;

    mutable std::mutex mutex_;
    mutable std::condition_variable rest_;  // notified when an owner goes to sleep, or leaves
    mutable std::vector<Alarm*> owners_;    // in the order in which they were created
    mutable Alarm* awake_ = nullptr;        // the one that is running
    mutable TimerInstant now_{};
    Instant wall_;  // at wall_set_
    TimerInstant wall_set_{};
    std::size_t holds_ = 0;
    std::size_t advancing_ = 0;  // threads in advance_to(), which move the time in place of auto_advance_
    bool auto_advance_ = false;
};

}  // namespace duewheel
