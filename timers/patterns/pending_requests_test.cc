#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include "runtime/watched_thread_fixture.h"
#include <duewheel/patterns/pending_requests.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;

class PendingRequestsTest : public VirtualTime {
  protected:
    using Requests = PendingRequests<std::string>;

    Requests::Request start(std::chrono::nanoseconds patience = 2s) {
        return requests
            .start(patience,
                   [this](Result<std::string> answer) {
                       answers.push_back(answer ? *answer : std::string(library_name_of(answer.error().code)));
                       if (!answer) messages.push_back(answer.error().message);
                   })
            .value();
    }

    using Texts = std::vector<std::string>;
    Texts answers;
    Texts messages;
    Requests requests{service};
};

TEST_F(PendingRequestsTest, an_answer_in_time_cancels_the_time_out) {
    const Requests::Request request = start();
    pass(1s);
    EXPECT_TRUE(requests.complete(request.id, "42"));
    EXPECT_EQ(service.pending(), 0U);
    pass(1h);
    EXPECT_EQ(answers, Texts{"42"});
    EXPECT_FALSE(request.stop.stop_requested());
    EXPECT_EQ(requests.size(), 0U);
}

TEST_F(PendingRequestsTest, expiry_fails_the_caller_once_and_stops_the_work) {
    std::optional<std::string> seen;
    bool stopped_when_told = true;
    const auto request = requests
                             .start(2s,
                                    [&](Result<std::string> answer) {
                                        seen = library_name_of(answer.error().code);
                                        stopped_when_told = false;
                                    })
                             .value();
    bool stopped = false;
    const std::stop_callback on_stop(request.stop, [&] { stopped = true; });
    pass(1999ms);
    EXPECT_FALSE(stopped);
    pass(1ms);
    EXPECT_EQ(seen, "request_timeout");
    EXPECT_TRUE(stopped);
    EXPECT_FALSE(stopped_when_told);
    seen.reset();
    EXPECT_FALSE(requests.complete(request.id, "late")) << "an answer that comes too late is told so";
    pass(1h);
    EXPECT_EQ(seen, std::nullopt);
}

TEST_F(PendingRequestsTest, a_timeout_reports_whether_the_request_was_sent) {
    start();
    const Requests::Request sent = start();
    requests.sent(sent.id);
    requests.sent(4711);
    pass(2s);
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_NE(messages[0].find("not even sent within 2000 ms"), std::string::npos) << messages[0];
    EXPECT_NE(messages[1].find("No answer within 2000 ms"), std::string::npos) << messages[1];
}

TEST_F(PendingRequestsTest, the_first_wins_and_all_others_are_refused) {
    const Requests::Request request = start();
    EXPECT_TRUE(requests.cancel(request.id));
    EXPECT_FALSE(requests.cancel(request.id));
    EXPECT_FALSE(requests.complete(request.id, "42"));
    EXPECT_FALSE(requests.fail(request.id, Error{ErrorCode{kFirstApplicationErrorCode}, "x"}));
    EXPECT_EQ(answers, Texts{"request_cancelled"});
    EXPECT_TRUE(request.stop.stop_requested());
    EXPECT_FALSE(requests.complete(0, "never started"));
}

TEST_F(PendingRequestsTest, the_callback_may_start_the_next_request) {
    int tries = 0;
    std::function<void(Result<std::string>)> again = [&](Result<std::string>) {
        if (++tries < 3) {
            EXPECT_TRUE(requests.start(2s, again).ok());
        }
    };
    ASSERT_TRUE(requests.start(2s, again).ok());
    pass(5999ms);
    EXPECT_EQ(tries, 2);
    pass(1ms);
    EXPECT_EQ(tries, 3);
    EXPECT_EQ(requests.size(), 0U);
}

