// Order keys: messages are delivered one at a time, whatever happens to the first; and the order of messages without a
// key.
#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"

namespace duewheel::engine_order_test {
namespace {

PutCommand keyed(std::string order_key, std::int64_t delay_ms, std::string body = "body") {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = delay_ms;
    command.order_key = std::move(order_key);
    command.body = std::move(body);
    return command;
}

MessageId put(TrialEngine& shard, std::string order_key, std::int64_t delay_ms) {
    return shard.ask<PutAnswer>(keyed(std::move(order_key), delay_ms)).id;
}

std::vector<MessageId> ids(const std::vector<Delivered>& messages) {
    std::vector<MessageId> all;
    for (const Delivered& message : messages) all.push_back(message.id);
    return all;
}

using Ids = std::vector<MessageId>;

void ack(TrialEngine& shard, const Delivered& message) {
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{message.lease}).outcome, LeaseOutcome::done);
}

TEST(OrderKey, the_next_is_delivered_after_the_previous_one_has_ended) {
    TrialEngine shard;
    const MessageId second = put(shard, "k", 20);
    const MessageId first = put(shard, "k", 10);
    const MessageId third = put(shard, "k", 20);
    shard.turn(100);
    for (const MessageId id : {first, second, third}) {
        const auto messages = shard.lease();
        ASSERT_EQ(ids(messages), Ids{id});
        EXPECT_TRUE(shard.lease().empty());
        ack(shard, messages[0]);
    }
    EXPECT_EQ(shard.engine().counters().order_lines, 0u);
}

