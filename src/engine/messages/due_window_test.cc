#include "engine/messages/due_window.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "engine/trial/trial_context.h"

namespace duewheel::due_window_test {
namespace {

constexpr DueMs kNow = 1'000'000;

struct Trial {
    explicit Trial(EngineOptions options = {}, DueMs load_cursor_ms = 0)
        : trial(options), window(trial.context, load_cursor_ms) {
        trial.now = kNow;
        window.start();
    }
    // The next lookup has a complete result with this number of rows.
    DueLookup read(std::size_t rows = 0) {
        const std::optional<DueLookup> lookup = window.next_lookup();
        if (!lookup) return ADD_FAILURE() << "nothing is to be read", DueLookup{};
        window.end_lookup();
        window.merge(*lookup, Stretch{std::vector<MessageRow>(rows), true, {}});
        return *lookup;
    }

    TrialContext trial;
    DueWindow window;
};

TEST(DueWindow, reads_overdue_messages_in_turn_with_those_that_fall_due_next) {
    Trial test;
    EXPECT_EQ(test.window.until_ms(), kNow + 30'000);
    EXPECT_TRUE(test.window.is_behind());
    for (const DueMs to : {100, 200}) {  // in parts
        const std::optional<DueLookup> overdue = test.window.next_lookup();
        ASSERT_TRUE(overdue);
        EXPECT_EQ(overdue->from.due_ms, to - 100);
        EXPECT_EQ(overdue->until_ms, kNow);
        EXPECT_FALSE(test.window.next_lookup()) << "one at a time";
        test.window.end_lookup();
        test.window.merge(*overdue, Stretch{std::vector<MessageRow>(1), false, {to, 0}});
        EXPECT_EQ(test.window.read_to_ms(), to);
        const std::optional<DueLookup> next = test.window.next_lookup();
        ASSERT_TRUE(next);
        EXPECT_EQ(next->from.due_ms, kNow + to - 100);
        test.window.end_lookup();
        test.window.merge(*next, Stretch{std::vector<MessageRow>(1), false, {kNow + to, 0}});
    }
    EXPECT_EQ(test.read().from.due_ms, 200);
    EXPECT_EQ(test.window.read_to_ms(), kNow + 200) << "nothing is overdue any more";
    EXPECT_FALSE(test.window.is_behind());
    EXPECT_EQ(test.read().until_ms, kNow + 30'000);
    EXPECT_FALSE(test.window.next_lookup());
}

TEST(DueWindow, is_raised_when_half_of_it_has_passed_and_grows_while_it_contains_little) {
    Trial test({.window_entries_max = 80, .load_chunk = 5}, kNow);
    EXPECT_EQ(test.read(9).from.due_ms, kNow);
    EXPECT_EQ(test.window.next_ms(), kNow + 15'000);
    test.trial.now = kNow + 14'999;
    EXPECT_FALSE(test.window.next_lookup());
    test.trial.now = kNow + 15'000;
    const DueLookup longer = test.read(10);
    EXPECT_EQ(longer.from.due_ms, kNow + 30'000);
    EXPECT_EQ(longer.until_ms, kNow + 75'000) << "after fewer rows than two lookups have, twice as long";
    test.trial.now = kNow + 45'000;
    EXPECT_EQ(test.read(11).until_ms, kNow + 105'000) << "after more, as long as before";
    test.trial.now = kNow + 75'000;
    EXPECT_FALSE(test.window.next_lookup()) << "after an eighth of memory, short again";
    EXPECT_EQ(test.window.next_ms(), kNow + 90'000);
}

TEST(DueWindow, memory_that_is_crowded_gets_only_what_is_due) {
    Trial test({.window_entries_max = 1}, kNow);
    test.trial.put(kNow + 5);
    EXPECT_TRUE(test.window.is_crowded());
    const DueLookup due = test.read();  // the bound was set at the start
    EXPECT_EQ(due.until_ms, kNow + 30'000);
    EXPECT_EQ(test.window.next_ms(), kNow + 30'000) << "and not when half of it has passed";
    test.trial.now = kNow + 29'999;
    EXPECT_FALSE(test.window.next_lookup());
    test.trial.now = kNow + 30'000;
    EXPECT_EQ(test.read().from.due_ms, kNow + 30'000);
}

TEST(DueWindow, a_result_that_came_too_late_is_looked_up_again) {
    Trial test({}, kNow);
    const std::optional<DueLookup> lookup = test.window.next_lookup();
    ASSERT_TRUE(lookup);
    EXPECT_TRUE(test.window.is_reading());
    test.window.end_lookup();
    const std::optional<DueLookup> again = test.window.next_lookup();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->from, lookup->from);
    EXPECT_EQ(again->until_ms, lookup->until_ms);
}

}  // namespace
}  // namespace duewheel::due_window_test
