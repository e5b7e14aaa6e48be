// Alarms of the system and of the manual clock: when they ring while several threads set, wait for and move them.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <duewheel/manual_clock.h>
#include <duewheel/timer_descriptor.h>
#include <duewheel/timer_service.h>
#include <duewheel/timer_thread.h>

// What happens just before and after this thread's next read(), which the linker sends here (CMakeLists.txt).
static thread_local std::function<void()> before_read;
static thread_local std::function<void()> after_read;

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
extern "C" ssize_t __real_read(int descriptor, void* place, std::size_t size);
extern "C" ssize_t __wrap_read(int descriptor, void* place, std::size_t size) {
    if (before_read) std::exchange(before_read, nullptr)();
    const ssize_t read = __real_read(descriptor, place, size);
    if (after_read) std::exchange(after_read, nullptr)();
    return read;
}
// NOLINTEND(bugprone-reserved-identifier)

namespace duewheel {
namespace {

using namespace std::chrono_literals;

// ---- the system's alarms ----

bool is_readable(int descriptor) {
    pollfd watched{descriptor, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

// Who heard the alarm forgot what it was set to, and then read that it had rung. What another thread set it to in
// between was read away and not forgotten; so the driver, which wanted to rest until the same instant, took it for set.
// The loop was never told of what was due, nor of anything later.
TEST(TimerDescriptor, an_alarm_that_is_set_as_it_is_heard_rings_again) {
    for (std::function<void()>* const moment : {&before_read, &after_read}) {
        // All that happens here is of one tick, so that the alarm is set to its instant twice.
        TimerService service({.tick = 1h});
        TimerDescriptor timers(service);
        const TimerInstant due = std::chrono::floor<std::chrono::hours>(service.clock().now());
        int runs = 0;
        *moment = [&] {
            std::thread([&] {
                static_cast<void>(service.schedule_at(due, [&] {
                    ++runs;
                    static_cast<void>(service.schedule_after(0s, [&] { ++runs; }));
                }));
            }).join();
        };
        timers.advance();
        EXPECT_FALSE(*moment);
        EXPECT_EQ(runs, 1);
        EXPECT_TRUE(is_readable(timers.descriptor()));
        timers.advance();
        EXPECT_EQ(runs, 2);
        EXPECT_FALSE(is_readable(timers.descriptor()));
    }
}

// ---- who ends a driver that sleeps ----

// A clock on which a test sees what the alarm is set to, and lets its owner wake.
class WatchedClock final : public TimerClock {
  public:
    TimerInstant now() const override { return TimerInstant(1h); }
    Instant wall_now() const override { return {}; }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return std::make_unique<Alarm>(*this); }

    void wait_until_asleep() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return asleep_; });
    }
    void wait_until_it_rings() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return set_to_ <= now(); });
    }
    // From now on. Whether it still rang until now.
    bool let_wake() const {
        const std::lock_guard lock(mutex_);
        may_wake_ = true;
        changed_.notify_all();
        return std::exchange(set_to_, TimerInstant::min()) <= now();
    }

  private:
    class Alarm final : public TimerAlarm {
      public:
        explicit Alarm(const WatchedClock& clock) : clock_(clock) {}
        void set(TimerInstant instant) override {
            const std::lock_guard lock(clock_.mutex_);
            clock_.set_to_ = instant;
            clock_.changed_.notify_all();
        }
        void wait() override {
            std::unique_lock lock(clock_.mutex_);
            clock_.asleep_ = true;
            clock_.changed_.notify_all();
            clock_.changed_.wait(lock, [this] { return clock_.may_wake_ && clock_.set_to_ <= clock_.now(); });
            clock_.asleep_ = false;
        }

      private:
        const WatchedClock& clock_;
    };

    mutable std::mutex mutex_;  // guards all below
    mutable std::condition_variable changed_;
    mutable TimerInstant set_to_ = kNeverInstant;
    mutable bool asleep_ = false;
    mutable bool may_wake_ = false;
};

// Who ended the thread rang its alarm; another thread, which scheduled something just then, set the alarm to that; and
// the thread slept until it was due, with the one who waited for its end.
TEST(TimerThread, a_timer_that_comes_as_the_thread_ends_does_not_put_it_to_sleep_again) {
    WatchedClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    clock.wait_until_asleep();
    std::thread ending([&] {
        thread.before_fork();
        thread.after_fork_in_parent();  // by the same thread: it holds the locks
    });
    clock.wait_until_it_rings();
    static_cast<void>(service.schedule_after(24h, [] {}));
    EXPECT_TRUE(clock.let_wake());
    ending.join();
    EXPECT_EQ(thread.stop().size(), 1U);
}

// ---- the manual clock ----

// It moves by itself, or else this returns false after a while.
bool goes_on_by_itself(TimerService& service) {
    std::future<void> later = service.submit_after(10s, [] {}).value();
    return later.wait_for(5s) == std::future_status::ready;
}

// advance() put the clock's own going out and lit it again as it had found it: what was said meanwhile was forgotten.
TEST(ManualClock, a_setting_of_its_own_going_during_an_advance_counts) {
    for (const bool on : {false, true}) {
        ManualClock clock;
        TimerService service({}, clock);
        TimerThread thread(service);
        std::latch runs(1);
        std::latch said(1);
        {
            const ManualClock::Hold hold(clock);
            clock.auto_advance(!on);
            static_cast<void>(service.schedule_after(1ms, [&] {
                runs.count_down();
                said.wait();
            }));
            std::thread advancing([&] { clock.advance(1s); });
            runs.wait();
            clock.auto_advance(on);
            said.count_down();
            advancing.join();
        }
        if (on) {
            EXPECT_TRUE(goes_on_by_itself(service));
        } else {
            const TimerInstant before = clock.now();
            static_cast<void>(service.schedule_after(10s, [] {}));
            clock.wait_until_idle();
            EXPECT_EQ(clock.now(), before);
        }
    }
}

// A brief check whether time had moved found that it had not, whether it was held or not.
TEST(ManualClock, does_not_go_by_itself_while_it_is_held) {
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    const TimerInstant before = clock.now();
    std::future<void> later = service.submit_after(10s, [] {}).value();
    {
        const ManualClock::Hold hold(clock);
        const ManualClock::Hold another(clock);
        { const ManualClock::Hold gone(clock); }
        clock.auto_advance(true);
        clock.wait_until_idle();  // its end is where time would go on
        EXPECT_EQ(clock.now(), before);
    }
    later.get();
    EXPECT_EQ(clock.now(), before + 10s);
}

// Two threads advanced it: the second found that the first had switched off auto_advance(), and left it off for good.
TEST(ManualClock, two_that_advance_it_leave_its_own_going_as_it_was) {
    for (int round = 0; round < 200; ++round) {
        ManualClock clock;
        TimerService service({}, clock);
        TimerThread thread(service);
        std::atomic<int> fired = 0;
        for (int i = 1; i < 50; ++i) static_cast<void>(service.schedule_after(i * 1ms, [&] { ++fired; }));
        clock.auto_advance(true);
        std::thread one([&] { clock.advance(1s); });
        std::thread two([&] { clock.advance(1s); });
        one.join();
        two.join();
        ASSERT_EQ(fired, 49);
        ASSERT_TRUE(goes_on_by_itself(service)) << "round " << round;
    }
}

}  // namespace
}  // namespace duewheel
