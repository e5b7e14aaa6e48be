#include "engine/commands/lateness.h"

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::lateness_test {
namespace {

constexpr DueMs kNoon = 1'798'804'800'000;
constexpr DueMs kMinute = 60'000;

// The two parts of the time from when a message counts until its delivery.
struct Parts {
    std::int64_t wait_ms = 0;
    std::int64_t lateness_ms = 0;

    bool operator==(const Parts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Parts& parts) {
    return out << "wait " << parts.wait_ms << ", lateness " << parts.lateness_ms;
}

Parts parts_of(const std::vector<Delivered>& messages) {
    if (messages.size() != 1) ADD_FAILURE() << messages.size() << " messages";
    return messages.empty() ? Parts{} : Parts{messages.back().wait_ms, messages.back().lateness_ms};
}

// A consumer that waits on queue `q`.
ReplyToken await_message(TrialEngine& shard) {
    const ReplyToken token =
        shard.submit(LeaseCommand{.queue = "q", .max = 10, .lease_ms = 5 * kMinute, .wait_ms = 20'000, .stays = true});
    shard.turn();
    return token;
}
Parts parts_of(TrialEngine& shard, ReplyToken token) {
    shard.turn();  // a commit saves the time first
    return parts_of(shard.take<LeaseAnswer>(token).messages);
}

TEST(Lateness, counts_from_the_due_time) {
    EXPECT_EQ(counts_from(kNoon, kNoon - kMinute, {}), kNoon);
}

// One put with a due time in 1970 made p99 and the sum those of half a century.
TEST(Lateness, counts_from_the_put_where_the_due_time_was_in_the_past_then) {
    EXPECT_EQ(counts_from(1, kNoon, {}), kNoon);
    TrialEngine shard;
    shard.turn(5'000);
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .when = {.at_ms = 1}});
    shard.turn(9'000);
    const std::vector<Delivered> first = shard.lease();
    EXPECT_EQ(parts_of(first), (Parts{9'000, 0})) << "no consumer was there";
    shard.ask<LeaseEndAnswer>(AckCommand{first.at(0).lease});
    const ReplyToken waiting = await_message(shard);
    shard.turn(kMinute);
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .when = {.at_ms = 1}});
    EXPECT_EQ(parts_of(shard, waiting), (Parts{0, 0})) << "one was";
}

TEST(Lateness, of_an_occurrence_counts_from_its_due_time_unless_it_makes_up_for_missed_time) {
    MessageContent content;
    content.schedule = "nightly";
    EXPECT_EQ(counts_from(kNoon, kNoon + 60'000, content), kNoon);
    EXPECT_EQ(counts_from(kNoon - 1, kNoon + 60'000, content), kNoon + 60'000);
    MessageContent of_recurring;
    of_recurring.parent = 1024;
    EXPECT_EQ(counts_from(kNoon, kNoon + 7, of_recurring), kNoon);
}

TEST(Lateness, is_the_servers_while_a_consumer_waits) {
    TrialEngine shard;
    shard.put(1'000);
    const ReplyToken waiting = await_message(shard);
    shard.turn(1'250);
    EXPECT_EQ(parts_of(shard, waiting), (Parts{0, 250}));
    EXPECT_EQ(shard.engine().counters().lateness_ms, 250u);
    EXPECT_EQ(shard.engine().counters().wait_ms, 0u);
}

// The tile, the metric and the alert said minutes, as soon as one queue had no consumer or one webhook failed.
TEST(Lateness, a_message_without_a_consumer_waits) {
    TrialEngine shard;
    shard.put(1'000);
    shard.turn(3 * kMinute);
    EXPECT_EQ(parts_of(shard.lease()), (Parts{3 * kMinute - 1'000, 0}));
    EXPECT_EQ(shard.engine().counters().lateness_ms, 0u);
    EXPECT_EQ(shard.engine().counters().wait_ms, 179'000u);
    const QueueTotals totals = shard.engine().busiest_queues(1).at(0).totals;
    EXPECT_EQ(totals.lateness_ms, 0u);
    EXPECT_EQ(totals.wait_ms, 179'000u);
}

TEST(Lateness, a_target_that_the_server_kept_from_leasing_was_ready) {
    TrialEngine shard;
    shard.put(1'000);
    shard.turn(10'000);
    const DueMs ready_ms = shard.engine().now() - 2'000;
    const LeaseAnswer leased =
        shard.ask<LeaseAnswer>(LeaseCommand{.queue = "q", .max = 1, .stays = true, .ready_ms = ready_ms});
    EXPECT_EQ(parts_of(leased.messages), (Parts{7'000, 2'000}));
}

TEST(Lateness, a_pause_is_wait_also_for_a_consumer_that_is_there) {
    TrialEngine shard;
    shard.put(1'000);
    ConfigureQueueCommand pause{.queue = "q", .what = ConfigureQueueCommand::What::pause};
    shard.ask<QueueAnswer>(pause);
    const ReplyToken waiting = await_message(shard);
    shard.turn(10 * kMinute);
    shard.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .what = ConfigureQueueCommand::What::resume});
    EXPECT_EQ(parts_of(shard, waiting), (Parts{10 * kMinute - 1'000, 0}));
}

TEST(Lateness, a_retry_counts_from_the_end_of_its_backoff) {
    TrialEngine shard;
    shard.put(0);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(first.size(), 1u);
    shard.turn(2'000);
    shard.ask<LeaseEndAnswer>(FailCommand{.lease = first[0].lease, .retry_in_ms = kMinute});
    const ReplyToken waiting = await_message(shard);
    shard.turn(kMinute + 30);
    EXPECT_EQ(parts_of(shard, waiting), (Parts{2'000 + kMinute, 30}));
}

TEST(Lateness, a_released_message_counts_from_its_release) {
    TrialEngine shard;
    shard.put(0);
    const std::vector<Delivered> first = shard.lease(1, 5 * kMinute);
    ASSERT_EQ(first.size(), 1u);
    const ReplyToken waiting = await_message(shard);
    shard.turn(kMinute);
    shard.ask<LeaseEndAnswer>(ReleaseCommand{.lease = first[0].lease});
    EXPECT_EQ(parts_of(shard, waiting), (Parts{kMinute, 0}));
}

TEST(Lateness, a_message_whose_lease_was_lost_counts_from_its_end) {
    TrialEngine shard;
    shard.put(0);
    EXPECT_EQ(shard.lease(1, 30'000).size(), 1u);
    const ReplyToken waiting = await_message(shard);
    shard.turn(30'040);
    EXPECT_EQ(parts_of(shard, waiting), (Parts{30'000, 40}));
}

TEST(Lateness, an_earlier_message_of_the_order_key_is_wait) {
    TrialEngine shard;
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .order_key = "k"});
    const std::vector<Delivered> first = shard.lease(1, 5 * kMinute);
    ASSERT_EQ(first.size(), 1u);
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .when = {.delay_ms = 1'000}, .order_key = "k"});
    const ReplyToken waiting = await_message(shard);
    shard.turn(kMinute);
    shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease});
    EXPECT_EQ(parts_of(shard, waiting), (Parts{kMinute - 1'000, 0}));
    shard.engine().check();
}

TEST(Lateness, an_order_key_that_is_free_does_not_hide_the_servers_lateness) {
    TrialEngine shard;
    shard.ask<PutAnswer>(PutCommand{.queue = "q", .when = {.delay_ms = 1'000}, .order_key = "k"});
    const ReplyToken waiting = await_message(shard);
    shard.turn(1'070);
    EXPECT_EQ(parts_of(shard, waiting), (Parts{0, 70}));
}

TEST(Lateness, a_redriven_message_counts_from_its_redrive) {
    TrialEngine shard;
    PutCommand put{.queue = "q"};
    put.retry.attempts = 1;
    shard.ask<PutAnswer>(put);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(first.size(), 1u);
    shard.ask<LeaseEndAnswer>(FailCommand{.lease = first[0].lease});
    const ReplyToken waiting = await_message(shard);
    shard.turn(kMinute);
    shard.ask<RedriveAnswer>(RedriveCommand{.queue = "q"});
    shard.turn();
    EXPECT_EQ(parts_of(shard, waiting), (Parts{kMinute, 0}));
}

TEST(Lateness, time_without_a_server_is_the_servers_for_what_became_due_in_it) {
    TrialEngine before;
    before.put(1'000, "waited already");
    before.turn(2'000);
    before.put(kMinute, "due meanwhile", "other");
    before.hold_commits = true;  // nothing of what follows is in the log
    before.turn(5 * kMinute);
    TrialEngine after(EngineOptions(), before);
    after.turn(300);
    EXPECT_EQ(parts_of(after.lease()), (Parts{1'000 + 5 * kMinute + 300, 0}));
    const LeaseAnswer other = after.ask<LeaseAnswer>(LeaseCommand{.queue = "other", .max = 1});
    EXPECT_EQ(parts_of(other.messages), (Parts{300, 4 * kMinute}));
}

TEST(Lateness, the_end_of_a_message_records_both_parts) {
    TrialEngine shard;
    shard.put(0);
    shard.turn(kMinute);
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease});
    EXPECT_EQ(shard.last().lateness_ms, 0);
    EXPECT_EQ(shard.last().wait_ms, kMinute);
}

TEST(Lateness, recent_figures_forget_after_twenty_seconds_and_the_histogram_never) {
    Durations lateness;
    lateness.record(kNoon, 3'000'000);
    lateness.record(kNoon + 5'000, 2'100);
    EXPECT_EQ(lateness.recent(kNoon + 5'000).max_ms, 3'000u);
    EXPECT_EQ(lateness.recent(kNoon + 5'000).p50_ms, 2u);
    EXPECT_EQ(lateness.recent(kNoon + 20'000).count, 0u);
    EXPECT_EQ(lateness.all_us().count(), 2u);
    EXPECT_EQ(lateness.all_us().sum(), 3'002'100u);
}

TEST(Lateness, rounding_down_counts_as_punctual) {
    Durations lateness;
    lateness.record(kNoon, -300);
    EXPECT_EQ(lateness.all_us().sum(), 0u);
}

}  // namespace
}  // namespace duewheel::lateness_test
