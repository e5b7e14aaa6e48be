// Messages that expire before they are leased.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_expiry_test {
namespace {

PutCommand expiring(std::int64_t delay_ms, std::int64_t expires_in_ms) {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = delay_ms;
    command.expires = When{std::nullopt, expires_in_ms};
    return command;
}

TEST(Expiry, a_message_that_is_not_leased_ends_at_its_expiry) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(expiring(100, 1000)).id;
    shard.turn(999);
    EXPECT_EQ(state_of(shard, id), State::ready);
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::expired);
    EXPECT_EQ(shard.engine().counters().expired, 1u);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
    const MessageRecord end = shard.last();
    EXPECT_EQ(end.kind, RecordKind::end);
    EXPECT_EQ(end.cause, Cause::expired);
    EXPECT_EQ(end.lateness_ms, 0);
}

TEST(Expiry, a_message_is_not_delivered_at_the_instant_of_its_expiry) {
    TrialEngine shard;
    shard.ask<PutAnswer>(expiring(0, 1000));
    shard.turn(999);
    shard.hold_commits = true;  // its end is on its way to the disk
    shard.turn(1);
    EXPECT_TRUE(shard.lease().empty());
    shard.hold_commits = false;
    shard.settle();
    EXPECT_TRUE(shard.lease().empty());
    shard.ask<PutAnswer>(expiring(0, 1000));
    shard.turn(999);
    EXPECT_EQ(shard.lease().size(), 1u) << "and a millisecond before it anybody may";
}

TEST(Expiry, an_expired_message_is_not_delivered_while_the_wheel_is_behind) {
    EngineOptions options;
    options.fire_chunk = 1;
    TrialEngine shard(options);
    for (int i = 0; i < 5; ++i) shard.ask<PutAnswer>(expiring(0, 1000));
    // The time is set, but no iteration has fired anything yet.
    shard.engine().set_time(kStart + 1000);
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    shard.settle();
    EXPECT_TRUE(shard.take<LeaseAnswer>(token).messages.empty());
}

TEST(Expiry, a_message_leased_in_time_may_be_acknowledged_later) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    const auto messages = shard.lease(1, 30'000);
    ASSERT_EQ(messages.size(), 1u);
    shard.turn(5000);
    EXPECT_EQ(state_of(shard, id), State::leased);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.engine().counters().expired, 0u);
}

// A start reads what is due from the load cursor on, expiries too. One that came while its message was leased is
// recorded when the lease ends, so a crash before that has to find it again.
TEST(Expiry, the_load_cursor_stays_below_one_that_is_not_recorded) {
    TrialEngine shard;
    shard.ask<PutAnswer>(expiring(0, 1000));
    const auto messages = shard.lease(1, 60'000);
    ASSERT_EQ(messages.size(), 1u);
    const auto load_cursor = [&] {
        shard.put(0);
        shard.engine().close_segment();
        for (int i = 0; i < 3; ++i) shard.turn(1);
        DueMs cursor = 0;
        for (const CursorRecord& record : shard.records<CursorRecord>()) {
            if (record.queue.empty()) cursor = record.due_ms;
        }
        return cursor;
    };
    shard.turn(5000);
    const DueMs before = load_cursor();
    EXPECT_GT(before, kStart);
    EXPECT_LE(before, kStart + 1000);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{messages[0].lease}).outcome, LeaseOutcome::expired);
    EXPECT_GE(load_cursor(), kStart + 5000);
}

TEST(Expiry, a_message_whose_lease_expires_or_is_released_too_late_expires) {
    TrialEngine shard;
    const MessageId lost = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    ASSERT_EQ(shard.lease(1, 2000).size(), 1u);
    shard.turn(2000);
    EXPECT_EQ(state_of(shard, lost), State::expired);

    const MessageId released = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    const auto messages = shard.lease(1, 30'000);
    ASSERT_EQ(messages.size(), 1u);
    shard.turn(1500);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{messages[0].lease}).outcome, LeaseOutcome::expired);
    shard.turn();
    EXPECT_EQ(state_of(shard, released), State::expired);
    EXPECT_TRUE(shard.lease().empty());
}

