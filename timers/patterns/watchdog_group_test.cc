#include <atomic>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include <duewheel/patterns/watchdog_group.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using Keys = std::vector<std::string>;

class WatchdogGroupTest : public VirtualTime {
  protected:
    void hold(const char* key) { ASSERT_TRUE(group.hold(key).ok()); }

    std::map<std::string, Renewal> answers;  // where it is not `renewed`
    bool throws = false;
    std::vector<Keys> renewals;
    Keys lost;
    WatchdogGroup<std::string> group{service, 30s,
                                     [this](const Keys& held) {
                                         renewals.push_back(held);
                                         if (throws) throw std::runtime_error("no connection");
                                         std::vector<Renewal> all;
                                         for (const std::string& key : held) {
                                             const auto other = answers.find(key);
                                             all.push_back(other == answers.end() ? Renewal::renewed : other->second);
                                         }
                                         return all;
                                     },
                                     [this](const std::string& key) { lost.push_back(key); }};
};

TEST_F(WatchdogGroupTest, one_call_renews_all_and_a_later_lock_joins_the_next) {
    hold("a");
    hold("b");
    pass(15s);
    hold("c");
    EXPECT_EQ(group.remaining("a"), 25s);
    EXPECT_EQ(group.remaining("c"), 30s);
    pass(5s);
    EXPECT_EQ(renewals, (std::vector<Keys>{{"a", "b"}, {"a", "b", "c"}}));
    EXPECT_EQ(service.pending(), 1U) << "one timer for all";
    EXPECT_TRUE(group.release("b"));
    EXPECT_FALSE(group.release("b"));
    EXPECT_FALSE(group.release("nobody's"));
    pass(10s);
    EXPECT_EQ(renewals.back(), (Keys{"a", "c"}));
    EXPECT_TRUE(group.release("a") && group.release("c"));
    pass(1h);
    EXPECT_EQ(renewals.size(), 3U) << "nothing to renew, no call";
    hold("d");
    pass(10s);
    EXPECT_EQ(renewals.back(), Keys{"d"});
    EXPECT_TRUE(lost.empty());
}

TEST_F(WatchdogGroupTest, one_lock_is_lost_and_the_others_are_not) {
    hold("a");
    hold("b");
    hold("c");
    answers = {{"b", Renewal::not_ours}, {"c", Renewal::unknown}};
    pass(10s);
    EXPECT_EQ(lost, Keys{"b"});
    EXPECT_TRUE(group.is_held("a") && !group.is_held("b") && group.is_held("c"));
    pass(19s);
    EXPECT_TRUE(group.is_held("c"));
    pass(1s);
    EXPECT_EQ(lost, (Keys{"b", "c"})) << "a whole lease without a renewal";
    pass(1h);
    EXPECT_TRUE(group.is_held("a"));
    EXPECT_EQ(group.size(), 1U);
}

TEST_F(WatchdogGroupTest, a_renewal_that_throws_is_tried_again_for_one_lease) {
    hold("a");
    throws = true;
    pass(15s);
    hold("b");
    pass(5s);
    EXPECT_TRUE(group.is_held("a"));
    throws = false;
    pass(10s);
    EXPECT_EQ(group.remaining("b"), 30s) << "the others' failures are not its own";
    EXPECT_EQ(lost, Keys{"a"}) << "its time was up: it may be another one's by now";
    EXPECT_EQ(renewals, (std::vector<Keys>{{"a"}, {"a", "b"}, {"b"}}));
}

TEST_F(WatchdogGroupTest, all_are_lost_when_the_service_is_stopped) {
    hold("a");
    hold("b");
    service.stop();
    EXPECT_EQ(lost, (Keys{"a", "b"}));
    EXPECT_EQ(group.hold("c").error().code, ErrorCode::timers_stopped);
    EXPECT_EQ(group.size(), 0U);
}

TEST_F(WatchdogGroupTest, goes_on_after_a_driver_that_came_a_whole_lease_too_late) {
    hold("a");
    clock.advance(1h);
    service.advance();
    EXPECT_EQ(lost, Keys{"a"});
    EXPECT_TRUE(renewals.empty()) << "it may be another one's by now";
    hold("a");
    pass(10s);
    EXPECT_EQ(renewals, std::vector<Keys>{{"a"}});
}

TEST(WatchdogGroupThreads, a_release_waits_for_the_renewal_that_runs) {
    TimerService service;
    TimerThread thread(service);
    std::promise<void> begun;
    std::promise<void> may_end;
    std::atomic<bool> ended = false;
    WatchdogGroup<int> group(service, 30ms, [&, first = true](const std::vector<int>& held) mutable {
        if (std::exchange(first, false)) {
            begun.set_value();
            may_end.get_future().wait();
            ended = true;
        }
        return std::vector<Renewal>(held.size(), Renewal::renewed);
    });
    ASSERT_TRUE(group.hold(1).ok());
    begun.get_future().wait();
    std::thread releaser([&] {
        group.release(1);
        EXPECT_TRUE(ended);
    });
    while (group.size() > 0) std::this_thread::yield();
    may_end.set_value();
    releaser.join();
}

}  // namespace
}  // namespace duewheel
