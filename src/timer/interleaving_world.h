// What the explored scenarios share: a service with its driver's moves, and the exploration of all orders.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "timer/interleaving_explorer.h"
#include "timer/interleaving_point.h"
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
        service.advance(TimerInstant(1h));
        EXPECT_EQ(service.pending(), 0U);
        EXPECT_EQ(token.use_count(), 1);
    }

    ManualClock clock;
    NotedAlarm alarm;
    std::shared_ptr<int> token = std::make_shared<int>();
    std::atomic<int> ran{0};
    std::atomic<int> removed{0};
    TimerService service;
};

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

}  // namespace duewheel
