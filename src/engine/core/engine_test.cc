// The rules of messages, one by one, with a log that is a vector and an index that is a map: when messages are
// delivered, and what changes them. Crashes and the boundary between the tiers are tested by the simulator.
#include "engine/core/engine.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "message/records/outcome_rows.h"

namespace duewheel::engine_test {
namespace {

using Shard = TrialEngine;

EngineOptions small_segments() {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    return options;
}

TEST(Engine, a_message_is_delivered_at_its_due_time_and_not_before) {
    Shard shard;
    const MessageId id = shard.put(1000);
    const auto messages = shard.lease_after(1'000);
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

// A batch of thousands of records was applied at once, and consumers of other queues waited for that.
TEST(Engine, a_large_batch_is_applied_and_answered_over_several_iterations) {
    EngineOptions options;
    options.apply_chunk = 4;
    Shard shard(options);
    shard.hold_commits = true;
    for (int i = 0; i < 10; ++i) shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.engine().counters().in_memory, 4u);
    EXPECT_EQ(shard.engine().next_wakeup(), shard.engine().now());
    EXPECT_FALSE(shard.engine().is_idle());
    shard.turn();
    EXPECT_EQ(shard.engine().counters().in_memory, 8u);
    EXPECT_EQ(shard.replies.size(), 8u);
    shard.turn();
    EXPECT_EQ(shard.engine().counters().in_memory, 10u);
    EXPECT_EQ(shard.replies.size(), 10u);
    EXPECT_GT(shard.engine().next_wakeup(), shard.engine().now());
}

TEST(Engine, puts_of_one_request_are_applied_and_answered_together) {
    EngineOptions options;
    options.apply_chunk = 4;
    Shard shard(options);
    shard.hold_commits = true;
    shard.submit(PutCommand{.queue = "q"});
    shard.submit(PutBatchCommand{std::vector<PutCommand>(6, PutCommand{.queue = "q"})});
    shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.engine().counters().in_memory, 7u);
    EXPECT_EQ(shard.replies.size(), 2u);
    shard.turn();
    EXPECT_EQ(shard.engine().counters().in_memory, 8u);
    EXPECT_EQ(shard.replies.size(), 3u);
}

TEST(Engine, a_durable_record_that_is_not_applied_counts_as_in_flight) {
    EngineOptions options;
    options.apply_chunk = 1;
    Shard shard(options);
    const MessageId first = shard.put(10);
    const MessageId second = shard.put(10);
    shard.hold_commits = true;
    const ReplyToken cancels[] = {shard.submit(CancelCommand{"default", first}),
                                  shard.submit(CancelCommand{"default", second})};
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 1000, 0});
    shard.turn(10);
    EXPECT_TRUE(shard.take<LeaseAnswer>(lease).messages.empty());
    EXPECT_EQ(shard.take<ChangeAnswer>(cancels[0]).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.take<ChangeAnswer>(cancels[1]).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
}

TEST(Engine, a_repeated_cancel_has_the_same_result) {
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

TEST(Engine, a_cancel_reports_that_it_is_too_late) {
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

TEST(Engine, a_rescheduled_message_is_delivered_only_at_its_new_time) {
    Shard shard;
    const MessageId id = shard.put(1000);
    const auto answer = shard.ask<ChangeAnswer>(RescheduleCommand{"default", id, {kStart + 5000, 0}});
    EXPECT_EQ(answer.outcome, ChangeOutcome::rescheduled);
    EXPECT_EQ(answer.due_ms, kStart + 5000);
    ASSERT_EQ(shard.lease_after(5'000).size(), 1u);
}

TEST(Engine, a_ready_message_can_be_moved_back_to_later) {
    Shard shard;
    const MessageId id = shard.put(0);
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", id, {std::nullopt, 100}});
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(100);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, fire_makes_a_waiting_message_due_now_and_does_not_change_a_due_one) {
    Shard shard;
    const MessageId id = shard.put(100'000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", id}).outcome, ChangeOutcome::fired);
    const std::size_t records = shard.log().size();
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", id}).outcome, ChangeOutcome::fired);
    EXPECT_EQ(shard.log().size(), records);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Engine, a_failed_message_returns_after_its_backoff_and_keeps_its_nominal_time) {
    EngineOptions options;
    options.retry.jitter_permille = 0;
    Shard shard(options);
    shard.put(0);
    const auto first = shard.lease();
    const auto answer = shard.ask<LeaseEndAnswer>(FailCommand{first.at(0).lease, "no", std::nullopt});
    EXPECT_EQ(answer.outcome, LeaseOutcome::retrying);
    EXPECT_EQ(answer.due_ms, kStart + 1000);
    const auto second = shard.lease_after(1'000);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].attempt, 2u);
    EXPECT_EQ(second[0].due_ms, kStart);
}

TEST(Engine, limits_hold_at_the_limit_and_refuse_beyond) {
    EngineOptions options;
    options.delay_max_ms = 1000;
    options.queues_max = 2;
    Shard shard(options);
    shard.put(1000);
    PutCommand put{.queue = "q"};
    put.when.delay_ms = 1001;
    EXPECT_EQ(shard.ask<Error>(put).code, "delay_too_long"_code);
    put.when.at_ms = kStart + 1001;
    const Error too_long = shard.ask<Error>(put);
    EXPECT_EQ(too_long.code, "delay_too_long"_code);
    EXPECT_NE(too_long.message.find("more than 1s in the future"), std::string::npos) << "it was said in whole days";
    shard.put(0, "", "p");
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "r"}).code, "queue_limit"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 0, 30'000, 0}).code, "bad_max"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1001, 30'000, 0}).code, "bad_max"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, 999, 0}).code, "lease_too_short"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, options.lease_max_ms + 1, 0}).code,
              "lease_too_long"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "q", 1, 1000, options.wait_max_ms + 1}).code,
              "wait_too_long"_code);
}