TEST_F(PendingRequestsTest, stop_fails_all_in_order_and_refuses_what_comes) {
    const Requests::Request first = start();
    start();
    EXPECT_EQ(requests.stop(), 2U);
    EXPECT_EQ(answers, (Texts{"request_stopped", "request_stopped"}));
    EXPECT_TRUE(first.stop.stop_requested());
    EXPECT_EQ(requests.start(1s, [](Result<std::string>) { ADD_FAILURE(); }).error().code, ErrorCode::request_stopped);
    EXPECT_EQ(requests.stop(), 0U);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(PendingRequestsTest, a_full_service_is_reported_and_the_callback_is_never_called) {
    TimerService full({.max_pending = 0}, clock);
    PendingRequests<int> none(full);
    EXPECT_EQ(none.start(1s, [](Result<int>) { ADD_FAILURE(); }).error().code, ErrorCode::timers_full);
    EXPECT_EQ(none.size(), 0U);
}

// A clock on which a test comes between the moment at which a timer's task runs and what it does, where its service
// measures how long tasks take.
class BegunTaskClock final : public TimerClock {
  public:
    explicit BegunTaskClock(ManualClock& clock) : clock_(clock) {}
    TimerInstant now() const override {
        if (happens_ && TimerService::current()) std::exchange(happens_, nullptr)();
        return clock_.now();
    }
    Instant wall_now() const override { return clock_.wall_now(); }
    std::unique_ptr<TimerAlarm> make_alarm() const override { return clock_.make_alarm(); }
    void before_next_task(std::function<void()> happens) { happens_ = std::move(happens); }

  private:
    ManualClock& clock_;
    mutable std::function<void()> happens_;
};

// A timeout that has started and lost still reads the table, which the callback of the response may destroy.
TEST_F(PendingRequestsTest, no_callback_runs_before_a_lost_time_out_has_left_the_table) {
    for (const bool stops : {false, true}) {
        BegunTaskClock begun(clock);
        TimerService own({.slow_task = 1h}, begun);
        std::optional<PendingRequests<int>> table(own);
        std::optional<WatchedThread> ending;
        std::atomic<int> told = 0;
        const auto request = table->start(1s, [&](const Result<int>&) { ++told; }).value();
        begun.before_next_task([&] {
            ending.emplace([&] {
                if (stops) {
                    EXPECT_EQ(table->stop(), 1U);
                } else {
                    EXPECT_TRUE(table->complete(request.id, 42));
                }
                table.reset();
            });
            EXPECT_TRUE(ending->comes_to_wait());
            EXPECT_EQ(told, 0);
        });
        clock.advance(1s);
        own.advance();
        ending.reset();
        EXPECT_EQ(told, 1);
    }
}

TEST_F(PendingRequestsTest, its_destructor_waits_for_the_callback_of_a_timeout) {
    std::optional<PendingRequests<int>> table(service);
    std::optional<WatchedThread> ending;
    const auto done = [&](const Result<int>&) {
        ending.emplace([&] { table.reset(); });
        EXPECT_TRUE(ending->comes_to_wait());
    };
    ASSERT_TRUE(table->start(1s, done).ok());
    pass(1s);
    ending.reset();
    EXPECT_FALSE(table.has_value());
}

TEST(PendingRequestsRace, each_caller_is_notified_exactly_once_when_responses_race_timeouts) {
    // Trap: cancel racing fire: one winner, and both told.
    constexpr std::size_t kRequests = 5000;
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    std::vector<std::atomic<int>> told(kRequests);
    std::atomic<std::size_t> completed = 0;
    std::atomic<std::size_t> answered = 0;
    {
        PendingRequests<int> requests(service);
        std::atomic<PendingRequests<int>::Id> newest = 0;
        std::atomic<bool> ends = false;
        std::thread server([&] {
            PendingRequests<int>::Id id = 0;
            while (!ends) {
                if (id < newest) completed += requests.complete(++id, 1);
            }
        });
        for (std::size_t i = 0; i < kRequests; ++i) {
            const auto request =
                requests.start(std::chrono::milliseconds(i % 3), [&told, &answered, i](Result<int> answer) {
                    ++told[i];
                    answered += answer.ok();
                });
            ASSERT_TRUE(request.ok());
            newest = request->id;
            if (i % 4 == 0) clock.advance(1ms);
        }
        ends = true;
        server.join();
    }
    for (const std::atomic<int>& times : told) EXPECT_EQ(times, 1);
    EXPECT_EQ(completed, answered) << "complete() tells who has won";
}

}  // namespace
}  // namespace duewheel
