#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "patterns/virtual_time_fixture.h"
#include "runtime/watched_thread_fixture.h"
#include <duewheel/patterns/purgatory.h>
#include <duewheel/timer_thread.h>

namespace duewheel {
namespace {

using namespace std::chrono_literals;
using Outcomes = std::vector<Completion>;

class PurgatoryTest : public VirtualTime {
  protected:
    // An operation that is ready as soon as `level` is high enough.
    bool watch(std::vector<std::string> keys, int wanted, std::chrono::nanoseconds patience = 30s) {
        return purgatory
            .try_complete_else_watch(
                std::move(keys), patience, [this, wanted] { return level >= wanted; },
                [this](Completion how) { outcomes.push_back(how); })
            .value();
    }

    int level = 0;
    Outcomes outcomes;
    Purgatory<std::string> purgatory{service};
};

TEST_F(PurgatoryTest, what_is_ready_at_once_is_not_watched) {
    EXPECT_TRUE(watch({"a"}, 0));
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
    EXPECT_EQ(purgatory.delayed(), 0U);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(PurgatoryTest, completes_when_a_watched_key_says_so_and_leaves_all_keys) {
    EXPECT_FALSE(watch({"a", "b", "c"}, 1));
    EXPECT_FALSE(watch({"b"}, 2));
    EXPECT_EQ(purgatory.delayed(), 2U);
    EXPECT_EQ(purgatory.watched(), 4U);
    EXPECT_EQ(purgatory.check_and_complete("b"), 0U);
    EXPECT_EQ(purgatory.check_and_complete("nobody's"), 0U);
    level = 1;
    EXPECT_EQ(purgatory.check_and_complete("b"), 1U);
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
    EXPECT_EQ(purgatory.delayed(), 1U);
    EXPECT_EQ(purgatory.watched(), 1U);
    EXPECT_EQ(purgatory.keys(), 1U) << "a key under which nothing waits is not kept";
    EXPECT_EQ(service.pending(), 1U) << "nor is its deadline";
    pass(1h);
    EXPECT_EQ(outcomes, (Outcomes{Completion::satisfied, Completion::expired}));
}

TEST_F(PurgatoryTest, expires_at_its_deadline_once) {
    EXPECT_FALSE(watch({"a"}, 1, 10s));
    pass(9s);
    EXPECT_TRUE(outcomes.empty());
    pass(1s);
    EXPECT_EQ(outcomes, Outcomes{Completion::expired});
    level = 1;
    EXPECT_EQ(purgatory.check_and_complete("a"), 0U);
    EXPECT_EQ(purgatory.keys(), 0U);
    EXPECT_FALSE(watch({}, 2, 5s)) << "under no key, only the deadline ends it";
    pass(5s);
    EXPECT_EQ(outcomes.size(), 2U);
}

TEST_F(PurgatoryTest, completed_operations_leave_memory_at_once) {
    // Trap: the deadlines of what was completed keep it until they come, and a busy broker fills up with the past.
    const auto held = std::make_shared<int>(0);
    for (int i = 0; i < 10'000; ++i) {
        const Result<bool> over = purgatory.try_complete_else_watch(
            {"a", "b"}, 24h, [this, held] { return level > 0; }, [held](Completion) {});
        ASSERT_TRUE(over.ok());
    }
    EXPECT_EQ(held.use_count(), 20'001);
    level = 1;
    EXPECT_EQ(purgatory.check_and_complete("b"), 10'000U);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(service.pending(), 0U);
}

TEST_F(PurgatoryTest, ready_and_done_may_use_the_purgatory) {
    // Trap: a change inside a look is missed, or the look waits for itself.
    int looks = 0;
    const Result<bool> over = purgatory.try_complete_else_watch(
        {"a"}, 30s,
        [&] {
            if (++looks == 3) {
                level = 1;
                EXPECT_EQ(purgatory.check_and_complete("a"), 0U) << "who looks already looks once more";
                return false;
            }
            return level > 0;
        },
        [&](Completion how) {
            outcomes.push_back(how);
            EXPECT_FALSE(watch({"a"}, 9, 1s));
        });
    EXPECT_EQ(over.value(), false);
    EXPECT_EQ(purgatory.check_and_complete("a"), 1U);
    EXPECT_EQ(looks, 4);
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
    EXPECT_EQ(purgatory.delayed(), 1U);
}

TEST_F(PurgatoryTest, a_change_between_the_first_check_and_the_watch_is_not_missed) {
    // Trap: a change comes before the watch, and the operation waits for a change that has happened.
    int looks = 0;
    const Result<bool> over = purgatory.try_complete_else_watch(
        {"a"}, 30s,
        [&] {
            if (++looks > 1) return level > 0;
            level = 1;
            EXPECT_EQ(purgatory.check_and_complete("a"), 0U);
            return false;
        },
        [this](Completion how) { outcomes.push_back(how); });
    EXPECT_EQ(over.value(), true);
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
}

TEST_F(PurgatoryTest, a_check_that_throws_leaves_the_operation_waiting) {
    const Result<bool> over = purgatory.try_complete_else_watch(
        {"a"}, 30s,
        [this] {
            if (level == 1) throw std::runtime_error("looking failed");
            return level == 2;
        },
        [this](Completion how) { outcomes.push_back(how); });
    ASSERT_TRUE(over.ok());
    level = 1;
    EXPECT_THROW(purgatory.check_and_complete("a"), std::runtime_error);
    level = 2;
    EXPECT_EQ(purgatory.check_and_complete("a"), 1U);
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
}

TEST_F(PurgatoryTest, a_check_that_throws_does_not_prevent_other_checks) {
    // One that always threw, and was watched first, kept all behind it waiting until their deadlines.
    bool throws = false;
    const Result<bool> over = purgatory.try_complete_else_watch(
        {"a"}, 30s,
        [&] {
            if (throws) throw std::runtime_error("looking failed");
            return false;
        },
        [](Completion) {});
    ASSERT_TRUE(over.ok());
    watch({"a"}, 1);
    throws = true;
    level = 1;
    EXPECT_THROW(purgatory.check_and_complete("a"), std::runtime_error);
    EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
    EXPECT_EQ(purgatory.delayed(), 1U);
}

// A check that threw dropped the checks that others had requested meanwhile: their change was not checked, and the
// operation waited for its deadline.
TEST_F(PurgatoryTest, a_check_that_throws_loses_no_request_for_another) {
    const auto watch_one_that_throws = [this](int wanted_looks) {
        auto looks = std::make_shared<int>(0);
        const Result<bool> over = purgatory.try_complete_else_watch(
            {"a"}, 30s,
            [this, looks, wanted_looks] {
                ++*looks;
                if (*looks <= 2) return false;  // the two before it waits
                if (*looks < wanted_looks) {
                    level = 1;
                    EXPECT_EQ(purgatory.check_and_complete("a"), 0U) << "left to the one who looks";
                    throw std::runtime_error("look " + std::to_string(*looks));
                }
                return level == 1;
            },
            [this](Completion how) { outcomes.push_back(how); });
        EXPECT_FALSE(over.value());
    };
    for (const int wanted_looks : {4, 6}) {
        level = 0;
        outcomes.clear();
        watch_one_that_throws(wanted_looks);
        try {
            purgatory.check_and_complete("a");
            ADD_FAILURE() << "what it threw came to nobody";
        } catch (const std::runtime_error& thrown) {
            EXPECT_EQ(std::string(thrown.what()), "look 3") << "the first";
        }
        EXPECT_EQ(outcomes, Outcomes{Completion::satisfied});
        EXPECT_EQ(purgatory.delayed(), 0U);
    }
}

TEST_F(PurgatoryTest, stop_ends_all_and_refuses_what_comes) {
    watch({"a"}, 1);
    watch({"a", "b"}, 1);
    EXPECT_EQ(purgatory.stop(), 2U);
    EXPECT_EQ(outcomes, (Outcomes{Completion::stopped, Completion::stopped}));
    const Result<bool> refused = purgatory.try_complete_else_watch(
        {"a"}, 1s, [] { return false; }, [](Completion) {});
    EXPECT_EQ(refused.error().code, ErrorCode::purgatory_stopped);
    EXPECT_EQ(purgatory.keys(), 0U);
    EXPECT_EQ(service.pending(), 0U);
}

// Objects that `done` uses are destroyed after the purgatory, which must exist until `done` returns.
TEST_F(PurgatoryTest, a_key_is_cancelled_and_all_else_waits_on) {
    EXPECT_FALSE(watch({"a", "b"}, 1));
    EXPECT_FALSE(watch({"a"}, 1));
    EXPECT_FALSE(watch({"b"}, 1));
    EXPECT_EQ(purgatory.cancel_for_key("a"), 2U);
    EXPECT_EQ(purgatory.cancel_for_key("a"), 0U);
    EXPECT_EQ(outcomes, (Outcomes{Completion::cancelled, Completion::cancelled}));
    EXPECT_EQ(purgatory.delayed(), 1U);
    EXPECT_EQ(purgatory.watched(), 1U) << "under no other key either";
    EXPECT_EQ(service.pending(), 1U);
}

TEST_F(PurgatoryTest, all_are_cancelled_and_it_goes_on) {
    EXPECT_FALSE(watch({"a"}, 1));
    EXPECT_FALSE(watch({}, 1));
    EXPECT_EQ(purgatory.cancel_all(), 2U);
    EXPECT_EQ(outcomes, (Outcomes{Completion::cancelled, Completion::cancelled}));
    EXPECT_FALSE(watch({"a"}, 1));
    level = 1;
    EXPECT_EQ(purgatory.check_and_complete("a"), 1U);
}

TEST_F(PurgatoryTest, a_completion_that_throws_does_not_prevent_others) {
    const auto never = [] { return false; };
    for (const bool throws : {true, false}) {
        const auto done = [this, throws](Completion how) {
            if (throws) throw std::runtime_error("done failed");
            outcomes.push_back(how);
        };
        ASSERT_TRUE(purgatory.try_complete_else_watch({"a"}, 30s, never, done).ok());
    }
    EXPECT_THROW(purgatory.cancel_all(), std::runtime_error);
    EXPECT_EQ(outcomes, Outcomes{Completion::cancelled});
    EXPECT_EQ(purgatory.delayed(), 0U);
}

TEST_F(PurgatoryTest, a_handle_completes_or_cancels_its_operation_once) {
    using Handle = Purgatory<std::string>::Handle;
    const auto never = [] { return false; };
    const auto done = [this](Completion how) { outcomes.push_back(how); };
    Handle first;
    Handle second;
    EXPECT_FALSE(first.complete() || first.cancel() || first.is_waiting()) << "it names none";
    ASSERT_TRUE(purgatory.try_complete_else_watch({"a"}, 30s, never, done, &first).ok());
    ASSERT_TRUE(purgatory.try_complete_else_watch({"a"}, 30s, never, done, &second).ok());
    EXPECT_TRUE(first.is_waiting());
    EXPECT_TRUE(first.complete());
    EXPECT_TRUE(second.cancel());
    EXPECT_EQ(outcomes, (Outcomes{Completion::satisfied, Completion::cancelled}));
    EXPECT_FALSE(first.complete() || first.cancel() || first.is_waiting());
    EXPECT_EQ(service.pending(), 0U);
    ASSERT_TRUE(purgatory.try_complete_else_watch({"a"}, 30s, never, done, &first).ok());
    pass(30s);
    EXPECT_FALSE(first.cancel()) << "its deadline was first";
    EXPECT_EQ(outcomes.size(), 3U);
}

TEST_F(PurgatoryTest, its_end_waits_for_done_that_runs_on_another_thread) {
    for (const bool others_wait : {false, true}) {
        std::optional<Purgatory<int>> own(service);
        std::optional<WatchedThread> ending;
        const auto never = [] { return false; };
        const auto done = [&](Completion) {
            ending.emplace([&] { own.reset(); });
            EXPECT_TRUE(ending->comes_to_wait());
        };
        ASSERT_TRUE(own->try_complete_else_watch({1}, 1s, never, done).ok());
        Outcomes others;
        if (others_wait) {
            const auto note = [&](Completion how) { others.push_back(how); };
            ASSERT_TRUE(own->try_complete_else_watch({1, 2}, 1h, never, note).ok());
        }
        pass(1s);
        ending.reset();
        EXPECT_EQ(others, Outcomes(others_wait ? 1 : 0, Completion::stopped));
    }
}

TEST_F(PurgatoryTest, a_full_service_is_reported_and_nothing_is_watched) {
    TimerService full({.max_pending = 0}, clock);
    Purgatory<int> small(full);
    const Result<bool> refused = small.try_complete_else_watch(
        {1}, 1s, [] { return false; }, [](Completion) { ADD_FAILURE(); });
    EXPECT_EQ(refused.error().code, ErrorCode::timers_full);
    EXPECT_EQ(small.keys(), 0U);
}

TEST(PurgatoryRace, of_a_check_and_a_deadline_that_meet_one_ends_the_operation) {
    // Both begin at once, so often that a look and a deadline that each take the operation for theirs are seen.
    constexpr int kRounds = 30'000;
    ManualClock clock;
    TimerService service({}, clock);
    Purgatory<int> purgatory(service);
    std::atomic<int> done = 0;
    std::atomic<bool> is_ready = false;
    std::barrier begin(2);
    std::thread checker([&] {
        for (int round = 0; round < kRounds; ++round) {
            begin.arrive_and_wait();
            is_ready = true;
            purgatory.check_and_complete(1);
            begin.arrive_and_wait();
        }
    });
    int twice = 0;
    for (int round = 0; round < kRounds; ++round) {
        done = 0;
        is_ready = false;
        const Result<bool> over = purgatory.try_complete_else_watch(
            {1}, 0ms, [&] { return is_ready.load(); }, [&](Completion) { ++done; });
        ASSERT_TRUE(over.ok());
        begin.arrive_and_wait();
        service.advance();
        begin.arrive_and_wait();
        twice += done != 1;
    }
    checker.join();
    EXPECT_EQ(twice, 0);
}

TEST(PurgatoryRace, each_operation_is_done_exactly_once_when_checks_deadlines_and_stop_race) {
    constexpr std::size_t kOperations = 4000;
    ManualClock clock;
    TimerService service({}, clock);
    TimerThread thread(service);
    std::vector<std::atomic<int>> done(kOperations);
    std::atomic<std::size_t> level = 0;
    {
        Purgatory<std::size_t> purgatory(service);
        std::atomic<bool> ends = false;
        std::vector<std::thread> checkers;
        for (std::size_t checker = 0; checker < 2; ++checker) {
            checkers.emplace_back([&] {
                for (std::size_t key = 0; !ends; key = (key + 1) % 7) {
                    ++level;
                    purgatory.check_and_complete(key);
                }
            });
        }
        for (std::size_t i = 0; i < kOperations; ++i) {
            const Result<bool> over = purgatory.try_complete_else_watch(
                {i % 7, (i + 3) % 7}, std::chrono::milliseconds(i % 40),
                [&level, wanted = level + i % 50] { return level >= wanted; }, [&done, i](Completion) { ++done[i]; });
            ASSERT_TRUE(over.ok());
            if (i % 16 == 0) clock.advance(3ms);
        }
        ends = true;
        for (std::thread& checker : checkers) checker.join();
    }
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace duewheel
