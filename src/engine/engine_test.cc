// The engine's rules, one by one, over a store that is never sealed and a log that is a vector. The seams between tiers
// and crashes are the simulator's. It is long because the rules are many.
#include "engine/engine.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/trial_engine.h"

namespace duewheel {
namespace {

using Shard = TrialEngine;

TEST(Engine, a_message_is_handed_out_at_its_due_time_and_not_before) {
    Shard shard;
    const MessageId id = shard.put(1000);
    shard.turn(999);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].id, id);
    EXPECT_EQ(messages[0].body, "body");
    EXPECT_EQ(messages[0].due_ms, kStart + 1000);
    EXPECT_EQ(messages[0].attempt, 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
}

TEST(Engine, nothing_is_answered_before_it_is_durable) {
    Shard shard;
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    EXPECT_TRUE(shard.lease().empty()) << "nor handed out";
    shard.hold_commits = false;
    shard.settle();
    EXPECT_TRUE(shard.replies.contains(token));
}

TEST(Engine, a_waiting_consumer_gets_the_message_the_moment_it_is_due) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.put(500);
    shard.turn(499);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.turn(1);
    EXPECT_EQ(shard.take<LeaseAnswer>(token).messages.size(), 1u);
}

TEST(Engine, a_consumer_that_waited_in_vain_gets_an_empty_answer) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 2'000});
    shard.turn(1999);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.turn(1);
    EXPECT_TRUE(shard.take<LeaseAnswer>(token).messages.empty());
}

TEST(Engine, a_forgotten_consumer_takes_nothing) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.engine().forget(token);
    shard.put(0);
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_FALSE(shard.replies.contains(token));
}

TEST(Engine, who_waits_when_the_server_stops_gets_an_empty_answer) {
    Shard shard;
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.engine().stop_waiting();
    const ReplyToken later = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    EXPECT_TRUE(shard.take<LeaseAnswer>(waiting).messages.empty());
    EXPECT_TRUE(shard.take<LeaseAnswer>(later).messages.empty());
}

TEST(Engine, messages_are_handed_out_by_priority_then_due_then_sequence) {
    Shard shard;
    const MessageId late = shard.put(20, "", "q", 0);
    const MessageId first = shard.put(10, "", "q", 0);
    const MessageId second = shard.put(10, "", "q", 0);
    const MessageId urgent = shard.put(30, "", "q", -1);
    shard.turn(100);
    std::vector<MessageId> order;
    for (const Delivered& message : shard.lease()) order.push_back(message.id);
    EXPECT_EQ(order, (std::vector<MessageId>{urgent, first, second, late}));
}

TEST(Engine, a_cancel_answers_for_good_and_repeats_its_answer) {
    Shard shard;
    const MessageId id = shard.put(1000);
    ChangeAnswer answer = shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(answer.outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(answer.attempts, 0u);
    EXPECT_FALSE(answer.maybe_delivered);
    shard.turn(2000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
}

TEST(Engine, a_cancel_in_flight_keeps_its_message_from_firing) {
    Shard shard;
    const MessageId id = shard.put(10);
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(CancelCommand{"default", id});
    shard.turn();
    shard.turn(10);
    EXPECT_TRUE(shard.lease().empty());
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<ChangeAnswer>(token).outcome, ChangeOutcome::cancelled);
    EXPECT_TRUE(shard.lease().empty());
}

TEST(Engine, a_cancel_says_when_it_comes_too_late) {
    Shard shard;
    const MessageId id = shard.put(0);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::in_flight);
    shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease});
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::delivered);
}

TEST(Engine, a_cancel_after_a_lost_lease_counts_the_attempts) {
    Shard shard;
    const MessageId id = shard.put(0);
    ASSERT_EQ(shard.lease(1, 1000).size(), 1u);
    shard.turn(1000);
    const ChangeAnswer answer = shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(answer.outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(answer.attempts, 1u);
}

TEST(Engine, the_second_of_two_cancels_in_one_batch_is_answered_by_the_first) {
    Shard shard;
    const MessageId id = shard.put(1000);
    const ReplyToken first = shard.submit(CancelCommand{"default", id});
    const ReplyToken second = shard.submit(RescheduleCommand{"default", id, {std::nullopt, 5}});
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(first).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.take<ChangeAnswer>(second).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.engine().totals().live_count, 0u);
}

