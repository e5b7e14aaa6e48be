// Which commands share a batch, and when a segment is closed because commands wait.
#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::engine_batches_test {
namespace {

PutWatchdogCommand watchdog(std::int64_t timeout_ms, std::string name) {
    PutWatchdogCommand command{.name = std::move(name)};
    command.rule.timeout_ms = timeout_ms;
    command.rule.queue = "q";
    command.body = "silent";
    return command;
}

// Where in the log, counted from `from`, the first record of this kind stands.
std::size_t first_of(const std::vector<Record>& log, RecordKind kind, std::size_t from) {
    std::size_t at = from;
    while (at < log.size() && kind_of(log[at]) != kind) ++at;
    return at - from;
}

// Feeds of thousands of watchdogs, more than a batch holds and never fewer, were taken before all else: no watchdog
// fired, no recurring message went on and no put was answered for as long as they came.
TEST(EngineBatches, a_constant_load_of_commands_leaves_capacity_for_due_messages_and_puts) {
    EngineOptions options;
    options.batch_operations_max = 16;
    TrialEngine shard(options);
    constexpr int kFed = 200;
    for (int i = 0; i < kFed; ++i) shard.submit(watchdog(1'000'000, "w" + std::to_string(i)));
    shard.turn(0);
    shard.ask<WatchdogAnswer>(watchdog(1'000, "silent"));
    PutCommand loop{.queue = "q"};
    loop.when.delay_ms = 1'000;
    loop.repeat = RepeatChoice{};
    loop.repeat->every_ms = 10'000;
    shard.ask<PutAnswer>(loop);

    const std::size_t before = shard.log().size();
    for (int i = 0; i < kFed; ++i) shard.submit(FeedWatchdogCommand{"default", "w" + std::to_string(i)});
    const ReplyToken put = shard.submit(PutCommand{.queue = "q"});
    shard.turn(1'000);
    EXPECT_TRUE(shard.replies.contains(put));
    const std::vector<Record> log = shard.log();
    EXPECT_LT(first_of(log, RecordKind::put, before), options.batch_operations_max) << "in the first batch";
    EXPECT_LT(first_of(log, RecordKind::spawn, before), 3 * options.batch_operations_max);
    const std::size_t second = first_of(log, RecordKind::spawn, before + first_of(log, RecordKind::spawn, before) + 1);
    EXPECT_LT(second, 2 * options.batch_operations_max) << "the loop and the watchdog";
}

TEST(EngineBatches, commands_take_the_unused_rest_of_a_batch) {
    EngineOptions options;
    options.batch_operations_max = 16;
    TrialEngine shard(options);
    std::vector<MessageId> ids;
    for (int i = 0; i < 32; ++i) ids.push_back(shard.put(1'000));
    shard.hold_commits = true;
    shard.submit(PutCommand{.queue = "other"});  // while it is on its way all others wait
    shard.turn(0);
    for (const MessageId id : ids) shard.submit(CancelCommand{"default", id});
    const std::uint64_t commits = shard.engine().counters().commits;
    shard.hold_commits = false;
    shard.turn(0);
    EXPECT_EQ(shard.engine().counters().commits, commits + 3);
}

TEST(EngineBatches, commands_wait_for_a_delayed_batch_but_own_work_does_not) {
    TrialEngine shard;
    shard.put(1'000);
    shard.ask<WatchdogAnswer>(watchdog(1'000, "silent"));
    const std::uint64_t commits = shard.engine().counters().commits;
    shard.engine().delay_batch(true);
    const ReplyToken first = shard.submit(PutCommand{.queue = "q"});
    shard.turn(0);
    EXPECT_EQ(shard.engine().counters().commits, commits);
    EXPECT_EQ(shard.engine().commands_waiting(), 1U);
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now()) << "the owner would not sleep";
    EXPECT_FALSE(shard.engine().is_idle());

    shard.turn(1'000);  // the watchdog fires
    EXPECT_GT(shard.engine().counters().commits, commits);
    EXPECT_TRUE(shard.replies.contains(first)) << "a batch that is built anyway takes it";

    const ReplyToken second = shard.submit(PutCommand{.queue = "q"});
    shard.turn(1'000);
    EXPECT_FALSE(shard.replies.contains(second));
    shard.engine().delay_batch(false);
    shard.turn(1'000);
    EXPECT_TRUE(shard.replies.contains(second));

    shard.hold_commits = true;
    shard.submit(PutCommand{.queue = "q"});
    shard.submit(PutCommand{.queue = "q"});
    shard.turn(0);
    shard.submit(PutCommand{.queue = "q"});
    EXPECT_EQ(shard.engine().commands_in_flight(), 2U);
    EXPECT_EQ(shard.engine().commands_waiting(), 1U);
}

// The simulator found that a server which was stopped within such a delay did not save its time.
TEST(EngineBatches, the_time_is_saved_although_the_next_batch_is_delayed) {
    TrialEngine shard;
    shard.put(1'000);
    shard.turn(10);
    shard.engine().delay_batch(true);
    shard.turn(10);
    ASSERT_TRUE(shard.engine().is_idle());
    EXPECT_TRUE(shard.engine().save_time());
}

// A schedule whose content did not fit into the open segment waited for segments to be sealed, and had one closed after
// the other meanwhile, each with one small batch in it.
TEST(EngineBatches, waiting_for_segments_to_be_sealed_closes_none) {
    EngineOptions options;
    options.segment_bytes = 64 << 10;
    options.unsealed_segments_max = 1;
    TrialEngine shard(options);
    std::vector<MessageId> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(shard.put(1'000));
    shard.engine().close_segment();
    shard.turn(0);
    ASSERT_TRUE(shard.engine().counters().puts_stalled);
    PutWatchdogCommand large = watchdog(1'000, "w");
    large.body = std::string(60 << 10, 'x');
    const ReplyToken waits = shard.submit(large);
    for (const MessageId id : ids) {
        EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    }
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
    EXPECT_FALSE(shard.replies.contains(waits));
    shard.engine().table_taken(1);
    shard.turn(0);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u) << "it finds no room in the open one";
    shard.engine().table_taken(2);
    shard.turn(0);
    EXPECT_TRUE(shard.replies.contains(waits));
}

}  // namespace
}  // namespace duewheel::engine_batches_test
