// WheelTimer compared with boost::asio::steady_timer: the same programs run on both and must behave the same.
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <duewheel/asio.h>
#include <duewheel/coroutine.h>
#include <duewheel/task.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;

std::chrono::steady_clock::time_point now() {
    return std::chrono::steady_clock::time_point(monotonic_clock().now().time_since_epoch());
}

template <class Timer>
class WaitableTimerTest : public testing::Test {
  protected:
    using Log = std::vector<std::string>;

    auto note(std::string name) {
        return [this, name](error_code error) {
            log.push_back(name + (error == boost::asio::error::operation_aborted ? " aborted" : error ? " ?" : ""));
        };
    }

    boost::asio::io_context context;
    Log log;
};

using Timers = testing::Types<boost::asio::steady_timer, WheelTimer>;
TYPED_TEST_SUITE(WaitableTimerTest, Timers);

TYPED_TEST(WaitableTimerTest, timers_expire_in_order_and_run_returns) {
    TypeParam late(this->context, 30ms);
    TypeParam early(this->context, 10ms);
    TypeParam past(this->context, now() - 1h);
    const auto begin = now();
    late.async_wait(this->note("late"));
    early.async_wait(this->note("early"));
    past.async_wait(this->note("past"));
    EXPECT_GE(late.expiry(), begin + 20ms);
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"past", "early", "late"}));
    EXPECT_GE(now(), late.expiry());
}

TYPED_TEST(WaitableTimerTest, run_returns_at_once_without_waits) {
    TypeParam timer(this->context, 1h);
    EXPECT_EQ(this->context.run(), 0U);
}

TYPED_TEST(WaitableTimerTest, cancel_aborts_all_waits) {
    TypeParam timer(this->context, 1h);
    timer.async_wait(this->note("one"));
    timer.async_wait(this->note("two"));
    EXPECT_EQ(timer.cancel(), 2U);
    EXPECT_EQ(timer.cancel(), 0U);
    EXPECT_EQ(this->log.size(), 0U) << "handlers run in the context";
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"one aborted", "two aborted"}));
}

TYPED_TEST(WaitableTimerTest, cancel_one_aborts_the_oldest) {
    TypeParam timer(this->context, 5ms);
    timer.async_wait(this->note("one"));
    timer.async_wait(this->note("two"));
    EXPECT_EQ(timer.cancel_one(), 1U);
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"one aborted", "two"}));
}

TYPED_TEST(WaitableTimerTest, run_returns_after_the_only_wait_was_cancelled) {
    TypeParam timer(this->context, 1h);
    timer.async_wait(this->note("one"));
    EXPECT_EQ(timer.cancel_one(), 1U);
    timer.async_wait(this->note("two"));
    EXPECT_EQ(timer.cancel(), 1U);
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"one aborted", "two aborted"}));
}

TYPED_TEST(WaitableTimerTest, a_new_expiry_aborts_the_old_waits) {
    TypeParam timer(this->context, 1h);
    timer.async_wait(this->note("old"));
    EXPECT_EQ(timer.expires_after(5ms), 1U);
    timer.async_wait(this->note("new"));
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"old aborted", "new"}));
    EXPECT_EQ(timer.expires_at(timer.expiry() + 1ms), 0U) << "an expired wait is not cancelled";
    timer.async_wait(this->note("again"));
    this->context.restart();
    this->context.run();
    EXPECT_EQ(this->log.back(), "again");
}

TYPED_TEST(WaitableTimerTest, a_handler_may_start_its_timer_again) {
    TypeParam timer(this->context);
    int left = 5;
    std::function<void(error_code)> again = [&](error_code error) {
        if (error || --left == 0) return;
        timer.expires_at(timer.expiry() + 1ms);
        timer.async_wait(again);
    };
    timer.expires_after(1ms);
    timer.async_wait(again);
    this->context.run();
    EXPECT_EQ(left, 0);
}

TYPED_TEST(WaitableTimerTest, a_timer_is_moved_and_destroyed_while_it_waits) {
    {
        TypeParam first(this->context, 1h);
        first.async_wait(this->note("moved"));
        TypeParam second(std::move(first));
        TypeParam third(this->context, 1h);
        third.async_wait(this->note("assigned to"));
        third = std::move(second);
    }
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"assigned to aborted", "moved aborted"}));
}

TYPED_TEST(WaitableTimerTest, handlers_run_on_their_executor) {
    auto strand = boost::asio::make_strand(this->context);
    TypeParam timer(this->context, 1ms);
    bool in_strand = false;
    timer.async_wait(
        boost::asio::bind_executor(strand, [&](error_code) { in_strand = strand.running_in_this_thread(); }));
    this->context.run();
    EXPECT_TRUE(in_strand);
}