// Two commands on a message in the index returned from their lookups in reverse order. A get that was answered from the
// index reported that the message was not delivered, although it was due in an earlier run, which may have delivered it
// without a record.
TEST(Engine, a_get_from_the_index_shows_that_an_earlier_run_may_have_delivered) {
    EngineStart start;
    start.totals.id_counter = 9;
    Shard shard({}, start);
    shard.put(0, "body");
    const Sequence log_position = shard.engine().totals().sequence;
    for (const auto& [due_ms, maybe_delivered] : {std::pair(kStart - 5, true), std::pair(kStart + 60'000, false)}) {
        MessageRow row;
        row.id = 7 * kShardsMax;
        row.log_position = log_position;
        row.state.queue = "q";
        row.state.due_ms = row.state.nominal_due_ms = due_ms;
        shard.index[row.id] = row;
        const auto answer = shard.ask<MessageAnswer>(GetCommand{"default", row.id});
        EXPECT_EQ(answer.row.id, row.id);
        EXPECT_EQ(answer.row.state.maybe_delivered, maybe_delivered);
    }
}

// An outcome was not relocated while the recent tier still knew it: between the addition of its table and the report of
// it, and between that and the sweep. The segment was then deleted with the only record of it.
TEST(Engine, an_outcome_in_the_recent_tier_is_relocated_too) {
    Shard shard;
    const MessageId id = shard.put(1000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    std::string rows;
    append_outcome(rows, shard.last());
    shard.ask<RelocateAnswer>(RelocateOutcomesCommand{rows, 1, 1, shard.engine().totals().sequence + 1});
    EXPECT_EQ(std::get<OutcomesRecord>(shard.log().back()).count, 1u);
    EXPECT_EQ(shard.engine().counters().relocated, 1u);
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
TEST(Engine, a_command_counts_from_the_time_it_is_passed) {
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

// A failure with a time beyond the limit was answered with the name of a member that the call does not have.
TEST(Engine, a_retry_too_far_in_the_future_is_refused_by_its_member) {
    Shard shard;
    shard.put(0);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    const Error error = shard.ask<Error>(FailCommand{messages[0].lease, "", std::int64_t{1} << 50});
    EXPECT_EQ(error.code, "delay_too_long"_code);
    EXPECT_EQ(error.field, "retry_in");
}

}  // namespace
}  // namespace duewheel::engine_test