TEST(Expiry, a_retry_due_after_the_expiry_is_never_delivered) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    const auto messages = shard.lease(1, 30'000);
    ASSERT_EQ(messages.size(), 1u);
    shard.ask<LeaseEndAnswer>(FailCommand{messages[0].lease, "", 5000});
    EXPECT_EQ(state_of(shard, id), State::retrying);
    shard.turn(999);
    EXPECT_EQ(state_of(shard, id), State::retrying);
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::expired);
    EXPECT_EQ(shard.last().state.attempts, 1u);
}

TEST(Expiry, at_or_before_the_due_time_is_refused) {
    TrialEngine shard;
    Error error = shard.ask<Error>(expiring(1000, 1000));
    EXPECT_EQ(error.code, "expires_too_soon"_code);
    EXPECT_EQ(error.field, "expires_in");
    PutCommand past = expiring(0, 0);
    past.expires = When{kStart - 1, 0};
    past.when.at_ms = kStart - 100;
    error = shard.ask<Error>(past);
    EXPECT_EQ(error.code, "expires_too_soon"_code) << "it would have expired before it came";
    EXPECT_EQ(error.field, "expires");
    EXPECT_NE(shard.ask<PutAnswer>(expiring(1000, 1001)).id, 0u);
    const MessageId id = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    // A move by a delay was once told that its `due`, which it had not given, was wrong.
    error = shard.ask<Error>(RescheduleCommand{"default", id, When{std::nullopt, 1000}});
    EXPECT_EQ(error.code, "expires_too_soon"_code);
    EXPECT_EQ(error.field, "delay");
    EXPECT_EQ(shard.ask<Error>(RescheduleCommand{"default", id, When{shard.engine().now() + 1000, 0}}).field, "due");
    EXPECT_EQ(shard.ask<ChangeAnswer>(RescheduleCommand{"default", id, When{std::nullopt, 999}}).outcome,
              ChangeOutcome::rescheduled);
    EXPECT_EQ(shard.ask<Error>(expiring(0, shard.engine().now() + (INT64_MAX / 2))).code, "delay_too_long"_code);
}

TEST(Expiry, a_late_command_is_refused) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    // The command is there before the turn that would have found the expiry.
    const ReplyToken cancel = shard.submit(CancelCommand{"default", id});
    shard.turn(1000);
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::expired);
    EXPECT_EQ(shard.ask<ChangeAnswer>(FireCommand{"default", id}).outcome, ChangeOutcome::expired);
}

TEST(Expiry, waits_for_a_command_that_is_in_flight) {
    TrialEngine shard;
    const MessageId cancelled = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    const MessageId moved = shard.ask<PutAnswer>(expiring(0, 1000)).id;
    shard.turn(900);
    shard.hold_commits = true;
    const ReplyToken cancel = shard.submit(CancelCommand{"default", cancelled});
    const ReplyToken move = shard.submit(RescheduleCommand{"default", moved, When{std::nullopt, 50}});
    shard.turn();
    shard.turn(200);
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.take<ChangeAnswer>(move).outcome, ChangeOutcome::rescheduled);
    EXPECT_EQ(state_of(shard, cancelled), State::cancelled);
    EXPECT_EQ(state_of(shard, moved), State::expired);
    EXPECT_EQ(shard.engine().counters().expired, 1u);
}

TEST(Expiry, many_at_one_instant_leave_capacity_for_commands) {
    EngineOptions options;
    options.batch_operations_max = 10;
    TrialEngine shard(options);
    for (int i = 0; i < 50; ++i) shard.ask<PutAnswer>(expiring(0, 1000));
    const MessageId other = shard.put(60'000);
    shard.hold_commits = true;
    shard.turn(1000);
    const ReplyToken cancel = shard.submit(CancelCommand{"default", other});
    shard.hold_commits = false;
    const std::uint64_t commits = shard.engine().counters().commits;
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.engine().counters().expired, 50u);
    EXPECT_GE(shard.engine().counters().commits, commits + 10) << "five of ten";
}

}  // namespace
}  // namespace duewheel::engine_expiry_test
