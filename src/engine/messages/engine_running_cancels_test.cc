// Cancels of messages that are leased: the consumer is asked to stop, and the message ends with its lease.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_running_cancels_test {
namespace {

ChangeOutcome cancel(TrialEngine& shard, MessageId id, bool running = true) {
    return shard.ask<ChangeAnswer>(CancelCommand{.id = id, .running = running}).outcome;
}

// A message that is leased and whose cancel was requested.
struct Running {
    MessageId id = 0;
    LeaseToken lease;

    explicit Running(TrialEngine& shard) {
        id = shard.put(0);
        lease = shard.lease().at(0).lease;
        EXPECT_EQ(cancel(shard, id), ChangeOutcome::cancelling);
    }
};

TEST(RunningCancels, a_consumer_is_asked_to_stop_and_the_request_is_repeated_in_vain) {
    TrialEngine shard;
    const MessageId id = shard.put(0);
    const LeaseToken lease = shard.lease().at(0).lease;
    EXPECT_EQ(cancel(shard, id, false), ChangeOutcome::in_flight);
    EXPECT_FALSE(shard.ask<LeaseEndAnswer>(ExtendCommand{lease}).cancel_requested);
    EXPECT_EQ(cancel(shard, id), ChangeOutcome::cancelling);
    const Sequence written = shard.engine().totals().sequence;
    EXPECT_EQ(shard.last().kind, RecordKind::attempt);
    EXPECT_EQ(cancel(shard, id), ChangeOutcome::cancelling);
    EXPECT_EQ(shard.engine().totals().sequence, written) << "a repeated request is not written again";
    EXPECT_EQ(state_of(shard, id), State::leased);
    EXPECT_TRUE(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.work->cancel_requested);
    EXPECT_TRUE(shard.ask<LeaseEndAnswer>(ExtendCommand{lease}).cancel_requested);
    shard.engine().check();
}

TEST(RunningCancels, a_failure_a_release_and_a_hold_end_the_message_as_cancelled) {
    TrialEngine shard;
    const auto ends_with = [&](auto command) {
        const Running running(shard);
        command.lease = running.lease;
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(command).outcome, LeaseOutcome::cancelled);
        EXPECT_EQ(shard.last().cause, Cause::cancelled);
        EXPECT_EQ(shard.last().lease_attempt, 1u);
        EXPECT_EQ(state_of(shard, running.id), State::cancelled);
        EXPECT_EQ(cancel(shard, running.id), ChangeOutcome::cancelled);
    };
    ends_with(FailCommand{});
    ends_with(ReleaseCommand{});
    ends_with(HoldLeaseCommand{});
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
}

TEST(RunningCancels, an_ack_ends_the_message_as_done) {
    TrialEngine shard;
    const Running running(shard);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{running.lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(state_of(shard, running.id), State::done);
    EXPECT_EQ(cancel(shard, running.id), ChangeOutcome::delivered);
}

TEST(RunningCancels, a_lost_lease_ends_the_message_and_no_command_comes_before_its_end) {
    TrialEngine shard;
    const Running running(shard);
    shard.hold_commits = true;  // the end is on its way to the disk
    shard.turn(30'000);
    const ReplyToken move = shard.submit(FireCommand{.id = running.id});
    EXPECT_TRUE(shard.lease().empty());
    shard.hold_commits = false;
    shard.settle();
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(move).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(state_of(shard, running.id), State::cancelled);
    EXPECT_EQ(shard.last().cause, Cause::cancelled);
    shard.engine().check();
}

TEST(RunningCancels, the_last_attempt_leaves_no_dead_letter) {
    EngineOptions options;
    options.retry.attempts = 1;
    TrialEngine shard(options);
    const Running failed(shard);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{.lease = failed.lease}).outcome, LeaseOutcome::cancelled);
    const Running lost(shard);
    shard.turn(30'000);
    EXPECT_EQ(state_of(shard, lost.id), State::cancelled);
}

TEST(RunningCancels, a_request_counts_although_the_message_expires_meanwhile) {
    TrialEngine shard;
    PutCommand put{.queue = "q"};
    put.expires = When{std::nullopt, 1'000};
    const MessageId id = shard.ask<PutAnswer>(put).id;
    ASSERT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(cancel(shard, id), ChangeOutcome::cancelling);
    shard.turn(30'000);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
}

TEST(RunningCancels, a_message_that_is_not_leased_is_cancelled_at_once) {
    TrialEngine shard;
    EXPECT_EQ(cancel(shard, shard.put(60'000)), ChangeOutcome::cancelled);
    EXPECT_EQ(cancel(shard, shard.put(0)), ChangeOutcome::cancelled);
}

// A request is never forgotten: the message ends with its lease, or with the process if that ends the lease.
TEST(RunningCancels, a_request_outlives_the_server) {
    EngineOptions options;
    TrialEngine before(options);
    const Running running(before);
    TrialEngine after(options, before);
    after.turn();
    EXPECT_TRUE(after.lease().empty());
    after.turn(60'000);
    EXPECT_TRUE(after.lease().empty());
    EXPECT_EQ(state_of(after, running.id), State::cancelled);
    after.engine().check();
}

// A lease of the server ended with the process, and nothing loaded the message: its queue was paused, or had a backlog.
// It was shown as ready, and a request that waited for its end waited for ever.
TEST(RunningCancels, a_message_without_a_lease_that_only_the_index_has_ends_when_it_is_shown) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    TrialEngine shard(options);
    const MessageId id = shard.put(500'000'000);
    shard.move_to_index();
    MessageRow& row = shard.index.at(id);
    row.state.due_ms = row.state.nominal_due_ms = kStart;
    row.state.work.edit([](WorkState& work) { work.cancel_requested = true; });
    shard.ask<MessageAnswer>(GetCommand{"default", id});
    EXPECT_EQ(state_of(shard, id), State::cancelled);
}

TEST(RunningCancels, the_next_message_of_the_order_key_follows_the_end) {
    TrialEngine shard;
    PutCommand put{.queue = "q"};
    put.order_key = "k";
    const MessageId first = shard.ask<PutAnswer>(put).id;
    const MessageId second = shard.ask<PutAnswer>(put).id;
    ASSERT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(cancel(shard, first), ChangeOutcome::cancelling);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(30'000);
    EXPECT_EQ(state_of(shard, first), State::cancelled);
    EXPECT_EQ(shard.lease().at(0).id, second);
}

}  // namespace
}  // namespace duewheel::engine_running_cancels_test