TEST(Engine, unknown_and_foreign_ids_are_refused_alike) {
    Shard shard;
    const MessageId id = shard.put(1000);
    const Error never = shard.ask<Error>(CancelCommand{"default", id + kShardsMax});
    EXPECT_EQ(never.code, "unknown_id");
    EXPECT_EQ(shard.ask<Error>(CancelCommand{"default", id + 1}).code, "unknown_id") << "another shard's";
    EXPECT_EQ(shard.ask<Error>(CancelCommand{"other", id}).code, "unknown_id");
    EXPECT_EQ(shard.ask<Error>(GetCommand{"other", id}).code, "unknown_id");
    EXPECT_EQ(shard.ask<Error>(GetCommand{"default", 0}).code, "unknown_id");
}

TEST(Engine, a_rescheduled_message_comes_at_its_new_time_alone) {
    Shard shard;
    const MessageId id = shard.put(1000);
    const auto answer = shard.ask<ChangeAnswer>(RescheduleCommand{"default", id, {kStart + 5000, 0}});
    EXPECT_EQ(answer.outcome, ChangeOutcome::rescheduled);
    EXPECT_EQ(answer.due_ms, kStart + 5000);
    shard.turn(4999);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1);
    ASSERT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, a_ready_message_can_be_moved_back_to_later) {
    Shard shard;
    const MessageId id = shard.put(0);
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", id, {std::nullopt, 100}});
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(100);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, fire_makes_a_waiting_message_due_now_and_is_no_change_for_a_due_one) {
    Shard shard;
    const MessageId id = shard.put(100'000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", id}).outcome, ChangeOutcome::fired);
    const std::size_t records = shard.log().size();
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", id}).outcome, ChangeOutcome::fired);
    EXPECT_EQ(shard.log().size(), records);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, inside_its_lease_a_message_goes_to_nobody_else_and_after_it_to_the_next) {
    Shard shard;
    shard.put(0);
    const auto first = shard.lease(1, 1000);
    ASSERT_EQ(first.size(), 1u);
    shard.turn(999);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease}).outcome, LeaseOutcome::expired);
    const auto second = shard.lease(1, 1000);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].attempt, 2u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease}).outcome, LeaseOutcome::expired);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{second[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{second[0].lease}).outcome, LeaseOutcome::done) << "repeated";
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease}).outcome, LeaseOutcome::expired);
}

TEST(Engine, a_token_that_was_not_issued_ends_nothing) {
    Shard shard;
    shard.put(0);
    const auto messages = shard.lease();
    LeaseToken forged = messages.at(0).lease;
    forged.code ^= 1;
    EXPECT_EQ(shard.ask<Error>(AckCommand{forged}).code, "bad_lease_token");
    forged = messages.at(0).lease;
    forged.attempt += 1;
    EXPECT_EQ(shard.ask<Error>(AckCommand{forged}).code, "bad_lease_token");
    EXPECT_EQ(shard.engine().counters().leased, 1u);
}

TEST(Engine, a_failed_message_comes_again_after_its_back_off_and_keeps_its_nominal_time) {
    EngineOptions options;
    options.retry.jitter_permille = 0;
    Shard shard(options);
    shard.put(0);
    const auto first = shard.lease();
    const auto answer = shard.ask<LeaseEndAnswer>(FailCommand{first.at(0).lease, "no", std::nullopt});
    EXPECT_EQ(answer.outcome, LeaseOutcome::retrying);
    EXPECT_EQ(answer.due_ms, kStart + 1000);
    shard.turn(999);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1);
    const auto second = shard.lease();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].attempt, 2u);
    EXPECT_EQ(second[0].due_ms, kStart);
}

