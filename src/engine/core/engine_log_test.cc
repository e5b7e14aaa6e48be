// The engine and its log: when commits are submitted, segments closed, and puts delayed or refused.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/core/engine.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_log_test {
namespace {

using Shard = TrialEngine;

PutCommand large_put(std::string queue, std::size_t bytes, std::int64_t delay_ms = 0) {
    PutCommand put{.queue = std::move(queue), .when = {.delay_ms = delay_ms}};
    put.body = std::string(bytes, 'x');
    return put;
}

TEST(EngineLog, a_commit_is_confirmed_by_one_empty_commit) {
    Shard shard;
    shard.put(100'000);
    const std::uint64_t commits = shard.engine().counters().commits;
    EXPECT_LE(shard.engine().next_wakeup(), kStart + 5);
    shard.turn(5);
    EXPECT_EQ(shard.engine().counters().commits, commits + 1);
    shard.turn(5);
    EXPECT_EQ(shard.engine().counters().commits, commits + 1);
    EXPECT_GT(shard.engine().next_wakeup(), kStart + 10'000) << "an idle engine sleeps";
}

// A server that had nothing to write for an hour, and was stopped and its clock set back, told that hour once more.
TEST(EngineLog, the_time_is_saved_before_a_stop) {
    Shard shard;
    shard.put(100'000'000);
    shard.turn(5);
    shard.turn(3'600'000);
    ASSERT_LT(shard.engine().totals().server_time_ms, shard.engine().now());
    const std::uint64_t records = shard.engine().counters().records;
    EXPECT_TRUE(shard.engine().save_time());
    EXPECT_FALSE(shard.engine().is_idle()) << "until it is durable";
    shard.settle();
    EXPECT_TRUE(shard.engine().is_idle());
    EXPECT_EQ(shard.engine().totals().server_time_ms, kStart + 3'600'005);
    EXPECT_EQ(shard.engine().counters().records, records) << "nothing but the time";
    EXPECT_FALSE(shard.engine().save_time()) << "the log says it already";
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now() + 10'000) << "an idle engine sleeps";
    Shard next({}, shard);
    EXPECT_EQ(next.engine().totals().server_time_ms, kStart + 3'600'005);
}

TEST(EngineLog, the_time_is_not_saved_before_a_run_serves_during_a_commit_or_without_space) {
    Shard busy;
    busy.hold_commits = true;
    busy.submit(PutCommand{.queue = "q"});
    busy.turn(10);
    EXPECT_FALSE(busy.engine().save_time()) << "what is under way says how late it is";
    busy.hold_commits = false;
    busy.settle();

    Shard full;
    full.put(1000);
    full.turn(5);
    full.engine().close_segment();
    full.turn(10);
    full.engine().set_log_space(LogSpace::none);
    full.turn(10);
    EXPECT_FALSE(full.engine().save_time());
    EXPECT_TRUE(full.engine().is_idle()) << "whoever is to stop need not wait for space";

    RecentTier recent;
    Engine silent(EngineOptions{}, EngineStart{}, recent);
    EXPECT_FALSE(silent.save_time()) << "its first commit is not durable";
}

TEST(EngineLog, a_segment_that_is_full_is_closed_by_a_commit_of_cursors) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 100;
    Shard shard(options);
    for (int i = 0; i < 40; ++i) shard.put(i % 2 == 0 ? 0 : 1000, std::string(500, 'x'));
    EXPECT_GE(shard.engine().counters().unsealed_segments, 1u);
    bool load = false;
    bool queue = false;
    for (const CursorRecord& record : shard.records<CursorRecord>()) {
        load |= record.queue.empty() && record.due_ms == kStart;
        queue |= record.queue == "q" && record.due_ms == kStart && record.id == kShardsMax;
    }
    EXPECT_TRUE(load);
    EXPECT_TRUE(queue) << "the oldest message that is due and unfinished";
}

// Its attempts are used up, and its end is not written yet: a restart behind this segment must find it again.
TEST(EngineLog, the_cursor_of_a_queue_does_not_pass_a_message_whose_death_is_not_written_yet) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 100;
    options.retry.attempts = 1;
    int closed_before_the_death = 0;
    for (std::size_t size = 0; size < 12'000; size += 500) {
        Shard shard(options);
        const MessageId id = shard.put(0);
        shard.lease(1, 1000);
        shard.hold_commits = true;
        shard.submit(large_put("other", size, 60'000));
        shard.turn();
        shard.turn(1000);  // the lease is lost while a commit is in progress, which leaves more or less room behind it
        shard.hold_commits = false;
        shard.settle();
        std::optional<DuePosition> cursor;
        for (const Record& record : shard.log()) {
            if (const auto* of = std::get_if<CursorRecord>(&record); of != nullptr && of->queue == "q")
                cursor = {of->due_ms, of->id};
            if (kind_of(record) != RecordKind::end) continue;
            EXPECT_EQ(as_message(record).id, id);
            EXPECT_EQ(as_message(record).state.state, State::dead);
            if (shard.largest_closing_commit == 0) break;
            ++closed_before_the_death;
            ASSERT_TRUE(cursor) << size;
            EXPECT_EQ(*cursor, (DuePosition{kStart, id})) << size;
        }
    }
    EXPECT_GT(closed_before_the_death, 0);
}

// The room that was left in it was calculated below zero, so that cursors without number went into the closing commit.
TEST(EngineLog, a_segment_that_one_commit_overfills_is_closed_by_a_small_one) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 100;
    Shard shard(options);
    for (int i = 0; i < 60; ++i) shard.put(1000, "", "a queue with a name of some length, number " + std::to_string(i));
    shard.put(0, std::string(20'000, 'x'));
    shard.largest_closing_commit = 0;
    shard.turn(1000);  // now each queue has a cursor to be written
    shard.put(0);
    EXPECT_LE(shard.largest_closing_commit, kClosingRoomBytes);
    EXPECT_GT(shard.largest_closing_commit, 0u);
}

// Each put of a batch was calculated with the names and numbers that one may have at most, 1,280 bytes: a thousand
// small ones closed a segment of 1 MiB of which they filled a twentieth, and cleaning had the log's length to make up
// for it.
TEST(EngineLog, batches_of_small_messages_fill_a_segment) {
    EngineOptions options;
    options.segment_bytes = 1 << 20;
    options.unsealed_segments_max = 100;
    Shard shard(options);
    const PutBatchCommand batch{std::vector<PutCommand>(1000, PutCommand{.queue = "q", .when = {.delay_ms = 1000}})};
    for (int i = 0; i < 15; ++i) shard.ask<PutBatchAnswer>(batch);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 0u);
    for (int i = 0; i < 15; ++i) shard.ask<PutBatchAnswer>(batch);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
    EXPECT_LE(shard.largest_segment, options.segment_bytes);
}

// Every commit was calculated in blocks of 512 bytes, so that a log with larger ones ran over the end of its segments.
TEST(EngineLog, a_log_with_larger_blocks_never_overfills_a_segment) {
    EngineOptions options;
    options.segment_bytes = 64 * 1024;
    options.unsealed_segments_max = 100;
    EngineStart start;
    start.block_bytes = 4096;
    Shard shard(options, start);
    for (int i = 0; i < 60; ++i) shard.put(1000, std::string(100, 'x'));
    EXPECT_GE(shard.engine().counters().unsealed_segments, 3u);
    EXPECT_LE(shard.largest_segment, options.segment_bytes);
    EXPECT_GT(shard.largest_segment, options.segment_bytes / 2);
}

TEST(EngineLog, puts_wait_while_too_many_segments_are_unsealed_and_acks_do_not) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 1;
    Shard shard(options);
    std::vector<ReplyToken> tokens;
    for (int i = 0; i < 60; ++i) {
        tokens.push_back(shard.submit(large_put("q", 500)));
        shard.turn();
    }
    EXPECT_TRUE(shard.engine().counters().puts_stalled);
    EXPECT_FALSE(shard.replies.contains(tokens.back()));
    const auto messages = shard.lease(1);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease}).outcome, LeaseOutcome::done);
    for (SegmentNumber segment = 1; segment < 20; ++segment) {
        shard.engine().table_taken(segment);
        shard.turn();
    }
    EXPECT_TRUE(shard.replies.contains(tokens.back()));
}

