#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include <duewheel/manual_clock.h>
#include <duewheel/patterns/delay_queue.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

template <class T>
void put(DelayQueue<T>& queue, T value, std::chrono::nanoseconds delay) {
    ASSERT_TRUE(queue.put(std::move(value), delay).ok());
}

TEST(DelayQueue, elements_of_5_3_and_10_seconds_come_out_as_3_5_10) {
    ManualClock clock;
    clock.auto_advance(true);
    const TimerInstant begin = clock.now();
    DelayQueue<int> queue(clock);
    for (const int delay : {5, 3, 10}) put(queue, delay, std::chrono::seconds(delay));
    EXPECT_EQ(queue.size(), 3U);
    for (const int expected : {3, 5, 10}) {
        EXPECT_EQ(queue.take(), expected);
        EXPECT_EQ(clock.now() - begin, std::chrono::seconds(expected)) << "when it is due, not before";
    }
    EXPECT_EQ(queue.size(), 0U);
}

TEST(DelayQueue, poll_and_peek_and_drain_see_what_is_due_and_nothing_else) {
    ManualClock clock;
    DelayQueue<int> queue(clock);
    EXPECT_EQ(queue.next_due(), kNeverInstant);
    for (int i = 1; i <= 6; ++i) put(queue, i, std::chrono::seconds(7 - i));
    EXPECT_EQ(queue.next_due(), clock.now() + 1s);
    EXPECT_EQ(queue.peek(), std::nullopt);
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_TRUE(queue.drain().empty());
    clock.advance(3s);
    EXPECT_EQ(queue.peek(), 6);
    EXPECT_EQ(queue.peek(), 6) << "peek() takes nothing";
    EXPECT_LE(queue.next_due(), clock.now());
    EXPECT_EQ(queue.poll(), 6);
    EXPECT_EQ(queue.drain(1), std::vector<int>{5});
    EXPECT_EQ(queue.drain(), std::vector<int>{4});
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_EQ(queue.size(), 3U);
}

TEST(DelayQueue, what_is_put_with_a_time_that_has_passed_takes_its_place_among_what_is_due) {
    // What a poll had collected from the wheel came first, whatever was put since: 3, 5, 4.
    ManualClock clock;
    DelayQueue<int> queue(clock);
    const TimerInstant begin = clock.now();
    for (const int second : {5, 3, 8}) put(queue, second, std::chrono::seconds(second));
    clock.advance(10s);
    EXPECT_EQ(queue.poll(), 3);
    for (const int second : {4, 9, 5, 1}) ASSERT_TRUE(queue.put_at(second, begin + std::chrono::seconds(second)).ok());
    EXPECT_EQ(queue.peek(), 1);
    EXPECT_EQ(queue.drain(), (std::vector<int>{1, 4, 5, 5, 8, 9}));
}

TEST(DelayQueue, an_element_is_never_early_by_a_part_of_a_tick) {
    ManualClock clock;
    clock.advance(300us);
    DelayQueue<int> queue(clock, 1ms);
    put(queue, 1, 1ms);  // due at 1.3 ms, a tick that begins at 2 ms
    put(queue, 2, 0ms);
    EXPECT_EQ(queue.poll(), 2) << "no delay is due now";
    clock.advance(1100us);
    EXPECT_EQ(queue.poll(), std::nullopt);
    clock.advance(600us);
    EXPECT_EQ(queue.poll(), 1);
}

TEST(DelayQueue, equal_times_come_out_in_the_order_of_their_puts) {
    ManualClock clock;
    DelayQueue<std::uint64_t> queue(clock);
    for (std::uint64_t i = 0; i < 1000; ++i) put(queue, i, 10s);
    clock.advance(10s);
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(queue.poll(), i);
}

TEST(DelayQueue, take_for_gives_up_in_time) {
    ManualClock clock;
    clock.auto_advance(true);
    const TimerInstant begin = clock.now();
    DelayQueue<int> queue(clock);
    put(queue, 1, 10s);
    EXPECT_EQ(queue.take_for(4s), std::nullopt);
    EXPECT_EQ(clock.now() - begin, 4s);
    EXPECT_EQ(queue.take_for(-1s), std::nullopt);
    EXPECT_EQ(queue.take_for(1h), 1);
    EXPECT_EQ(clock.now() - begin, 10s);
}

