// The effect of feeds and firings on a watchdog, without an engine.
#include "engine/rules/watchdog_course.h"

#include <gtest/gtest.h>

namespace duewheel::watchdog_course_test {
namespace {

WatchdogState fed_at(DueMs now, WatchdogRule rule) {
    WatchdogState state;
    state.rule = std::move(rule);
    feed(state, now);
    return state;
}

TEST(WatchdogCourse, the_example_of_its_header) {
    constexpr DueMs kSecond = 1'000;
    constexpr DueMs kMinute = 60 * kSecond;
    WatchdogState state =
        fed_at(kMinute, {.timeout_ms = 30 * kSecond, .max_ms = 2 * kMinute, .repeat_every_ms = kMinute});
    feed(state, kMinute + 20 * kSecond);
    feed(state, kMinute + 45 * kSecond);
    EXPECT_EQ(state.due_ms, kMinute + 75 * kSecond);
    WatchdogState often = state;
    for (DueMs at = kMinute + 65 * kSecond; at < 3 * kMinute; at += 20 * kSecond) feed(often, at);
    EXPECT_EQ(often.due_ms, 3 * kMinute);
    const Firing first = next_firing(state, state.due_ms);
    EXPECT_EQ(first.due_ms, kMinute + 75 * kSecond);
    EXPECT_EQ(first.fed_ms, kMinute + 45 * kSecond);
    EXPECT_EQ(first.number, 1u);
    EXPECT_EQ(state.due_ms, kMinute + 135 * kSecond);
    EXPECT_EQ(next_firing(state, state.due_ms).number, 2u);
    EXPECT_EQ(state.due_ms, kMinute + 195 * kSecond);
    feed(state, kMinute + 180 * kSecond);
    EXPECT_EQ(state.due_ms, kMinute + 210 * kSecond);
    EXPECT_EQ(state.first_fed_ms, kMinute + 180 * kSecond);
}

TEST(WatchdogCourse, without_again_it_sleeps_until_it_is_fed) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 100});
    next_firing(state, 1'500);
    EXPECT_TRUE(state.is_asleep());
    EXPECT_TRUE(is_late_to_feed(state, 2'000));
    feed(state, 2'000);
    EXPECT_EQ(state.due_ms, 2'100);
    EXPECT_FALSE(is_late_to_feed(state, 2'099));
    EXPECT_TRUE(is_late_to_feed(state, 2'100)) << "the very instant is too late";
}

TEST(WatchdogCourse, what_was_due_before_a_feed_is_owed_and_made_once) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 100});
    feed(state, 1'100);
    EXPECT_EQ(state.owed_ms, 1'100);
    EXPECT_EQ(state.due_ms, 1'200);
    feed(state, 1'150);
    EXPECT_EQ(state.merged, 0u);
    feed(state, 1'300);  // due at 1'250, and the first is owed still
    EXPECT_EQ(state.owed_ms, 1'100);
    EXPECT_EQ(state.merged, 1u);
    const Firing owed = next_firing(state, 1'300);
    EXPECT_EQ(owed.due_ms, 1'100);
    EXPECT_EQ(owed.fed_ms, 1'000);
    EXPECT_FALSE(has_to_fire(state, 1'399));
    EXPECT_TRUE(has_to_fire(state, 1'400));
    EXPECT_EQ(next_firing(state, 1'400).fed_ms, 1'300);
}

TEST(WatchdogCourse, one_message_stands_for_all_that_passed_unseen) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 100, .repeat_every_ms = 50});
    const Firing one = next_firing(state, 1'299);
    EXPECT_EQ(one.due_ms, 1'100);
    EXPECT_EQ(state.merged, 3u) << "1150, 1200 and 1250";
    EXPECT_EQ(state.due_ms, 1'300);
    EXPECT_EQ(next_firing(state, 1'300).number, 2u);
}

// A feed while it was due, with no room for its message, forgot the times of `again` that had passed meanwhile.
TEST(WatchdogCourse, a_feed_counts_what_passed_while_there_was_no_room) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 100, .repeat_every_ms = 50});
    feed(state, 1'299);
    EXPECT_EQ(state.owed_ms, 1'100);
    EXPECT_EQ(state.merged, 3u) << "1150, 1200 and 1250";
    feed(state, 1'450);
    EXPECT_EQ(state.owed_ms, 1'100);
    EXPECT_EQ(state.merged, 5u) << "and 1399, the first after that feed, and 1449";
}

TEST(WatchdogCourse, another_rule_moves_what_has_not_come_and_never_into_the_past) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 1'000});
    WatchdogRule other{.timeout_ms = 5'000};
    other.queue = "other";
    set_rule(state, other, 1'500);
    EXPECT_EQ(state.due_ms, 6'000) << "counted from the last feed";
    set_rule(state, {.timeout_ms = 100}, 2'000);
    EXPECT_EQ(state.due_ms, 2'000);
    set_rule(state, {.timeout_ms = 9'000}, 2'000);
    EXPECT_EQ(state.due_ms, 2'000) << "it has come";
    next_firing(state, 2'000);
    set_rule(state, {.timeout_ms = 100}, 3'000);
    EXPECT_TRUE(state.is_asleep());
    set_rule(state, {.timeout_ms = 100, .repeat_every_ms = 5'000}, 3'000);
    EXPECT_EQ(state.due_ms, 7'000) << "counted from the last firing";
}

// It was counted from the first of the times that one message stood for, had come long ago, and rang at once.
TEST(WatchdogCourse, a_longer_rest_counts_from_the_last_time_that_has_passed) {
    WatchdogState state = fed_at(1'000, {.timeout_ms = 1'000, .repeat_every_ms = 1'000});
    next_firing(state, 7'500);  // for 2,000 to 7,000
    EXPECT_EQ(state.due_ms, 8'000);
    set_rule(state, {.timeout_ms = 1'000, .repeat_every_ms = 1'500}, 7'600);
    EXPECT_EQ(state.due_ms, 8'500);
    set_rule(state, {.timeout_ms = 1'000, .repeat_every_ms = 100}, 7'700);
    EXPECT_EQ(state.due_ms, 7'700) << "never in the past";
}

}  // namespace
}  // namespace duewheel::watchdog_course_test