TEST(Engine, a_lease_can_be_extended_and_released) {
    Shard shard;
    shard.put(0);
    const auto first = shard.lease(1, 1000);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ExtendCommand{first.at(0).lease, 5000}).lease_until_ms, kStart + 5000);
    shard.turn(4999);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{first.at(0).lease, 0}).outcome, LeaseOutcome::released);
    const auto second = shard.lease();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{second.at(0).lease, 100}).due_ms, kStart + 5099);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(100);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, an_attempt_is_written_in_the_next_batch_and_not_once_more_with_a_quick_end) {
    Shard shard;
    shard.put(0);
    const auto messages = shard.lease();
    const auto attempts = [&] {
        int count = 0;
        for (const Record& record : shard.log()) count += record.kind == RecordKind::attempt ? 1 : 0;
        return count;
    };
    EXPECT_EQ(attempts(), 1);
    shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease});
    EXPECT_EQ(attempts(), 1);
    EXPECT_EQ(shard.log().back().kind, RecordKind::end);
    EXPECT_EQ(shard.log().back().state.attempts, 1u);
}

// The replay left the count of begun attempts at zero, so that the next delivery was the first once more.
TEST(Engine, a_replay_counts_the_attempts_of_earlier_runs) {
    RecentTier recent;
    Record record;
    record.kind = RecordKind::put;
    record.id = kShardsMax;
    record.state.queue = "q";
    record.state.due_ms = record.state.nominal_due_ms = kStart;
    recent.apply(record, 1, 1, 100);
    record.kind = RecordKind::attempt;
    record.place = 1;
    record.state.attempts = 1;
    record.state.version = 2;
    const EntryNumber number = recent.apply(record, 2, 1, 100);
    EXPECT_EQ(recent.entry(number).begun, 1u);
    recent.check();
}

TEST(Engine, get_tells_the_live_state_and_the_content) {
    Shard shard;
    const MessageId id = shard.put(1000, "hello");
    MessageAnswer answer = shard.ask<MessageAnswer>(GetCommand{"default", id});
    EXPECT_EQ(answer.row.state.state, State::scheduled);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.put_ms, kStart);
    shard.turn(1000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::ready);
    const auto messages = shard.lease();
    answer = shard.ask<MessageAnswer>(GetCommand{"default", id});
    EXPECT_EQ(answer.row.state.state, State::leased);
    EXPECT_EQ(answer.row.state.attempts, 1u);
    EXPECT_EQ(answer.lease_until_ms, kStart + 31'000);
    shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease});
    answer = shard.ask<MessageAnswer>(GetCommand{"default", id});
    EXPECT_EQ(answer.row.state.state, State::done);
    EXPECT_FALSE(answer.has_content);
}

TEST(Engine, limits_hold_at_the_limit_and_refuse_beyond) {
    EngineOptions options;
    options.delay_max_ms = 1000;
    options.queues_max = 2;
    Shard shard(options);
    shard.put(1000);
    PutCommand put{.queue = "q"};
    put.when.delay_ms = 1001;
    EXPECT_EQ(shard.ask<Error>(put).code, "delay_too_long");
    put.when.at_ms = kStart + 1001;
    EXPECT_EQ(shard.ask<Error>(put).code, "delay_too_long");
    shard.put(0, "", "p");
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "r"}).code, "queue_limit");
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 0, 30'000, 0}).code, "bad_max");
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1001, 30'000, 0}).code, "bad_max");
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, 999, 0}).code, "lease_too_short");
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, options.lease_max_ms + 1, 0}).code, "lease_too_long");
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, 1000, options.wait_max_ms + 1}).code, "wait_too_long");
}

TEST(Engine, a_commit_is_confirmed_by_an_empty_one_and_then_it_is_quiet) {
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

TEST(Engine, a_segment_that_is_full_is_closed_by_a_commit_of_cursors) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 100;
    Shard shard(options);
    for (int i = 0; i < 40; ++i) shard.put(i % 2 == 0 ? 0 : 1000, std::string(500, 'x'));
    EXPECT_GE(shard.engine().counters().unsealed_segments, 1u);
    bool load = false;
    bool queue = false;
    for (const Record& record : shard.log()) {
        if (record.kind != RecordKind::cursor) continue;
        load |= record.state.queue.empty() && record.state.due_ms == kStart;
        queue |= record.state.queue == "q" && record.state.due_ms == kStart && record.id == kShardsMax;
    }
    EXPECT_TRUE(load);
    EXPECT_TRUE(queue) << "the oldest message that is due and unfinished";
}