TYPED_TEST(WaitableTimerTest, completion_tokens_of_all_kinds) {
    TypeParam timer(this->context, 1ms);
    std::future<void> future = timer.async_wait(boost::asio::use_future);
    TypeParam awaited(this->context, 1ms);
    bool has_waited = false;
    const auto wait = [&]() -> boost::asio::awaitable<void> {
        co_await awaited.async_wait(boost::asio::use_awaitable);
        has_waited = true;
    };
    boost::asio::co_spawn(this->context, wait(), boost::asio::detached);
    this->context.run();
    future.get();
    EXPECT_TRUE(has_waited);
}

// A wait could be ended with all others of its timer or as the oldest, not by the slot of its token. So what waits for
// the first of several, as `one || other` does, waited for the last.
TYPED_TEST(WaitableTimerTest, a_cancellation_slot_ends_its_wait_alone) {
    boost::asio::cancellation_signal signal;
    TypeParam timer(this->context, 5ms);
    timer.async_wait(this->note("one"));
    timer.async_wait(boost::asio::bind_cancellation_slot(signal.slot(), this->note("two")));
    timer.async_wait(this->note("three"));
    signal.emit(boost::asio::cancellation_type::none);
    signal.emit(boost::asio::cancellation_type::total);
    signal.emit(boost::asio::cancellation_type::total);
    EXPECT_EQ(this->log.size(), 0U);
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"two aborted", "one", "three"}));
    signal.emit(boost::asio::cancellation_type::all);
    EXPECT_EQ(timer.cancel(), 0U);
}

TYPED_TEST(WaitableTimerTest, a_cancellation_slot_ends_the_only_wait_and_run_returns) {
    for (const auto type : {boost::asio::cancellation_type::terminal, boost::asio::cancellation_type::partial,
                            boost::asio::cancellation_type::total}) {
        this->log.clear();
        boost::asio::cancellation_signal signal;
        TypeParam timer(this->context, 1h);
        timer.async_wait(boost::asio::bind_cancellation_slot(signal.slot(), this->note("only")));
        signal.emit(type);
        this->context.restart();
        this->context.run();
        EXPECT_EQ(this->log, std::vector<std::string>{"only aborted"});
        timer.expires_after(1ms);
        timer.async_wait(this->note("next"));
        signal.emit(type);
        this->context.restart();
        this->context.run();
        EXPECT_EQ(this->log.back(), "next") << "a slot of a wait that is over ends no other";
    }
}

TYPED_TEST(WaitableTimerTest, the_first_of_two_waits_ends_the_other) {
    using namespace boost::asio::experimental::awaitable_operators;
    TypeParam near(this->context, 1ms);
    TypeParam far(this->context, 1h);
    std::size_t first = 9;
    const auto wait = [&]() -> boost::asio::awaitable<void> {
        const auto either =
            co_await (far.async_wait(boost::asio::use_awaitable) || near.async_wait(boost::asio::use_awaitable));
        first = either.index();
    };
    boost::asio::co_spawn(this->context, wait(), boost::asio::detached);
    this->context.run();
    EXPECT_EQ(first, 1U);
}

TYPED_TEST(WaitableTimerTest, a_default_token_and_another_executor) {
    using Awaited = boost::asio::use_awaitable_t<>::as_default_on_t<TypeParam>;
    bool has_waited = false;
    const auto wait = [&]() -> boost::asio::awaitable<void> {
        Awaited timer(this->context, 1ms);
        co_await timer.async_wait();
        auto adapted = boost::asio::use_awaitable.as_default_on(TypeParam(this->context, 1ms));
        co_await adapted.async_wait();
        has_waited = true;
    };
    boost::asio::co_spawn(this->context, wait(), boost::asio::detached);
    this->context.run();
    EXPECT_TRUE(has_waited);
}

TYPED_TEST(WaitableTimerTest, what_waits_when_the_context_is_stopped_waits_on) {
    TypeParam near(this->context, 1ms);
    TypeParam far(this->context, 1h);
    near.async_wait([&](error_code) { this->context.stop(); });
    far.async_wait(this->note("far"));
    this->context.run();
    EXPECT_TRUE(this->context.stopped());
    EXPECT_EQ(this->log.size(), 0U);
    EXPECT_EQ(far.expires_after(1ms), 1U);
    far.async_wait(this->note("far"));
    this->context.restart();
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"far aborted", "far"}));
}

