// Leases of one message by its id, whatever it waits for; and priorities that the end of a lease changes.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/core/engine.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_message_leases_test {
namespace {

LeaseMessageCommand lease_of(MessageId id, std::int64_t lease_ms = 30'000) {
    return {.name_space = "default", .id = id, .lease_ms = lease_ms};
}

std::vector<MessageId> ids_of(const std::vector<Delivered>& messages) {
    std::vector<MessageId> ids;
    for (const Delivered& message : messages) ids.push_back(message.id);
    return ids;
}

class MessageLeases : public ::testing::Test {
  protected:
    // The message that this lease got; it must have got one.
    Delivered lease(TrialEngine& shard, MessageId id, std::int64_t lease_ms = 30'000) {
        auto answer = shard.ask<LeaseAnswer>(lease_of(id, lease_ms));
        EXPECT_EQ(ids_of(answer.messages), std::vector<MessageId>{id});
        EXPECT_EQ(answer.queue, "q");
        return answer.messages.empty() ? Delivered() : answer.messages.front();
    }
    State state(TrialEngine& shard, MessageId id) {
        return shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state;
    }

    TrialEngine shard_;
};

TEST_F(MessageLeases, a_ready_message_is_leased_without_a_change_and_others_stay_ready) {
    const MessageId first = shard_.put(0);
    const MessageId second = shard_.put(0);
    const Delivered leased = lease(shard_, second, 1'000);
    EXPECT_EQ(leased.body, "body");
    EXPECT_EQ(leased.attempt, 1U);
    EXPECT_EQ(leased.lease_until_ms, kStart + 1'000);
    for (const MessageRecord& record : shard_.records<MessageRecord>()) EXPECT_NE(record.kind, RecordKind::change);
    EXPECT_EQ(ids_of(shard_.lease()), std::vector<MessageId>{first});
    shard_.turn(1'000);
    EXPECT_EQ(ids_of(shard_.lease()), std::vector<MessageId>{second}) << "the lease was lost";
    shard_.engine().check();
}

TEST_F(MessageLeases, a_message_that_is_due_later_is_made_due_also_if_it_is_on_disk) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    TrialEngine shard(options);
    const MessageId soon = shard.put(5'000);
    const MessageId on_disk = shard.put(500'000'000);
    shard.move_to_index();
    for (const MessageId id : {soon, on_disk}) {
        const Delivered leased = lease(shard, id);
        EXPECT_EQ(leased.due_ms, shard.engine().now());
        EXPECT_EQ(leased.body, "body");
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{leased.lease}).outcome, LeaseOutcome::released);
    }
    EXPECT_EQ(ids_of(shard.lease()), (std::vector<MessageId>{soon, on_disk}));
    shard.engine().check();
}

TEST_F(MessageLeases, a_held_message_goes_to_the_consumer_that_chose_it_and_is_ready_after_a_lost_lease) {
    const MessageId id = shard_.put(0);
    shard_.ask<ChangeAnswer>(HoldCommand{"default", id});
    const ReplyToken waiting = shard_.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard_.turn();
    lease(shard_, id, 1'000);
    EXPECT_FALSE(shard_.replies.contains(waiting));
    shard_.turn(1'000);
    EXPECT_EQ(ids_of(shard_.take<LeaseAnswer>(waiting).messages), std::vector<MessageId>{id});
    shard_.engine().check();
}

TEST_F(MessageLeases, a_dead_letter_is_leased_with_all_its_attempts_again) {
    EngineOptions options;
    options.retry.attempts = 2;
    options.retry.first_ms = options.retry.max_ms = 0;
    TrialEngine shard(options);
    const MessageId id = shard.put(0);
    for (int i = 0; i < 2; ++i) shard.ask<LeaseEndAnswer>(FailCommand{shard.lease().at(0).lease, "no", 0});
    ASSERT_EQ(state(shard, id), State::dead);
    const Delivered leased = lease(shard, id);
    EXPECT_EQ(leased.attempt, 3U);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{leased.lease, "no", 0}).outcome, LeaseOutcome::retrying);
    EXPECT_EQ(shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"}).counts.dead, 0U);
    shard.engine().check();
}

TEST_F(MessageLeases, after_a_crash_a_message_that_was_held_is_ready) {
    const MessageId id = shard_.put(100'000'000);
    shard_.ask<ChangeAnswer>(HoldCommand{"default", id});
    lease(shard_, id);
    TrialEngine again({}, shard_);
    again.turn();
    EXPECT_EQ(ids_of(again.lease()), std::vector<MessageId>{id});
}

TEST_F(MessageLeases, of_two_consumers_that_choose_a_message_one_gets_it) {
    const MessageId id = shard_.put(100'000);
    const ReplyToken first = shard_.submit(lease_of(id));
    const ReplyToken second = shard_.submit(lease_of(id));
    shard_.turn();
    EXPECT_EQ(shard_.take<LeaseAnswer>(first).messages.size(), 1U);
    EXPECT_EQ(shard_.take<Error>(second).code, "not_leasable"_code);
}

TEST_F(MessageLeases, leases_that_were_promised_count_against_the_maximum) {
    EngineOptions options;
    options.leased_max = 1;
    TrialEngine shard(options);
    const ReplyToken first = shard.submit(lease_of(shard.put(60'000)));
    const ReplyToken second = shard.submit(lease_of(shard.put(60'000)));
    shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(first).messages.size(), 1U);
    EXPECT_EQ(shard.take<Error>(second).code, "not_leasable"_code);
}

// ---- priorities

TEST_F(MessageLeases, a_released_message_has_its_new_priority_from_then_on) {
    const MessageId first = shard_.put(0, "body", "q", 0);
    const MessageId second = shard_.put(0, "body", "q", 1);
    // The list of ready messages still has its old position.
    const Delivered leased = lease(shard_, first);
    shard_.ask<LeaseEndAnswer>(ReleaseCommand{.lease = leased.lease, .priority = 2});
    EXPECT_EQ(ids_of(shard_.lease(1)), std::vector<MessageId>{second});
    TrialEngine again({}, shard_);
    again.turn();
    EXPECT_EQ(ids_of(again.lease()), (std::vector<MessageId>{second, first}));
    EXPECT_EQ(again.ask<MessageAnswer>(GetCommand{"default", first}).row.state.priority, 2);
}

TEST_F(MessageLeases, a_message_held_by_its_consumer_has_its_new_priority_when_it_is_kicked) {
    const MessageId first = shard_.put(0, "body", "q", 0);
    shard_.ask<LeaseEndAnswer>(HoldLeaseCommand{.lease = shard_.lease().at(0).lease, .priority = -7});
    const MessageId second = shard_.put(0, "body", "q", -6);
    shard_.ask<ChangeAnswer>(KickCommand{"default", first});
    EXPECT_EQ(ids_of(shard_.lease()), (std::vector<MessageId>{first, second}));
}

}  // namespace
}  // namespace duewheel::engine_message_leases_test
