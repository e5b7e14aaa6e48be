#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include "runtime/watched_thread_fixture.h"
#include <duewheel/patterns/watchdog_lease.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

class WatchdogLeaseTest : public VirtualTime {
  protected:
    WatchdogLease hold() {
        const auto renew = [this] {
            renewals.push_back(now());
            if (throws) throw std::runtime_error("no connection");
            return answer;
        };
        return WatchdogLease::hold(service, 30s, renew, [this] { lost.push_back(now()); }).value();
    }

    Renewal answer = Renewal::renewed;
    bool throws = false;
    std::vector<seconds> renewals;
    std::vector<seconds> lost;
};

TEST_F(WatchdogLeaseTest, is_renewed_at_every_third_while_it_is_held) {
    WatchdogLease lease = hold();
    pass(65s);
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 20s, 30s, 40s, 50s, 60s}));
    EXPECT_TRUE(lease.is_held());
    EXPECT_TRUE(lease.release());
    EXPECT_FALSE(lease.is_held());
    EXPECT_FALSE(lease.release()) << "only once";
    pass(1h);
    EXPECT_EQ(renewals.size(), 6U);
    EXPECT_TRUE(lost.empty()) << "a lease that was given back is not lost";
}

TEST_F(WatchdogLeaseTest, tells_how_long_it_is_held_without_another_renewal) {
    WatchdogLease lease = hold();
    EXPECT_EQ(lease.remaining(), 30s);
    pass(9s);
    EXPECT_EQ(lease.remaining(), 21s);
    pass(1s);
    EXPECT_EQ(lease.remaining(), 30s) << "renewed";
    answer = Renewal::unknown;
    pass(25s);
    EXPECT_EQ(lease.remaining(), 5s) << "from the last renewal that succeeded";
    pass(5s);
    EXPECT_EQ(lease.remaining(), 0s) << "lost";
    lease = hold();
    lease.release();
    EXPECT_EQ(lease.remaining(), 0s);
}

TEST_F(WatchdogLeaseTest, is_lost_at_once_when_another_one_holds_it) {
    const WatchdogLease lease = hold();
    pass(15s);
    answer = Renewal::not_ours;
    pass(1h);
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 20s}));
    EXPECT_EQ(lost, std::vector<seconds>{20s});
    EXPECT_FALSE(lease.is_held());
}

TEST_F(WatchdogLeaseTest, survives_renewals_without_an_answer_for_one_lease_and_no_longer) {
    const WatchdogLease lease = hold();
    pass(10s);
    answer = Renewal::unknown;
    pass(25s);
    EXPECT_TRUE(lease.is_held()) << "renewed at 10 s, it is held until 40 s";
    pass(4s);
    EXPECT_TRUE(lease.is_held());
    pass(1s);
    EXPECT_FALSE(lease.is_held());
    EXPECT_EQ(lost, std::vector<seconds>{40s});
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 20s, 30s})) << "nothing is renewed that has run out";
    pass(1h);
    EXPECT_EQ(lost.size(), 1U);
}

TEST_F(WatchdogLeaseTest, a_renewal_that_answers_again_goes_on_with_a_whole_lease) {
    const WatchdogLease lease = hold();
    answer = Renewal::unknown;
    pass(15s);
    answer = Renewal::renewed;
    pass(20s);
    answer = Renewal::unknown;
    pass(24s);
    EXPECT_TRUE(lease.is_held()) << "renewed at 30 s";
    pass(2s);
    EXPECT_EQ(lost, std::vector<seconds>{60s});
}

// Its place in the service was given up as the renewal ran, and wanted again afterwards: where another timer had got it
// meanwhile, a lease whose renewal had just been answered was lost.
TEST_F(WatchdogLeaseTest, keeps_its_place_in_a_service_that_is_full) {
    TimerService small({.max_pending = 1}, clock);
    int renewed = 0;
    const auto renew = [&] {
        ++renewed;
        EXPECT_FALSE(small.schedule_after(1h, [] {}).ok());
        return Renewal::renewed;
    };
    {
        const WatchdogLease lease = WatchdogLease::hold(small, 30s, renew, [this] { lost.push_back(now()); }).value();
        for (int second = 0; second < 65; ++second) {
            clock.advance(1s);
            small.advance();
        }
        EXPECT_EQ(renewed, 6);
        EXPECT_TRUE(lost.empty());
        EXPECT_TRUE(lease.is_held());
    }
    EXPECT_TRUE(small.schedule_after(1h, [] {}).ok()) << "and gives it up when it is released";
}

