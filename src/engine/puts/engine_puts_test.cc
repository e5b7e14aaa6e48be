// Puts with idempotency keys, and batches of puts.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_puts_test {
namespace {

PutCommand keyed(std::string key, std::uint64_t hash = 1, std::int64_t delay_ms = 1000) {
    PutCommand put;
    put.queue = "q";
    put.when.delay_ms = delay_ms;
    put.body = "body";
    put.key = std::move(key);
    put.request_hash = hash;
    return put;
}

// The time of receipt was rounded down, so a message with a delay came up to a millisecond early by a finer clock.
TEST(EnginePuts, a_delay_counts_from_the_next_whole_millisecond) {
    TrialEngine shard;
    shard.turn();
    shard.engine().set_time(kStart, kStart + 1);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed("later")).due_ms, kStart + 1'001);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed("now", 1, 0)).due_ms, kStart);
    const LeaseToken first = shard.lease().at(0).lease;
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{.lease = first, .delay_ms = 5}).due_ms, kStart + 6);
    shard.turn(6);
    const LeaseToken second = shard.lease().at(0).lease;
    shard.engine().set_time(kStart + 6, kStart + 7);
    FailCommand fail;
    fail.lease = second;
    fail.retry_in_ms = 10;
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(fail).due_ms, kStart + 17);
}

TEST(EnginePuts, a_put_with_a_history_restores_what_another_server_had) {
    EngineOptions small;
    small.segment_bytes = 32'768;
    TrialEngine shard(small);
    PutCommand put = keyed("a", 1, 5'000);
    put.retry.attempts = 3;
    WorkHistory history{.attempts = 4, .attempts_counted = 2, .maybe_delivered = true, .is_retrying = true};
    history.nominal_due_ms = kStart - 7'000;
    history.reason = "no route";
    history.progress = "0.5";
    history.checkpoint = "[1]";
    history.past_attempts = encode_past_attempts({{4, 1, 2, AttemptOutcome::failed, "no route", "host-7"}});
    put.imported.set(history);
    PutCommand again = put;
    const auto made = shard.ask<PutAnswer>(std::move(put));
    EXPECT_EQ(made.state, State::retrying);
    const auto shown = shard.ask<MessageAnswer>(GetCommand{"default", made.id});
    EXPECT_EQ(shown.row.state.state, State::retrying);
    EXPECT_EQ(shown.row.state.attempts, 4u);
    EXPECT_EQ(shown.row.state.nominal_due_ms, kStart - 7'000);
    EXPECT_TRUE(shown.row.state.maybe_delivered);
    EXPECT_EQ(shown.row.reason, "no route");
    EXPECT_EQ(shown.row.state.work->progress, "0.5");
    ASSERT_EQ(shown.timeline.size(), 1u);
    EXPECT_EQ(shown.timeline.front().worker, "host-7");
    const auto repeated = shard.ask<PutAnswer>(std::move(again));
    EXPECT_TRUE(repeated.repeated);
    EXPECT_EQ(repeated.due_ms, made.due_ms);
    shard.move_to_index();
    shard.turn(5'000);
    const Delivered delivered = shard.lease().at(0);
    EXPECT_EQ(delivered.attempt, 5u);
    EXPECT_EQ(delivered.checkpoint, "[1]");
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{.lease = delivered.lease}).outcome, LeaseOutcome::dead)
        << "two of three attempts were used up";
}

TEST(EnginePuts, a_repeated_key_repeats_the_first_answer_and_puts_nothing) {
    TrialEngine shard;
    const auto first = shard.ask<PutAnswer>(keyed("a"));
    EXPECT_FALSE(first.repeated);
    shard.turn(10);
    const auto again = shard.ask<PutAnswer>(keyed("a"));
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, first.due_ms);
    EXPECT_EQ(shard.engine().counters().pending, 1u);
}