TEST(DelayQueue, an_earlier_element_wakes_a_thread_that_waits_for_a_later_one) {
    // Trap: the minimum that the sleeper knows is stale.
    ManualClock clock;
    DelayQueue<int> queue(clock);
    put(queue, 1, 1h);
    std::atomic<int> taken = 0;
    std::thread taker([&] { taken = queue.take().value_or(-1); });
    clock.advance(1s);  // the taker may have gone to sleep by now or not: both must end well
    put(queue, 2, 5s);
    clock.advance(5s);
    taker.join();
    EXPECT_EQ(taken, 2);
}

TEST(DelayQueue, each_element_goes_to_one_of_many_takers) {
    constexpr int kElements = 3000;
    ManualClock clock;
    DelayQueue<int> queue(clock);
    std::vector<std::atomic<int>> taken(kElements);
    std::atomic<int> count = 0;
    std::vector<std::thread> takers;
    for (int taker = 0; taker < 4; ++taker) {
        takers.emplace_back([&] {
            while (const std::optional<int> element = queue.take()) {
                ++taken[static_cast<std::size_t>(*element)];
                ++count;
            }
        });
    }
    for (int i = 0; i < kElements; ++i) put(queue, i, std::chrono::milliseconds(i * 7919 % 5000));
    while (count < kElements) clock.advance(100ms);
    EXPECT_TRUE(queue.close().empty());
    for (std::thread& taker : takers) taker.join();
    for (const std::atomic<int>& times : taken) EXPECT_EQ(times, 1);
}

TEST(DelayQueue, close_wakes_waiting_threads_and_returns_the_rest) {
    ManualClock clock;
    DelayQueue<std::unique_ptr<int>> queue(clock);
    std::atomic<bool> ended = false;
    std::thread taker([&] { ended = !queue.take().has_value(); });
    put(queue, std::make_unique<int>(2), 2h);
    put(queue, std::make_unique<int>(1), 1h);
    const std::vector<std::unique_ptr<int>> left = queue.close();
    taker.join();
    EXPECT_TRUE(ended);
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(*left[0], 1);
    EXPECT_EQ(*left[1], 2);
    EXPECT_TRUE(queue.close().empty());
    EXPECT_EQ(queue.put(nullptr, 1s).error().code, ErrorCode::queue_closed);
    EXPECT_FALSE(queue.take().has_value());
    EXPECT_EQ(queue.size(), 0U);
}

TEST(DelayQueue, agrees_with_a_sorted_map) {
    Random random(3);
    ManualClock clock;
    DelayQueue<std::uint64_t> queue(clock, 1ms);
    std::multimap<std::int64_t, std::uint64_t> model;  // by milliseconds
    std::uint64_t number = 0;
    std::int64_t now_ms = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (random.below(2) == 0) {
            const auto delay_ms = static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 1'000'000 : 300));
            put(queue, ++number, std::chrono::milliseconds(delay_ms));
            model.emplace(now_ms + delay_ms, number);
        } else if (const std::optional<std::uint64_t> element = queue.poll()) {
            const auto due = model.begin();
            ASSERT_LE(due->first, now_ms);
            const auto found =
                std::find_if(model.begin(), model.end(), [&](const auto& one) { return one.second == *element; });
            ASSERT_NE(found, model.end());
            ASSERT_LE(found->first, now_ms) << "it came early";
            model.erase(found);
        } else {
            ASSERT_TRUE(model.empty() || model.begin()->first > now_ms) << "what is due was held back";
        }
        ASSERT_EQ(queue.size(), model.size());
        const auto by_ms = static_cast<std::int64_t>(random.below(100));
        clock.advance(std::chrono::milliseconds(by_ms));
        now_ms += by_ms;
    }
}

TEST(DelayQueue, an_element_is_found_removed_and_moved_by_its_value_due_or_not) {
    ManualClock clock;
    DelayQueue<int> queue(clock);
    for (const int second : {1, 2, 3, 4}) put(queue, second, std::chrono::seconds(second));
    clock.advance(2s);
    EXPECT_EQ(queue.peek(), 1);  // 1 and 2 have left the wheel
    EXPECT_TRUE(queue.contains(2) && queue.contains(4));
    EXPECT_FALSE(queue.contains(5));
    EXPECT_EQ(queue.remove(1), 1) << "due";
    EXPECT_EQ(queue.remove(4), 4) << "not due";
    EXPECT_EQ(queue.remove(4), std::nullopt);
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_TRUE(queue.move(2, 5s)) << "due, and then not";
    EXPECT_TRUE(queue.move(3, 0s)) << "not due, and then due";
    EXPECT_FALSE(queue.move(4, 1s));
    EXPECT_EQ(queue.drain(), std::vector<int>{3});
    EXPECT_EQ(queue.next_due(), clock.now() + 5s);
    clock.advance(5s);
    EXPECT_EQ(queue.drain(), std::vector<int>{2});
}

