// What the explored scenarios share: a service with its driver's moves, and the exploration of all orders.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/interleaving_explorer.h"
#include "runtime/interleaving_point.h"
#include <duewheel/manual_clock.h>
#include <duewheel/timer_service.h>

namespace duewheel {

using namespace std::chrono_literals;

// Notes what it is set to.
class NotedAlarm final : public TimerAlarm {
  public:
    void set(TimerInstant instant) override { at = instant; }
    void wait() override {}
    TimerInstant at = kNeverInstant;
};

// What each scenario has: a service, its driver's moves, and figures that the check compares.
struct World {
    explicit World(TimerOptions options = {}) : service(std::move(options), clock) { service.set_alarm(&alarm); }

    // A pass at 10 ms, at which all timers of the scenarios are due.
    void drive() {
        service.advance(TimerInstant(10ms));
        service.rest();
    }
    Timeout schedule(std::chrono::nanoseconds at) {
        return service.schedule_at(TimerInstant(at), [this, token = token] { ++ran; }).value();
    }
    // Nothing is left, and nothing is kept that should have gone.
    void check_end() {
        timeout = Timeout();
        service.advance(TimerInstant(1h));
        EXPECT_EQ(service.pending(), 0U);
        EXPECT_EQ(token.use_count(), 1);
    }

    ManualClock clock;
    NotedAlarm alarm;
    std::shared_ptr<int> token = std::make_shared<int>();
    std::atomic<int> ran{0};
    std::atomic<int> removed{0};
    std::atomic<int> returned{0};  // by stop()
    TimerService service;
    Timeout timeout;  // of the timer that the threads meet at
};

// An executor that keeps tasks in `held`.
inline TimerOptions holding(const std::shared_ptr<std::vector<TimerTask>>& held) {
    return {.executor = [held](TimerTask task) { held->push_back(std::move(task)); }};
}

// Runs 0 ms after the start, and an hour after each run.
inline Timeout repeat_with_delay(World& world) {
    return world.service.schedule_with_fixed_delay(0ms, 1h, [&world, token = world.token] { ++world.ran; }).value();
}
// Nothing runs in the next two hours.
inline void expect_no_run(World& world) {
    const int ran = world.ran;
    world.service.advance(TimerInstant(2h));
    EXPECT_EQ(world.ran, ran) << "a run after the cancel";
}

// ---- what a thread of a scenario does

inline std::function<void()> driving(const std::shared_ptr<World>& world) {
    return [world] { world->drive(); };
}
inline std::function<void()> cancelling(const std::shared_ptr<World>& world) {
    return [world] {
        Timeout mine = world->timeout;
        world->removed += mine.cancel() == CancelOutcome::removed;
    };
}
// Done or refused.
inline std::function<void()> moving(const std::shared_ptr<World>& world, std::chrono::nanoseconds to) {
    return [world, to] {
        Timeout mine = world->timeout;
        static_cast<void>(mine.reschedule_at(TimerInstant(to)));
    };
}
inline std::function<void()> stopping(const std::shared_ptr<World>& world) {
    return [world] { world->returned += static_cast<int>(world->service.stop().size()); };
}

inline void expect_all(const std::function<Interleaved()>& make, unsigned preemptions) {
    const Exploration found = explore(make, preemptions, [] { return testing::Test::HasFailure(); });
    std::string decisions;
    for (const unsigned decision : found.failed) decisions += " " + std::to_string(decision);
    EXPECT_TRUE(found.failed.empty()) << "after " << found.runs << " runs, with the decisions" << decisions;
    EXPECT_TRUE(found.is_complete) << "too many orders: " << found.runs;
    EXPECT_GT(found.runs, 10U) << "no order was explored";
    testing::Test::RecordProperty("runs", static_cast<int>(found.runs));
    std::printf("             %zu runs, %zu decisions\n", found.runs, found.decisions);
}

// The same of scenarios in a world of their own, whose end is checked.
inline void expect_all_in_world(const std::function<Interleaved(const std::shared_ptr<World>&)>& make,
                                unsigned preemptions) {
    expect_all(
        [&make] {
            auto world = std::make_shared<World>();
            Interleaved made = make(world);
            made.check = [world, check = std::move(made.check)] {
                check();
                world->check_end();
            };
            return made;
        },
        preemptions);
}

}  // namespace duewheel