// The room that was left in it was reckoned below zero, so that cursors without number went into the closing commit.
TEST(Engine, a_segment_that_one_commit_overfills_is_closed_by_a_small_one) {
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

// Every commit was reckoned in blocks of 512 bytes, so that a log with larger ones ran over the end of its segments.
TEST(Engine, a_log_with_larger_blocks_never_overfills_a_segment) {
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

TEST(Engine, puts_wait_while_too_many_segments_are_unsealed_and_acks_do_not) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 1;
    Shard shard(options);
    std::vector<ReplyToken> tokens;
    for (int i = 0; i < 60; ++i) {
        PutCommand put{.queue = "q", .body = std::string(500, 'x')};
        tokens.push_back(shard.submit(put));
        shard.turn();
    }
    EXPECT_TRUE(shard.engine().counters().puts_held_back);
    EXPECT_FALSE(shard.replies.contains(tokens.back()));
    const auto messages = shard.lease(1);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease}).outcome, LeaseOutcome::done);
    for (SegmentNumber segment = 1; segment < 20; ++segment) {
        shard.engine().table_taken(segment);
        shard.turn();
    }
    EXPECT_TRUE(shard.replies.contains(tokens.back()));
}

// The sealer looks at the disk, where a segment is full before the engine is told so; such a segment counted as
// unsealed for ever, and puts were held back for good.
TEST(Engine, a_table_may_be_taken_before_the_commit_that_closed_its_segment_is_told) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 1;
    Shard shard(options);
    shard.hold_commits = true;
    while (shard.largest_closing_commit == 0) {
        shard.submit(PutCommand{.queue = "q", .body = std::string(500, 'x')});
        shard.turn();
        shard.hold_commits = shard.largest_closing_commit != 0;
        shard.settle();
        shard.hold_commits = true;
    }
    shard.engine().table_taken(1);
    shard.hold_commits = false;
    shard.settle();
    EXPECT_FALSE(shard.engine().counters().puts_held_back);
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 0u);
}

EngineOptions small_segments() {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    return options;
}

// A look at a message that only the index knew did not ask for its namespace, so anyone who counted ids up could read
// the messages of others.
TEST(Engine, a_message_in_the_index_is_shown_to_its_own_namespace_alone) {
    Shard shard(small_segments());
    const MessageId id = shard.put(1'000'000, "secret");
    shard.move_to_index();
    EXPECT_EQ(shard.ask<Error>(GetCommand{"other", id}).code, "unknown_id");
    EXPECT_EQ(shard.ask<Error>(CancelCommand{"other", id}).code, "unknown_id");
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).body, "secret");
}