// The timer that calls `renew` is the lease's for all thirds, and no caller's to cancel.
TEST_F(WatchdogLeaseTest, a_renewal_has_no_timer_that_it_could_cancel) {
    int renewed = 0;
    const auto renew = [&] {
        ++renewed;
        EXPECT_EQ(TimerService::current().cancel(), CancelOutcome::already_done);
        return Renewal::renewed;
    };
    const WatchdogLease lease = WatchdogLease::hold(service, 30s, renew).value();
    pass(65s);
    EXPECT_EQ(renewed, 6);
}

// A renewal may take so long that the next third would end after the lease: the end itself is looked at.
TEST_F(WatchdogLeaseTest, is_lost_at_its_end_and_not_a_third_after_it) {
    const WatchdogLease lease = WatchdogLease::hold(
                                    service, 30s,
                                    [this] {
                                        renewals.push_back(now());
                                        clock.advance(3s);
                                        return Renewal::unknown;
                                    },
                                    [this] { lost.push_back(now()); })
                                    .value();
    pass(1h);
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 23s}));
    EXPECT_EQ(lost, std::vector<seconds>{30s});
    EXPECT_EQ(service.pending(), 0U);
}

// The other side counts from the arrival of the renewal, which is unknown here: it was not before the renewal was sent.
TEST_F(WatchdogLeaseTest, is_counted_from_before_the_renewal_was_sent_and_not_from_its_answer) {
    const auto renew = [this] {
        renewals.push_back(now());
        if (renewals.size() > 1) return Renewal::unknown;
        clock.advance(5s);
        return Renewal::renewed;
    };
    const WatchdogLease lease = WatchdogLease::hold(service, 30s, renew, [this] { lost.push_back(now()); }).value();
    pass(39s);
    EXPECT_TRUE(lease.is_held());
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 25s, 35s}));
    pass(1s);
    EXPECT_FALSE(lease.is_held());
    EXPECT_EQ(lost, std::vector<seconds>{40s});
}

// A released lock must not be renewed afterwards, when another holder may have it.
TEST_F(WatchdogLeaseTest, a_release_waits_for_a_renewal_that_runs_on_another_thread) {
    std::optional<WatchdogLease> lease;
    std::optional<WatchedThread> releasing;
    const auto renew = [&] {
        releasing.emplace([&] { EXPECT_TRUE(lease->release()); });
        EXPECT_TRUE(releasing->comes_to_wait());
        return Renewal::renewed;
    };
    lease = WatchdogLease::hold(service, 30s, renew, [] { ADD_FAILURE(); }).value();
    pass(10s);
    releasing.reset();
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(WatchdogLeaseTest, a_service_that_stops_as_it_is_renewed_loses_it) {
    const WatchdogLease lease = WatchdogLease::hold(
                                    service, 30s,
                                    [this] {
                                        service.stop();
                                        return Renewal::renewed;
                                    },
                                    [this] { lost.push_back(now()); })
                                    .value();
    pass(1h);
    EXPECT_EQ(lost, std::vector<seconds>{10s});
    EXPECT_FALSE(lease.is_held());
}

TEST_F(WatchdogLeaseTest, an_exception_is_a_renewal_without_an_answer) {
    const WatchdogLease lease = hold();
    throws = true;
    testing::internal::CaptureStderr();
    pass(1h);
    EXPECT_FALSE(testing::internal::GetCapturedStderr().empty()) << "it is reported as a task's error";
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 20s}));
    EXPECT_EQ(lost, std::vector<seconds>{30s});
}

TEST_F(WatchdogLeaseTest, a_late_driver_does_not_renew_what_has_run_out) {
    // The machine slept through the lease: another holder may have it, and must not be robbed of it.
    const WatchdogLease lease = hold();
    clock.advance(31s);
    EXPECT_FALSE(lease.is_held()) << "before anybody has told it";
    service.advance();
    EXPECT_TRUE(renewals.empty());
    EXPECT_EQ(lost.size(), 1U);
}