TEST(EnginePuts, a_repeated_key_names_the_first_due_also_after_a_reschedule) {
    TrialEngine shard;
    const auto first = shard.ask<PutAnswer>(keyed("a"));
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", first.id, {std::nullopt, 90'000}});
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", first.id, {std::nullopt, 95'000}});
    const auto again = shard.ask<PutAnswer>(keyed("a"));
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, first.due_ms);
    EXPECT_EQ(again.state, State::scheduled);
}

TEST(EnginePuts, a_key_with_another_request_is_refused_and_puts_nothing) {
    TrialEngine shard;
    shard.ask<PutAnswer>(keyed("a", 1));
    EXPECT_EQ(shard.ask<Error>(keyed("a", 2)).code, "key_conflict"_code);
    EXPECT_EQ(shard.engine().counters().pending, 1u);
}

TEST(EnginePuts, keys_of_other_queues_and_namespaces_are_other_keys) {
    TrialEngine shard;
    const auto here = shard.ask<PutAnswer>(keyed("a"));
    PutCommand there = keyed("a", 2);
    there.queue = "r";
    const auto elsewhere = shard.ask<PutAnswer>(there);
    there.name_space = "other";
    const auto foreign = shard.ask<PutAnswer>(there);
    EXPECT_NE(here.id, elsewhere.id);
    EXPECT_NE(foreign.id, elsewhere.id);
}

EngineOptions keeping_keys(std::int64_t ms) {
    EngineOptions options;
    options.keys_kept_ms = ms;
    return options;
}

// A message with the key a.
PutAnswer put_and_cancel(TrialEngine& shard) {
    const PutAnswer answer = shard.ask<PutAnswer>(keyed("a"));
    shard.ask<ChangeAnswer>(CancelCommand{"default", answer.id});
    return answer;
}