TEST(DelayQueue, of_equal_elements_the_first_one_is_meant) {
    struct Order {
        int number;
        int copy;
        bool operator==(int wanted) const { return number == wanted; }
    };
    ManualClock clock;
    DelayQueue<Order> queue(clock);
    put(queue, Order{7, 1}, 3s);
    put(queue, Order{7, 2}, 2s);
    put(queue, Order{7, 3}, 2s);
    ASSERT_TRUE(queue.move(7, 2s));  // behind the third
    EXPECT_EQ(queue.remove(7)->copy, 3);
    EXPECT_EQ(queue.remove(7)->copy, 2);
    EXPECT_EQ(queue.remove(7)->copy, 1);
}

TEST(DelayQueue, the_first_element_is_shown_before_it_is_due) {
    ManualClock clock;
    DelayQueue<int> queue(clock, 1s);
    EXPECT_EQ(queue.peek_first(), std::nullopt);
    put(queue, 1, 900ms);  // in one tick
    put(queue, 2, 300ms);
    put(queue, 3, 600ms);
    EXPECT_EQ(queue.peek_first(), 2);
    EXPECT_EQ(queue.peek(), std::nullopt);
    clock.advance(1s);
    EXPECT_EQ(queue.peek_first(), 2);
    EXPECT_EQ(queue.poll(), 2);
}

TEST(DelayQueue, clear_takes_all_and_the_queue_goes_on) {
    ManualClock clock;
    DelayQueue<int> queue(clock);
    for (const int second : {3, 1, 2}) put(queue, second, std::chrono::seconds(second));
    clock.advance(1s);
    EXPECT_EQ(queue.peek(), 1);
    EXPECT_EQ(queue.clear(), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.next_due(), kNeverInstant);
    put(queue, 4, 1s);
    clock.advance(5s);
    EXPECT_EQ(queue.drain(), std::vector<int>{4});
}

TEST(DelayQueue, a_token_ends_one_wait_and_no_other) {
    ManualClock clock;
    DelayQueue<int> queue(clock);
    std::stop_source first;
    std::stop_source second;
    std::atomic<int> found_first = 0;
    std::atomic<int> found_second = 0;
    std::thread taker([&] { found_first = queue.take(first.get_token()).value_or(-1); });
    std::thread other([&] { found_second = queue.take_for(1h, second.get_token()).value_or(-1); });
    first.request_stop();
    taker.join();
    EXPECT_EQ(found_first, -1);
    put(queue, 1, 1s);
    clock.advance(1s);
    other.join();
    EXPECT_EQ(found_second, 1);
    put(queue, 2, 0s);
    EXPECT_EQ(queue.take(first.get_token()), 2) << "what is due needs no waiting";
    EXPECT_EQ(queue.take(first.get_token()), std::nullopt);
}

TEST(DelayQueue, a_token_races_puts_and_no_caller_waits_for_ever) {
    for (int round = 0; round < 300; ++round) {
        DelayQueue<int> queue;
        std::stop_source source;
        std::thread taker([&] { static_cast<void>(queue.take(source.get_token())); });
        std::thread putter([&] { put(queue, round, 1h); });
        source.request_stop();
        taker.join();
        putter.join();
        EXPECT_EQ(queue.size(), 1U);
    }
}

TEST(DelayQueue, a_put_that_throws_puts_nothing) {
    // The wheel kept the slot, and the next poll read what was not there.
    struct Fragile {
        explicit Fragile(int which) : number(which) {}
        Fragile(Fragile&& other) : number(other.number) {
            if (throws) throw std::runtime_error("cannot be moved");
        }
        Fragile& operator=(Fragile&& other) {
            number = other.number;
            return *this;
        }
        int number;
        static bool& throws_now() {
            static bool now = false;
            return now;
        }
        bool& throws = throws_now();
    };
    ManualClock clock;
    DelayQueue<Fragile> queue(clock);
    Fragile::throws_now() = true;
    EXPECT_THROW(static_cast<void>(queue.put_at(Fragile(1), clock.now() + 1ms)), std::runtime_error);
    Fragile::throws_now() = false;
    EXPECT_TRUE(queue.put_at(Fragile(2), clock.now() + 2ms).ok());
    clock.advance(5ms);
    const auto taken = queue.poll();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->number, 2);
    EXPECT_FALSE(queue.poll());
}

}  // namespace
}  // namespace duewheel
