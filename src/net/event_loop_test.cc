#include "net/event_loop.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "shared/system_clock.h"

namespace duewheel::event_loop_test {
namespace {

using std::chrono::milliseconds;

EventLoop::TimePoint now() {
    return EventLoop::TimePoint(std::chrono::nanoseconds(monotonic_now_ns()));
}

TEST(EventLoop, calls_the_hook_again_at_once_if_requested) {
    EventLoop loop;
    int turns = 0;
    loop.run([&] {
        if (++turns == 1000) loop.stop();
        return EventLoop::kAtOnce;
    });
    EXPECT_EQ(turns, 1000);
}

TEST(EventLoop, calls_the_hook_no_earlier_than_its_time_and_soon_after) {
    EventLoop loop;
    EventLoop::TimePoint due;
    int turns = 0;
    loop.run([&] {
        if (++turns == 1) due = now() + milliseconds(20);
        if (turns > 1 && now() >= due) loop.stop();
        return due;
    });
    EXPECT_EQ(turns, 2) << "a turn before the sleep and one after it, none between";
    EXPECT_GE(now(), due);
}

TEST(EventLoop, a_new_time_replaces_the_one_before) {
    EventLoop loop;
    const auto far = now() + std::chrono::hours(1);
    const auto near = now() + milliseconds(5);
    int turns = 0;
    std::thread poster;
    loop.run([&]() -> EventLoop::TimePoint {
        ++turns;
        if (turns == 1) poster = std::thread([&] { loop.post([] {}); });
        if (turns == 2) return near;
        if (turns == 3) loop.stop();
        return far;
    });
    poster.join();
    EXPECT_EQ(turns, 3);
    EXPECT_GE(now(), near);
}

TEST(EventLoop, a_time_in_the_past_means_at_once) {
    EventLoop loop;
    int turns = 0;
    loop.run([&] {
        if (++turns == 5) loop.stop();
        return now() - std::chrono::seconds(1);
    });
    EXPECT_EQ(turns, 5);
}

TEST(EventLoop, sleeps_without_a_wake_up_until_a_post) {
    EventLoop loop;
    std::atomic<int> turns = 0;
    std::promise<void> asleep;
    std::thread thread([&] {
        loop.run([&] {
            if (++turns == 1) asleep.set_value();
            return EventLoop::kOnEvents;
        });
    });
    asleep.get_future().wait();
    // Each post is one event, so one more turn (or two posts share one); a loop that spins would show thousands.
    constexpr int kPosts = 10;
    for (int i = 0; i < kPosts; ++i) {
        std::promise<void> ran;
        loop.post([&] { ran.set_value(); });
        ran.get_future().wait();
    }
    loop.stop();
    thread.join();
    EXPECT_LE(turns, kPosts + 2);
}

TEST(EventLoop, runs_posts_of_one_thread_in_order_and_loses_none) {
    EventLoop loop;
    constexpr int kThreads = 3, kPosts = 2000;
    std::vector<int> last(kThreads, -1);
    int ran = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kPosts; ++i) {
                loop.post([&, t, i] {
                    EXPECT_EQ(last[static_cast<std::size_t>(t)], i - 1);
                    last[static_cast<std::size_t>(t)] = i;
                    if (++ran == kThreads * kPosts) loop.stop();
                });
            }
        });
    }
    loop.run();
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(ran, kThreads * kPosts);
}

TEST(EventLoop, a_flood_of_posts_does_not_starve_the_hook) {
    EventLoop loop;
    std::function<void()> again = [&] { loop.post(again); };
    loop.post(again);
    int turns = 0;
    loop.run([&] {
        if (++turns == 3) loop.stop();
        return EventLoop::kOnEvents;
    });
    EXPECT_EQ(turns, 3);
}

// Sixteen large requests that had arrived together were all parsed and carried out before the turn looked at what was
// due.
TEST(EventLoop, busy_handlers_do_not_delay_the_hook) {
    EventLoop loop;
    int ran = 0;
    int ran_before = 0;
    int max_per_iteration = 0;
    for (int i = 0; i < 20; ++i) {
        loop.post([&] {
            const std::int64_t until_ns = monotonic_now_ns() + 1'000'000;
            while (monotonic_now_ns() < until_ns) continue;
            ++ran;
        });
    }
    loop.run([&] {
        max_per_iteration = std::max(max_per_iteration, ran - std::exchange(ran_before, ran));
        if (ran == 20) loop.stop();
        return EventLoop::kAtOnce;
    });
    EXPECT_EQ(max_per_iteration, 1);
}

TEST(EventLoop, a_stop_before_the_run_ends_it_and_the_next_run_is_free_again) {
    EventLoop loop;
    loop.stop();
    int turns = 0;
    const auto turn = [&] {
        if (++turns == 2) loop.stop();
        return EventLoop::kAtOnce;
    };
    loop.run(turn);
    EXPECT_EQ(turns, 0);
    loop.run(turn);
    EXPECT_EQ(turns, 2);
}

TEST(EventLoop, passes_every_signal_to_the_handler) {
    EventLoop loop;
    std::vector<int> seen;
    loop.on_signals({SIGUSR1, SIGUSR2}, [&](int signal) {
        seen.push_back(signal);
        if (seen.size() == 1) ::raise(SIGUSR2);
        if (seen.size() == 2) loop.stop();
    });
    ::raise(SIGUSR1);
    loop.run();
    EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

class CountingHook final : public AfterTurn {
  public:
    explicit CountingHook(int rounds) : rounds_(rounds) {}
    bool after_turn() override { return ++calls < rounds_; }
    int calls = 0;

  private:
    int rounds_;
};

TEST(EventLoop, iterates_again_while_a_hook_creates_work) {
    EventLoop loop;
    CountingHook hook(4);
    loop.add(hook);
    int turns = 0;
    loop.run([&] {
        ++turns;
        if (hook.calls == 3) loop.stop();
        return EventLoop::kOnEvents;
    });
    loop.remove(hook);
    EXPECT_EQ(turns, 4);
    EXPECT_EQ(hook.calls, 4);
}

}  // namespace
}  // namespace duewheel::event_loop_test