TEST(EngineLog, a_redrive_waits_like_puts_while_too_many_segments_are_unsealed) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 1;
    options.retry.attempts = 1;
    Shard shard(options);
    shard.put(0, "body");
    const auto taken = shard.lease(1);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{taken.at(0).lease, "", {}}).outcome, LeaseOutcome::dead);
    for (int i = 0; i < 60; ++i) {
        shard.submit(large_put("other", 500));
        shard.turn();
    }
    ASSERT_TRUE(shard.engine().counters().puts_stalled);
    const ReplyToken redrive = shard.submit(RedriveCommand{"default", "q", std::nullopt});
    for (int i = 0; i < 5; ++i) shard.turn(1);
    EXPECT_FALSE(shard.replies.contains(redrive));
    for (int i = 0; i < 10 && !shard.replies.contains(redrive); ++i) shard.move_to_index();
    EXPECT_EQ(shard.take<RedriveAnswer>(redrive).redriven, 1u);
}

// The sealer reads the disk, where a segment is full before the engine knows it; such a segment counted as unsealed
// forever, and puts waited forever.
TEST(EngineLog, a_table_may_be_added_before_the_closing_commit_is_reported) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 1;
    Shard shard(options);
    shard.hold_commits = true;
    while (shard.largest_closing_commit == 0) {
        shard.submit(large_put("q", 500));
        shard.turn();
        shard.hold_commits = shard.largest_closing_commit != 0;
        shard.settle();
        shard.hold_commits = true;
    }
    shard.engine().table_taken(1);
    shard.hold_commits = false;
    shard.settle();
    EXPECT_FALSE(shard.engine().counters().puts_stalled);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 0u);
}