TEST(EnginePuts, a_key_is_held_for_its_retention_after_the_end_and_free_then) {
    TrialEngine shard(keeping_keys(60'000));
    const PutAnswer first = put_and_cancel(shard);
    shard.turn(60'000);
    const auto kept = shard.ask<PutAnswer>(keyed("a"));
    EXPECT_EQ(kept.id, first.id);
    EXPECT_EQ(kept.state, State::cancelled);
    shard.turn(1);
    const auto fresh = shard.ask<PutAnswer>(keyed("a"));
    EXPECT_FALSE(fresh.repeated);
    EXPECT_NE(fresh.id, first.id);
    // The newer message holds it now, whatever becomes of the older one's records.
    EXPECT_EQ(shard.ask<PutAnswer>(keyed("a")).id, fresh.id);
}

// A message whose outcome was kept no longer was answered for all the same until its segment had been sealed, for hours
// on a quiet server, although its key was free already and the page says `gone`.
TEST(EnginePuts, an_outcome_is_gone_as_soon_as_its_key_is_free) {
    TrialEngine shard(keeping_keys(1'000));
    const PutAnswer first = put_and_cancel(shard);
    shard.turn(1'000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", first.id}).row.state.state, State::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", first.id}).outcome, ChangeOutcome::cancelled);
    shard.turn(1);
    EXPECT_EQ(shard.ask<Error>(GetCommand{"default", first.id}).code, "gone"_code);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", first.id}).outcome, ChangeOutcome::cancelled)
        << "a command may know better for a while: it may wait for the very commit that ended the message";
    EXPECT_FALSE(shard.ask<PutAnswer>(keyed("a")).repeated);
    TrialEngine next(keeping_keys(1'000), shard);
    EXPECT_EQ(next.ask<Error>(GetCommand{"default", first.id}).code, "gone"_code) << "after a restart too";
}

// A message that was dead for so long that its key was used again took the key back when it was changed, or relocated
// by cleaning, while the index alone knew of the younger one: a put that was sent again became a second message.
TEST(EnginePuts, an_older_message_does_not_take_its_key_back) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.keys_kept_ms = 1000;
    options.retry.attempts = 1;
    TrialEngine shard(options);
    PutCommand first = keyed("a", 1);
    first.when.delay_ms = 0;
    const MessageId old = shard.ask<PutAnswer>(first).id;
    const auto leased = shard.lease();
    ASSERT_EQ(leased.size(), 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{leased[0].lease, "no", std::nullopt}).outcome, LeaseOutcome::dead);
    shard.turn(2000);
    PutCommand second = keyed("a", 2);
    second.when.delay_ms = 90'000'000;
    const MessageId young = shard.ask<PutAnswer>(second).id;
    ASSERT_NE(young, old);
    shard.move_to_index();
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", old}).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.ask<PutAnswer>(second).id, young);
    EXPECT_EQ(shard.ask<Error>(first).code, "key_conflict"_code);
    const auto again = shard.lease();
    ASSERT_EQ(again.size(), 1u);
    shard.ask<LeaseEndAnswer>(AckCommand{again[0].lease});
    shard.turn(2000);
    EXPECT_EQ(shard.ask<PutAnswer>(second).id, young);
}

TEST(EnginePuts, an_older_message_does_not_take_its_key_back_from_one_in_memory) {
    EngineOptions options;
    options.keys_kept_ms = 1000;
    options.retry.attempts = 1;
    TrialEngine shard(options);
    const MessageId old = shard.ask<PutAnswer>(keyed("a", 1, 0)).id;
    shard.ask<LeaseEndAnswer>(FailCommand{shard.lease().at(0).lease, "no", std::nullopt});
    shard.turn(2000);
    const MessageId young = shard.ask<PutAnswer>(keyed("a", 2)).id;
    ASSERT_NE(young, old);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", old}).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed("a", 2)).id, young);
}

TEST(EnginePuts, of_two_puts_with_one_key_that_come_together_the_second_waits_for_the_first) {
    TrialEngine shard;
    const ReplyToken one = shard.submit(keyed("a"));
    const ReplyToken two = shard.submit(keyed("a"));
    const ReplyToken other = shard.submit(keyed("a", 2));
    shard.turn();
    const auto first = shard.take<PutAnswer>(one);
    const auto second = shard.take<PutAnswer>(two);
    EXPECT_EQ(first.id, second.id);
    EXPECT_TRUE(second.repeated);
    EXPECT_EQ(shard.take<Error>(other).code, "key_conflict"_code);
}

TEST(EnginePuts, a_key_that_only_the_index_knows_is_found_there) {
    EngineOptions options;
    options.segment_bytes = 64 << 10;
    TrialEngine shard(options);
    const auto first = shard.ask<PutAnswer>(keyed("a", 1, 90'000'000));
    shard.move_to_index();
    const auto again = shard.ask<PutAnswer>(keyed("a", 1, 90'000'000));
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, first.due_ms);
    EXPECT_EQ(again.state, State::scheduled);
    EXPECT_EQ(shard.ask<Error>(keyed("a", 2)).code, "key_conflict"_code);
}

// A table that is added during the lookup may contain the key.
TEST(EnginePuts, the_lookup_of_a_key_is_repeated_after_a_newer_table) {
    TrialEngine shard;
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(keyed("a"));
    shard.turn();
    shard.engine().table_taken(0);
    shard.answer_lookups(1);
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    shard.answer_lookups();
    shard.turn();
    EXPECT_NE(shard.take<PutAnswer>(token).id, 0u);
}

TEST(EnginePuts, a_batch_is_one_commit_with_a_reply_for_each) {
    EngineOptions options;
    options.batch_operations_max = 4;
    TrialEngine shard(options);
    const std::uint64_t commits = shard.engine().counters().commits;
    PutBatchCommand batch;
    for (int i = 0; i < 10; ++i) batch.puts.push_back(keyed("", 0, 1000 + i));
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(batch);
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    shard.hold_commits = false;
    shard.turn();
    const auto answer = shard.take<PutBatchAnswer>(token);
    ASSERT_EQ(answer.results.size(), 10u);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(std::get<PutAnswer>(answer.results[static_cast<std::size_t>(i)]).due_ms, kStart + 1000 + i);
    }
    EXPECT_EQ(shard.engine().counters().commits, commits + 1);
    EXPECT_EQ(shard.engine().counters().pending, 10u);
}

TEST(EnginePuts, a_refused_put_does_not_affect_others_of_its_batch) {
    TrialEngine shard;
    PutBatchCommand batch;
    batch.puts = {keyed("", 0, 1000), keyed("", 0, std::int64_t{1} << 60), keyed("", 0, 2000)};
    const auto answer = shard.ask<PutBatchAnswer>(batch);
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[0]));
    EXPECT_EQ(std::get<Error>(answer.results[1]).code, "delay_too_long"_code);
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[2]));
    EXPECT_EQ(shard.engine().counters().pending, 2u);
}