// Two commands on a message in the index came back from their look-ups in reverse.
// A get that was answered from the index said that nobody can have had the message, although it was due in an earlier
// run, which may have handed it out without a trace.
TEST(Engine, a_get_from_the_index_says_that_an_earlier_run_may_have_delivered) {
    EngineStart start;
    start.totals.id_counter = 9;
    Shard shard({}, start);
    shard.put(0, "body");
    const Sequence place = shard.engine().totals().sequence;
    for (const auto& [due_ms, maybe_delivered] : {std::pair(kStart - 5, true), std::pair(kStart + 60'000, false)}) {
        MessageRow row;
        row.id = 7 * kShardsMax;
        row.place = place;
        row.state.queue = "q";
        row.state.due_ms = row.state.nominal_due_ms = due_ms;
        shard.index[row.id] = row;
        const auto answer = shard.ask<MessageAnswer>(GetCommand{"default", row.id});
        EXPECT_EQ(answer.row.id, row.id);
        EXPECT_EQ(answer.row.state.maybe_delivered, maybe_delivered);
    }
}

// A run whose clock was set back before it began took for never delivered what an earlier run may have handed out after
// its last commit. Now the earlier one hands nothing out that fell due later than the next one takes for the past.
TEST(Engine, a_message_that_fell_due_long_after_the_last_commit_is_handed_out_with_the_next) {
    Shard shard;
    shard.put(5'000);
    shard.turn(1'000);  // the commit is confirmed
    shard.turn(3'999);
    shard.hold_commits = true;
    shard.turn(1);
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token)) << "a start would not know that it was due by now";
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<LeaseAnswer>(token).messages.size(), 1u);
    shard.put(50);
    shard.hold_commits = true;
    shard.turn(50);
    const ReplyToken soon = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(soon).messages.size(), 1u) << "it waits for no commit";
    shard.hold_commits = false;
    shard.settle();
}

TEST(Engine, a_consumer_that_leaves_while_its_message_waits_for_a_commit_gives_it_back) {
    Shard shard;
    const MessageId id = shard.put(5'000);
    shard.turn(1'000);
    shard.hold_commits = true;
    shard.turn(4'000);
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    shard.engine().forget(token);
    shard.hold_commits = false;
    shard.settle();
    EXPECT_FALSE(shard.replies.contains(token));
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].id, id);
}

TEST(Engine, a_start_with_its_clock_set_back_knows_what_an_earlier_run_may_have_delivered) {
    EngineOptions options;
    EngineStart start;
    start.totals.id_counter = 9;
    start.totals.server_time_ms = kStart + 10'000;  // of the last commit; the clock of this run says kStart
    Shard shard(options, start);
    shard.put(0, "body");
    const DueMs latest = start.totals.server_time_ms + options.unsaved_due_max_ms;
    for (const auto& [due_ms, maybe_delivered] : {std::pair(latest, true), std::pair(latest + 1, false)}) {
        MessageRow row;
        row.id = 7 * kShardsMax;
        row.place = shard.engine().totals().sequence;
        row.state.queue = "q";
        row.state.due_ms = row.state.nominal_due_ms = due_ms;
        shard.index[row.id] = row;
        const auto answer = shard.ask<MessageAnswer>(GetCommand{"default", row.id});
        EXPECT_EQ(answer.row.state.maybe_delivered, maybe_delivered);
    }
}

// An outcome was not carried while the recent tier still knew it: between its table being taken in and being told, and
// between being told and being swept. The segment then went with the only record of it.
TEST(Engine, an_outcome_is_carried_also_while_the_recent_tier_knows_it) {
    Shard shard;
    const MessageId id = shard.put(1000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    CarryCommand carry;
    carry.row.id = id;
    carry.row.state.queue = "q";
    carry.row.state.state = State::cancelled;
    carry.row.ended_ms = kStart;
    carry.generation = shard.engine().generation().load();
    carry.record_kind = RecordKind::end;
    EXPECT_TRUE(shard.ask<CarryAnswer>(carry).carried);
    ASSERT_EQ(shard.log().back().kind, RecordKind::carry);
    EXPECT_EQ(shard.log().back().id, id);
    EXPECT_EQ(shard.log().back().ended_ms, kStart);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
}

TEST(Engine, commands_on_a_message_in_the_index_keep_their_order) {
    Shard shard(small_segments());
    const MessageId id = shard.put(1'000'000);
    shard.move_to_index();
    const ReplyToken first = shard.submit(RescheduleCommand{"default", id, {kStart + 5000, 0}});
    const ReplyToken second = shard.submit(RescheduleCommand{"default", id, {kStart + 9000, 0}});
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(first).due_ms, kStart + 5000);
    EXPECT_EQ(shard.take<ChangeAnswer>(second).due_ms, kStart + 9000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.due_ms, kStart + 9000);
}

// A command that arrived after a long sleep, and before the turn of its round, counted from the turn before the sleep:
// a lease ended as it began, a wait at once.
TEST(Engine, a_command_counts_from_the_time_it_is_told) {
    Shard shard;
    shard.put(0);
    shard.engine().set_time(kStart + 600'000);
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "empty", 1, 30'000, 20'000});
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn(600'000);
    const auto messages = shard.take<LeaseAnswer>(token).messages;
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].lease_until_ms, kStart + 630'000);
    EXPECT_FALSE(shard.replies.contains(waiting));
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
}

// The record of its attempt was in a batch, so a message whose consumer had left kept its lease to the end.
TEST(Engine, a_consumer_that_leaves_while_its_message_is_read_gives_it_back) {
    EngineOptions options;
    options.record_cache_bytes = 0;
    Shard shard(options);
    shard.put(0);
    shard.hold_questions = true;
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    shard.engine().forget(token);
    shard.hold_commits = false;
    shard.settle();
    shard.answer_questions();
    shard.hold_questions = false;
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].attempt, 2u);
    EXPECT_FALSE(shard.replies.contains(token));
}