TYPED_TEST(WaitableTimerTest, the_ends_of_time_are_no_trap) {
    TypeParam timer(this->context);
    timer.expires_after(std::chrono::steady_clock::duration::min());
    timer.async_wait(this->note("past"));
    this->context.run();
    timer.expires_after(std::chrono::steady_clock::duration::max());
    EXPECT_GT(timer.expiry(), now() + 100 * 365 * 24h);
    timer.async_wait(this->note("never"));
    this->context.restart();
    EXPECT_EQ(this->context.poll(), 0U);
    timer.expires_at(std::chrono::steady_clock::time_point::min());
    timer.async_wait(this->note("long ago"));
    this->context.restart();
    this->context.run();
    EXPECT_EQ(this->log, (std::vector<std::string>{"past", "never aborted", "long ago"}));
}

TYPED_TEST(WaitableTimerTest, what_waits_when_the_context_goes_is_destroyed_with_it) {
    const auto token = std::make_shared<int>();
    auto other = std::make_unique<boost::asio::io_context>();
    auto timer = std::make_shared<TypeParam>(*other, 1h);
    timer->async_wait([timer, token](error_code) { FAIL(); });  // it holds its own timer
    timer.reset();
    other.reset();
    EXPECT_EQ(token.use_count(), 1);
}

TYPED_TEST(WaitableTimerTest, wait_blocks_until_the_expiry) {
    TypeParam timer(this->context, 3ms);
    timer.wait();
    EXPECT_GE(now(), timer.expiry());
}

TYPED_TEST(WaitableTimerTest, several_threads_run_the_context) {
    constexpr int kChains = 50;
    std::atomic<int> done{0};
    std::vector<std::shared_ptr<TypeParam>> timers;
    std::function<void(std::shared_ptr<TypeParam>, int)> chain = [&](std::shared_ptr<TypeParam> timer, int left) {
        timer->expires_after(std::chrono::microseconds(500 * (left % 3)));
        timer->async_wait([&, timer, left](error_code error) {
            if (error) return;
            left == 0 ? static_cast<void>(++done) : chain(timer, left - 1);
        });
    };
    for (int i = 0; i < kChains; ++i) chain(std::make_shared<TypeParam>(this->context), 20);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([this] { this->context.run(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, kChains);
}

// What a slot was told of goes with a timer that is moved. Asio's own forgets it.
TEST(WheelTimer, a_cancellation_slot_follows_a_timer_that_is_moved) {
    boost::asio::io_context context;
    boost::asio::cancellation_signal signal;
    bool aborted = false;
    WheelTimer timer(context, 1h);
    timer.async_wait(boost::asio::bind_cancellation_slot(
        signal.slot(), [&](error_code error) { aborted = error == boost::asio::error::operation_aborted; }));
    {
        const WheelTimer moved(std::move(timer));
        signal.emit(boost::asio::cancellation_type::total);
        context.run();
        EXPECT_TRUE(aborted);
    }
    signal.emit(boost::asio::cancellation_type::total);
}

// The thread on which the last wait ended was taken for the one that drives, and a stop on it went on with what sleeps
// beside that.
TEST(WheelTimer, a_wait_that_ends_beside_the_driver_leaves_sleeping_coroutines_to_it) {
    boost::asio::io_context context;
    TimerService& service = asio_timer_service(context);
    std::promise<void> begun;
    std::promise<void> stopped;
    std::thread::id went_on_at;
    const auto doze = [&]() -> Task<void> {
        static_cast<void>(co_await sleep_for(service, 1h));
        went_on_at = std::this_thread::get_id();
    };
    start(doze());
    static_cast<void>(service.schedule_after(0ns, [&] {
        begun.set_value();
        stopped.get_future().wait();
        EXPECT_EQ(went_on_at, std::thread::id()) << "not beside this task";
    }));
    std::thread driver([&] { context.run(); });
    const std::thread::id driver_id = driver.get_id();
    WheelTimer timer(context, 1h);
    timer.async_wait([](error_code) {});
    begun.get_future().wait();
    timer.cancel();
    static_cast<void>(service.stop());
    stopped.set_value();
    driver.join();
    EXPECT_EQ(went_on_at, driver_id);
}

TEST(WheelTimer, callbacks_and_timers_share_the_contexts_service) {
    boost::asio::io_context context;
    TimerService& service = asio_timer_service(context);
    bool fired = false;
    static_cast<void>(service.schedule_after(1ms, [&] { fired = true; }));
    context.run();
    EXPECT_TRUE(fired);
}

}  // namespace
}  // namespace duewheel