TEST(EnginePuts, a_key_twice_in_one_batch_is_one_message) {
    TrialEngine shard;
    PutBatchCommand batch;
    batch.puts = {keyed("a", 1), keyed("a", 1), keyed("a", 2), keyed("b", 2)};
    const auto answer = shard.ask<PutBatchAnswer>(batch);
    const auto& first = std::get<PutAnswer>(answer.results[0]);
    const auto& second = std::get<PutAnswer>(answer.results[1]);
    EXPECT_EQ(first.id, second.id);
    EXPECT_TRUE(second.repeated);
    EXPECT_EQ(std::get<Error>(answer.results[2]).code, "key_conflict"_code);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
    // The same batch again changes nothing, and is answered without a commit.
    const auto repeated = shard.ask<PutBatchAnswer>(batch);
    EXPECT_EQ(std::get<PutAnswer>(repeated.results[0]).id, first.id);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
}

TEST(EnginePuts, puts_that_wait_for_the_disk_are_bounded_in_bytes) {
    EngineOptions options;
    options.waiting_bytes_max = 1000;
    TrialEngine shard(options);
    shard.hold_commits = true;
    PutCommand put = keyed("", 0);
    shard.submit(put);
    shard.turn();  // in flight from here on
    put.body = std::string(900, 'x');
    const ReplyToken fits = shard.submit(put);
    put.body = std::string(101, 'x');
    EXPECT_EQ(shard.take<Error>((shard.submit(put), shard.settle(), fits + 1)).code, "too_busy"_code);
    shard.hold_commits = false;
    shard.turn();
    shard.take<PutAnswer>(fits);
    shard.ask<PutAnswer>(put);  // and there is room again
}

// While the disk was full and sealing could not go on, a put with a key waited for both instead of being answered.
TEST(EnginePuts, on_a_full_disk_a_put_that_repeats_is_answered_and_a_new_one_refused) {
    EngineOptions options;
    options.segment_bytes = 16 << 10;
    options.unsealed_segments_max = 1;
    TrialEngine shard(options);
    const auto first = shard.ask<PutAnswer>(keyed("a"));
    while (!shard.engine().counters().puts_stalled) {
        PutCommand filler = keyed("", 0, 2'000'000);
        filler.body = std::string(1000, 'x');
        shard.submit(filler);
        shard.turn();
    }
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed("a")).id, first.id);
    EXPECT_EQ(shard.ask<Error>(keyed("b")).code, "store_full"_code);
    EXPECT_EQ(shard.ask<Error>(keyed("")).code, "store_full"_code);
    PutBatchCommand batch;
    batch.puts = {keyed("a"), keyed("b")};
    const auto answer = shard.ask<PutBatchAnswer>(batch);
    EXPECT_EQ(std::get<PutAnswer>(answer.results[0]).id, first.id);
    EXPECT_EQ(std::get<Error>(answer.results[1]).code, "store_full"_code);
}

}  // namespace
}  // namespace duewheel::engine_puts_test