TEST(Engine, contents_being_read_are_bounded) {
    EngineOptions options;
    options.reading_bytes_max = 100;
    Shard shard(options);
    const MessageId id = shard.put(1000, std::string(200, 'x'));
    shard.hold_questions = true;
    const ReplyToken first = shard.submit(GetCommand{"default", id});
    EXPECT_EQ(shard.ask<Error>(GetCommand{"default", id}).code, "too_busy");
    shard.answer_questions();
    shard.hold_questions = false;
    shard.turn();
    EXPECT_EQ(shard.take<MessageAnswer>(first).body.size(), 200u);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).body.size(), 200u);
}

// A log that was made with segments of another size is still measured by theirs.
TEST(Engine, an_open_segment_keeps_the_size_it_was_made_with) {
    EngineOptions options;
    options.segment_bytes = 1 << 20;
    EngineStart start;
    start.segment_bytes = 16 * 1024;
    Shard shard(options, start);
    for (int i = 0; i < 40; ++i) shard.put(1000, std::string(500, 'x'));
    EXPECT_EQ(shard.engine().counters().unsealed_segments, 1u);
}

TEST(Engine, a_full_store_refuses_puts_and_nothing_else) {
    Shard shard;
    const MessageId later = shard.put(1000);
    const MessageId moved = shard.put(1000);
    shard.put(0);
    const auto held = shard.lease();
    ASSERT_EQ(held.size(), 1u);
    shard.engine().set_store_full(true);
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "q"}).code, "store_full");
    EXPECT_TRUE(shard.engine().counters().store_full);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{held[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", later}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", moved}).outcome, ChangeOutcome::fired);
    const auto fired = shard.lease();
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{fired[0].lease, "why", 500}).outcome, LeaseOutcome::retrying);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", moved}).row.state.state, State::retrying);
    shard.engine().set_store_full(false);
    shard.put(0);
    EXPECT_EQ(shard.engine().counters().refused_full, 1u);
    EXPECT_EQ(shard.engine().counters().pending, 2u);
}

TEST(Engine, puts_that_wait_when_the_store_becomes_full_are_refused_and_those_on_their_way_are_not) {
    Shard shard;
    shard.hold_commits = true;
    const ReplyToken on_its_way = shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    const ReplyToken waiting = shard.submit(PutCommand{.queue = "q"});
    shard.engine().set_store_full(true);
    shard.turn();
    EXPECT_EQ(shard.take<Error>(waiting).code, "store_full");
    EXPECT_FALSE(shard.replies.contains(on_its_way));
    shard.hold_commits = false;
    shard.settle();
    EXPECT_NE(shard.take<PutAnswer>(on_its_way).id, 0u);
    EXPECT_EQ(shard.engine().counters().pending, 1u);
    EXPECT_TRUE(shard.engine().is_idle());
}

TEST(Engine, a_segment_is_closed_before_it_is_full_when_that_is_wanted_and_something_stands_in_it) {
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

// A failure with a time beyond the limit was answered with the name of a member that the call does not have.
TEST(Engine, a_retry_too_far_ahead_names_its_own_member) {
    Shard shard;
    shard.put(0);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    const Error error = shard.ask<Error>(FailCommand{messages[0].lease, "", std::int64_t{1} << 50});
    EXPECT_EQ(error.code, "delay_too_long");
    EXPECT_EQ(error.field, "retry_in");
}

}  // namespace
}  // namespace duewheel
