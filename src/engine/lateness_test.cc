#include "engine/lateness.h"

#include <gtest/gtest.h>

#include "engine/trial_engine.h"

namespace duewheel::lateness_test {
namespace {

constexpr DueMs kNoon = 1'798'804'800'000;
constexpr DueMs kDay = 86'400'000;

MessageContent put_at(DueMs at) {
    return {.put_ms = at};
}

TEST(Lateness, counts_from_the_due_time) {
    EXPECT_EQ(late_from(kNoon, put_at(kNoon - kDay)), kNoon);
}

// One put with a due time in 1970 made p99 and the sum those of half a century.
TEST(Lateness, counts_from_the_put_where_the_due_time_was_in_the_past_then) {
    EXPECT_EQ(late_from(1, put_at(kNoon)), kNoon);
}

TEST(Lateness, of_an_occurrence_counts_from_its_due_time_unless_it_makes_up_for_missed_time) {
    MessageContent content = put_at(kNoon + 60'000);
    content.schedule = "nightly";
    EXPECT_EQ(late_from(kNoon, content), kNoon);
    EXPECT_EQ(late_from(kNoon - 1, content), kNoon + 60'000);
    MessageContent of_recurring = put_at(kNoon + 7);
    of_recurring.parent = 1024;
    EXPECT_EQ(late_from(kNoon, of_recurring), kNoon);
}

TEST(Lateness, a_delivery_contains_the_start_of_its_lateness) {
    TrialEngine shard;
    shard.turn(5000);
    const DueMs put_ms = shard.engine().now();
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .when = {.at_ms = 1}});
    shard.put(2000);
    shard.turn(9000);
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].due_ms, 1);
    EXPECT_EQ(messages[0].late_from_ms, put_ms);
    EXPECT_EQ(messages[1].late_from_ms, put_ms + 2000);
}

TEST(Lateness, recent_figures_forget_after_twenty_seconds_and_the_histogram_never) {
    Lateness lateness;
    lateness.record(kNoon, 3'000'000);
    lateness.record(kNoon + 5'000, 2'100);
    EXPECT_EQ(lateness.of_late(kNoon + 5'000).max_ms, 3'000u);
    EXPECT_EQ(lateness.of_late(kNoon + 5'000).p50_ms, 2u);
    EXPECT_EQ(lateness.of_late(kNoon + 20'000).count, 0u);
    EXPECT_EQ(lateness.all_us().count(), 2u);
    EXPECT_EQ(lateness.all_us().sum(), 3'002'100u);
}

TEST(Lateness, rounding_down_counts_as_punctual) {
    Lateness lateness;
    lateness.record(kNoon, -300);
    EXPECT_EQ(lateness.all_us().sum(), 0u);
}

}  // namespace
}  // namespace duewheel::lateness_test