// A log that was made with segments of another size is still measured by theirs.
TEST(EngineLog, an_open_segment_keeps_the_size_it_was_made_with) {
    EngineOptions options;
    options.segment_bytes = 1 << 20;
    EngineStart start;
    start.segment_bytes = 16 * 1024;
    Shard shard(options, start);
    for (int i = 0; i < 40; ++i) shard.put(1000, std::string(500, 'x'));
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
}

TEST(EngineLog, a_full_store_refuses_puts_and_nothing_else) {
    Shard shard;
    const MessageId later = shard.put(1000);
    const MessageId moved = shard.put(1000);
    shard.put(0);
    const auto held = shard.lease();
    ASSERT_EQ(held.size(), 1u);
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "q"}).code, "store_full"_code);
    EXPECT_EQ(shard.engine().counters().space, LogSpace::scarce);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{held[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", later}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", moved}).outcome, ChangeOutcome::fired);
    const auto fired = shard.lease();
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{fired[0].lease, "why", 500}).outcome, LeaseOutcome::retrying);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", moved}).row.state.state, State::retrying);
    shard.engine().set_log_space(LogSpace::enough);
    shard.put(0);
    EXPECT_EQ(shard.engine().counters().refused_full, 1u);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
}

TEST(EngineLog, waiting_puts_are_refused_when_the_store_becomes_full_and_submitted_ones_are_not) {
    Shard shard;
    shard.hold_commits = true;
    const ReplyToken on_its_way = shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    const ReplyToken waiting = shard.submit(PutCommand{.queue = "q"});
    shard.engine().set_log_space(LogSpace::scarce);
    shard.turn();
    EXPECT_EQ(shard.take<Error>(waiting).code, "store_full"_code);
    EXPECT_FALSE(shard.replies.contains(on_its_way));
    shard.hold_commits = false;
    shard.settle();
    EXPECT_NE(shard.take<PutAnswer>(on_its_way).id, 0u);
    EXPECT_EQ(shard.engine().counters().pending, 1u);
    EXPECT_TRUE(shard.engine().is_idle());
}

TEST(EngineLog, a_segment_with_records_is_closed_early_on_request) {
    Shard shard;
    shard.put(1000);
    shard.engine().close_segment();
    EXPECT_EQ(shard.engine().next_wakeup(), shard.engine().now());
    shard.turn();
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
    shard.engine().close_segment();  // nothing stands in the new one
    shard.turn();
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now());
    shard.put(1000);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u) << "it was not wanted of this one";
}

}  // namespace
}  // namespace duewheel::engine_log_test