TEST_F(WatchdogLeaseTest, going_out_of_scope_releases_and_so_does_the_renewal_itself) {
    { const WatchdogLease lease = hold(); }
    pass(1h);
    EXPECT_TRUE(renewals.empty());
    EXPECT_EQ(service.pending(), 0U);

    std::optional<WatchdogLease> own;
    int calls = 0;
    own = WatchdogLease::hold(service, 30s, [&] {
              ++calls;
              own.reset();
              return Renewal::renewed;
          }).value();
    pass(1h);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(WatchdogLeaseTest, one_that_is_moved_stays_held) {
    WatchdogLease lease = hold();
    WatchdogLease moved = std::move(lease);
    pass(10s);
    EXPECT_EQ(renewals.size(), 1U);
    EXPECT_TRUE(moved.is_held());
    WatchdogLease second = hold();
    moved = std::move(second);
    pass(10s);
    EXPECT_EQ(renewals.size(), 2U) << "the first was released when another took its place";
}

// A service that was stopped renewed nothing any more, and the holder was not told: the lease ran out as he worked on.
TEST_F(WatchdogLeaseTest, is_lost_when_the_service_is_stopped_between_two_renewals) {
    WatchdogLease lease = hold();
    WatchdogLease released = hold();
    pass(15s);
    EXPECT_TRUE(released.release());
    service.stop();
    EXPECT_EQ(lost, std::vector<seconds>{15s});
    EXPECT_FALSE(lease.is_held());
    EXPECT_FALSE(lease.release());
    const auto lose = [] { ADD_FAILURE() << "what is refused is not lost"; };
    const auto refused = WatchdogLease::hold(
        service, 30s, [] { return Renewal::renewed; }, lose);
    EXPECT_EQ(refused.error().code, ErrorCode::timers_stopped);
    pass(1h);
    EXPECT_EQ(renewals, (std::vector<seconds>{10s, 10s}));
    EXPECT_EQ(lost.size(), 1U);
}

TEST_F(WatchdogLeaseTest, is_lost_when_an_executor_drops_its_renewal_unless_it_is_released_before_that_is_told) {
    // It stayed held, and was renewed no more.
    std::vector<TimerTask> held;
    TimerService own({.executor = [&](TimerTask task) { held.push_back(std::move(task)); }}, clock);
    for (const bool releases : {false, true}) {
        lost.clear();
        WatchdogLease lease = WatchdogLease::hold(
                                  own, 30s, [] { return Renewal::renewed; }, [this] { lost.push_back(now()); })
                                  .value();
        clock.advance(10s);
        own.advance();
        ASSERT_EQ(held.size(), 1U);
        std::exchange(held, {}).clear();
        EXPECT_FALSE(lease.is_held());
        ASSERT_EQ(held.size(), 1U);
        if (releases) {
            EXPECT_FALSE(lease.release());
        }
        std::exchange(held, {})[0]();
        EXPECT_EQ(lost.size(), releases ? 0U : 1U);
    }
}

// What `lost` uses goes with the holder, who may be on another thread than the one that stops the service.
TEST_F(WatchdogLeaseTest, a_release_waits_for_what_is_called_when_the_service_stops) {
    std::optional<WatchdogLease> lease;
    std::optional<WatchedThread> releasing;
    const auto lose = [&] {
        EXPECT_FALSE(lease->release()) << "which does not wait for itself";
        releasing.emplace([&] { lease.reset(); });
        EXPECT_TRUE(releasing->comes_to_wait());
    };
    lease = WatchdogLease::hold(
                service, 30s, [] { return Renewal::renewed; }, lose)
                .value();
    service.stop();
    releasing.reset();
    EXPECT_FALSE(lease.has_value());
}

// A task that releases the lease waits for `lost`; and `lost` is not to wait for that task.
TEST_F(WatchdogLeaseTest, a_task_that_releases_it_and_what_is_called_when_it_is_lost_do_not_wait_for_each_other) {
    TimerService other({}, clock);
    std::optional<WatchdogLease> lease;
    std::optional<WatchedThread> driver;
    Timeout task = other.schedule_after(0s, [&] { EXPECT_FALSE(lease->release()); }).value();
    const auto lose = [&] {
        driver.emplace([&] { other.advance(); });
        EXPECT_TRUE(driver->comes_to_wait());
        EXPECT_EQ(task.cancel_and_wait(), CancelOutcome::running_elsewhere);
    };
    lease = WatchdogLease::hold(
                service, 30s, [] { return Renewal::renewed; }, lose)
                .value();
    service.stop();
}

}  // namespace
}  // namespace duewheel