TEST(OrderKey, delays_no_other_messages) {
    TrialEngine shard;
    const MessageId blocking = put(shard, "k", 0);
    put(shard, "k", 0);
    const MessageId other = put(shard, "l", 0);
    const MessageId plain = shard.put(0);
    PutCommand elsewhere = keyed("k", 0);
    elsewhere.queue = "another";
    shard.ask<PutAnswer>(elsewhere);
    EXPECT_EQ(ids(shard.lease()), (Ids{blocking, other, plain}));
    EXPECT_EQ(shard.ask<LeaseAnswer>(LeaseCommand{"default", "another", 10, 30'000, 0}).messages.size(), 1u);
}

TEST(OrderKey, a_retry_keeps_its_position) {
    TrialEngine shard;
    const MessageId first = put(shard, "k", 0);
    const MessageId second = put(shard, "k", 1);
    shard.turn(1);
    auto messages = shard.lease();
    shard.ask<LeaseEndAnswer>(FailCommand{messages[0].lease, "", 5000});
    messages = shard.lease_after(5'000);
    ASSERT_EQ(ids(messages), Ids{first});
    ack(shard, messages[0]);
    EXPECT_EQ(ids(shard.lease()), Ids{second});
}

TEST(OrderKey, a_lost_lease_keeps_its_position) {
    TrialEngine shard;
    const MessageId first = put(shard, "k", 0);
    put(shard, "k", 0);
    ASSERT_EQ(ids(shard.lease(1, 1000)), Ids{first});
    shard.turn(1000);
    EXPECT_EQ(ids(shard.lease()), Ids{first});
}

TEST(OrderKey, an_earlier_one_waits_for_the_one_in_flight) {
    TrialEngine shard;
    shard.turn(1000);
    const MessageId late = put(shard, "k", 0);
    const auto messages = shard.lease();
    ASSERT_EQ(ids(messages), Ids{late});
    PutCommand earlier = keyed("k", 0);
    earlier.when.at_ms = kStart + 500;
    const MessageId early = shard.ask<PutAnswer>(earlier).id;
    EXPECT_TRUE(shard.lease().empty());
    shard.ask<LeaseEndAnswer>(ReleaseCommand{messages[0].lease});
    const auto next = shard.lease();
    ASSERT_EQ(ids(next), Ids{early});
    ack(shard, next[0]);
    EXPECT_EQ(ids(shard.lease()), Ids{late});
}

TEST(OrderKey, an_earlier_one_replaces_the_one_that_is_ready) {
    TrialEngine shard;
    shard.turn(1000);
    const MessageId late = put(shard, "k", 0);
    const MessageId moved = put(shard, "k", 60'000);
    EXPECT_EQ(shard.engine().counters().ready, 1u);
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", moved, When{kStart + 500, 0}});
    EXPECT_EQ(shard.engine().counters().ready, 1u);
    const auto messages = shard.lease();
    ASSERT_EQ(ids(messages), Ids{moved});
    ack(shard, messages[0]);
    EXPECT_EQ(ids(shard.lease()), Ids{late});
}

TEST(OrderKey, a_cancel_or_expiry_of_the_first_releases_the_next) {
    TrialEngine shard;
    PutCommand expiring = keyed("k", 0);
    expiring.expires = When{std::nullopt, 1000};
    shard.ask<PutAnswer>(expiring);
    const MessageId second = put(shard, "k", 0);
    const MessageId third = put(shard, "k", 0);
    shard.turn(1000);
    EXPECT_EQ(shard.engine().counters().expired, 1u);
    EXPECT_EQ(shard.engine().counters().ready, 1u);
    shard.ask<ChangeAnswer>(CancelCommand{"default", second});
    EXPECT_EQ(ids(shard.lease()), Ids{third});
}

TEST(OrderKey, a_blocked_message_expires_while_it_waits) {
    TrialEngine shard;
    put(shard, "k", 0);
    PutCommand expiring = keyed("k", 0);
    expiring.expires = When{std::nullopt, 1000};
    const MessageId id = shard.ask<PutAnswer>(expiring).id;
    const MessageId third = put(shard, "k", 0);
    const auto messages = shard.lease();
    shard.turn(1000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).row.state.state, State::expired);
    ack(shard, messages[0]);
    EXPECT_EQ(ids(shard.lease()), Ids{third});
}

TEST(OrderKey, messages_on_disk_are_delivered_in_order_and_use_no_memory_before) {
    EngineOptions options;
    options.segment_bytes = 32 << 10;
    TrialEngine shard(options);
    const MessageId first = put(shard, "k", 0);
    Ids waiting;
    for (int i = 0; i < 30; ++i) waiting.push_back(put(shard, "k", 0));
    const auto messages = shard.lease();
    ASSERT_EQ(ids(messages), Ids{first});
    shard.move_to_index();
    EXPECT_LT(shard.engine().counters().in_memory, 10u) << "of the key only the one in flight";
    // Behind those on disk there is one in memory again.
    waiting.push_back(put(shard, "k", 0));
    ack(shard, messages[0]);
    shard.index.erase(first);
    for (const MessageId id : waiting) {
        const auto next = shard.lease();
        ASSERT_EQ(ids(next), Ids{id});
        ack(shard, next[0]);
    }
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().order_lines, 0u);
}

TEST(OrderKey, twenty_thousand_behind_one_key_delay_no_others) {
    EngineOptions options;
    options.ready_max = 2000;
    options.apply_chunk = 30'000;
    options.batch_operations_max = 30'000;
    TrialEngine shard(options);
    for (int i = 0; i < 20'000; ++i) shard.submit(keyed("k", 0));
    for (int i = 0; i < 1000; ++i) shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    EXPECT_EQ(shard.engine().counters().ready, 1001u) << "those without a key, and the first of the key";
    const std::uint64_t lookups = shard.engine().counters().lookups;
    EXPECT_EQ(shard.lease(1000).size(), 1000u);
    const auto last = shard.lease(1000);
    EXPECT_EQ(last.size(), 1u);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(shard.lease(1000).empty());
    EXPECT_LE(shard.engine().counters().lookups, lookups + 2) << "waiting messages are not looked up repeatedly";
}

TEST(OrderKey, a_lookup_result_older_than_a_new_table_is_repeated) {
    TrialEngine shard;
    shard.hold_lookups = true;
    const MessageId id = put(shard, "k", 0);
    EXPECT_EQ(shard.engine().counters().ready, 0u) << "the index may hold an earlier one";
    shard.answer_lookups(1);
    shard.settle();
    EXPECT_EQ(shard.engine().counters().ready, 0u);
    shard.answer_lookups();
    EXPECT_EQ(shard.engine().counters().ready, 1u);
    shard.hold_lookups = false;
    shard.settle();
    EXPECT_EQ(ids(shard.lease()), Ids{id});
}

TEST(OrderKey, the_number_of_concurrent_line_lookups_is_limited) {
    EngineOptions options;
    options.order_lookups_max = 2;
    TrialEngine shard(options);
    shard.hold_lookups = true;
    const std::uint64_t before = shard.engine().counters().lookups;
    for (int i = 0; i < 5; ++i) put(shard, "k" + std::to_string(i), 0);
    EXPECT_EQ(shard.engine().counters().lookups, before + 2);
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.settle();
    EXPECT_EQ(shard.lease().size(), 5u);
}

// The order of those ready in memory: priority, then due, then the sequence of their puts.
TEST(HandOutOrder, is_by_priority_then_due_then_sequence) {
    TrialEngine shard;
    const MessageId late = shard.put(20, "late");
    const MessageId early = shard.put(10, "early");
    const MessageId early_too = shard.put(10, "early too");
    const MessageId last = shard.put(5, "last", "q", 7);
    const MessageId urgent = shard.put(30, "urgent", "q", -1);
    const MessageId urgent_early = shard.put(25, "urgent", "q", -1);
    shard.turn(30);
    EXPECT_EQ(ids(shard.lease()), (Ids{urgent_early, urgent, early, early_too, late, last}));
}

// It went to the end of its line, and the message behind it was delivered first.
TEST(OrderKey, a_message_fired_during_its_backoff_keeps_its_position) {
    for (const bool released : {false, true}) {
        TrialEngine shard;
        PutCommand put{.queue = "q", .order_key = "k"};
        const MessageId first = shard.ask<PutAnswer>(put).id;
        shard.turn(10);
        const MessageId second = shard.ask<PutAnswer>(put).id;
        const LeaseToken lease = shard.lease().at(0).lease;
        released ? shard.ask<LeaseEndAnswer>(ReleaseCommand{lease, 60'000})
                 : shard.ask<LeaseEndAnswer>(FailCommand{lease, "", 60'000});
        EXPECT_TRUE(shard.lease().empty());
        shard.turn(10);
        const auto fired = shard.ask<ChangeAnswer>(FireCommand{"default", first});
        EXPECT_EQ(fired.due_ms, kStart + 20);
        const auto taken = shard.lease();
        ASSERT_EQ(taken.size(), 1u);
        EXPECT_EQ(taken[0].id, first);
        EXPECT_EQ(taken[0].due_ms, kStart) << "what was asked for";
        shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease});
        EXPECT_EQ(shard.lease().at(0).id, second);
    }
}

TEST(OrderKey, a_message_fired_before_its_time_is_ordered_by_that_instant) {
    TrialEngine shard;
    PutCommand put{.queue = "q", .order_key = "k"};
    put.when.delay_ms = 60'000;
    const MessageId id = shard.ask<PutAnswer>(put).id;
    shard.turn(10);
    shard.ask<ChangeAnswer>(FireCommand{"default", id});
    EXPECT_EQ(shard.lease().at(0).due_ms, kStart + 10);
}

// A message with an order key that was moved to now was missed by every lease that did not wait and came before the
// index had said that none of its key stands there: the answer was empty although the message was due.
TEST(OrderKey, a_lease_that_does_not_wait_gets_messages_of_a_pending_lookup) {
    TrialEngine shard;
    const MessageId moved = put(shard, "k", 3'600'000);
    shard.hold_lookups = true;
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", moved, When{std::nullopt, 0}});
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    const ReplyToken next = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(lease));
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(ids(shard.take<LeaseAnswer>(lease).messages), Ids{moved});
    EXPECT_TRUE(shard.take<LeaseAnswer>(next).messages.empty()) << "there is nothing else on its way";
    EXPECT_EQ(shard.engine().counters().waiters, 0u);
}

TEST(OrderKey, a_lease_that_does_not_wait_is_answered_however_slow_the_index_is) {
    TrialEngine shard;
    shard.hold_lookups = true;
    const MessageId first = put(shard, "k", 0);
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    shard.turn(EngineOptions{}.brief_wait_ms - 1);
    EXPECT_FALSE(shard.replies.contains(lease));
    shard.turn(1);
    EXPECT_TRUE(shard.take<LeaseAnswer>(lease).messages.empty());
    const ReplyToken other = shard.submit(LeaseCommand{"default", "another", 10, 30'000, 0});
    EXPECT_FALSE(shard.replies.contains(other));
    shard.turn();
    EXPECT_TRUE(shard.take<LeaseAnswer>(other).messages.empty()) << "nothing is read for that queue";
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(ids(shard.lease()), Ids{first});
}

TEST(OrderKey, a_lease_that_does_not_wait_ends_despite_a_pause) {
    TrialEngine shard;
    shard.hold_lookups = true;
    put(shard, "k", 0);
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(lease));
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::pause, {}});
    shard.turn();
    EXPECT_TRUE(shard.take<LeaseAnswer>(lease).messages.empty());
}

}  // namespace
}  // namespace duewheel::engine_order_test
