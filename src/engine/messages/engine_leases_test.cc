// Consumers and their leases: which consumer receives a message, which waits, and what a lease token can do after its
// lease has ended or the server has crashed.
#include <gtest/gtest.h>

#include "engine/core/engine.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_leases_test {
namespace {

using Shard = TrialEngine;

TEST(EngineLeases, a_waiting_consumer_gets_the_message_the_moment_it_is_due) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.put(500);
    shard.turn(499);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.turn(1);
    EXPECT_EQ(shard.take<LeaseAnswer>(token).messages.size(), 1u);
}

TEST(EngineLeases, a_consumer_gets_an_empty_reply_after_its_wait) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 2'000});
    shard.turn(1999);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.turn(1);
    EXPECT_TRUE(shard.take<LeaseAnswer>(token).messages.empty());
}

// Time that leaps, as where a test's clock is moved on, ended its wait before what had fallen due in the wait was
// delivered.
TEST(EngineLeases, a_consumer_gets_messages_that_become_due_as_its_wait_ends) {
    Shard shard;
    const MessageId id = shard.put(500);
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 2'000});
    const ReplyToken other = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 2'000});
    shard.turn();
    shard.turn(60'000);
    const auto taken = shard.take<LeaseAnswer>(token).messages;
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, id);
    shard.turn();  // what may be due behind it has been looked for
    EXPECT_TRUE(shard.take<LeaseAnswer>(other).messages.empty());
    EXPECT_EQ(shard.engine().counters().waiters, 0u);
}

TEST(EngineLeases, a_consumer_that_left_leases_nothing) {
    Shard shard;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.engine().forget(token);
    shard.put(0);
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_FALSE(shard.replies.contains(token));
}

TEST(EngineLeases, a_waiting_consumer_gets_an_empty_reply_when_the_server_stops) {
    Shard shard;
    const ReplyToken waiting = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    shard.engine().stop_waiting();
    const ReplyToken later = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    EXPECT_TRUE(shard.take<LeaseAnswer>(waiting).messages.empty());
    EXPECT_TRUE(shard.take<LeaseAnswer>(later).messages.empty());
}

TEST(EngineLeases, messages_are_delivered_by_priority_then_due_then_sequence) {
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

TEST(EngineLeases, a_leased_message_goes_to_the_next_consumer_only_after_its_lease) {
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

TEST(EngineLeases, a_lease_can_be_extended_and_released) {
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

int attempts_written(const Shard& shard) {
    int count = 0;
    for (const MessageRecord& record : shard.records<MessageRecord>())
        count += record.kind == RecordKind::attempt ? 1 : 0;
    return count;
}

TEST(EngineLeases, a_quick_acknowledgement_contains_its_attempt) {
    Shard shard;
    shard.put(0);
    const auto messages = shard.lease();
    shard.turn(StartedAttempts::kWaitMs - 1);
    shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease});
    EXPECT_EQ(shard.last().kind, RecordKind::end);
    EXPECT_EQ(shard.last().state.attempts, 1u);
    shard.turn(StartedAttempts::kWaitMs);
    EXPECT_EQ(attempts_written(shard), 0);
}

TEST(EngineLeases, an_attempt_that_lasts_is_written_once_and_in_time) {
    Shard shard;
    shard.put(0);
    shard.put(0);
    const auto first = shard.lease(1);
    shard.turn(StartedAttempts::kWaitMs / 2);
    shard.lease(1);
    shard.turn(StartedAttempts::kWaitMs / 2 - 1);
    EXPECT_EQ(attempts_written(shard), 0);
    EXPECT_EQ(shard.engine().next_wakeup(), shard.engine().now() + 1);
    shard.turn(1);
    EXPECT_EQ(attempts_written(shard), 2) << "one batch has both";
    shard.ask<LeaseEndAnswer>(AckCommand{first.at(0).lease});
    shard.turn(StartedAttempts::kWaitMs);
    EXPECT_EQ(attempts_written(shard), 2);
}

TEST(EngineLeases, an_engine_that_stops_writes_the_attempts_at_once) {
    Shard shard;
    shard.put(0);
    shard.lease();
    EXPECT_EQ(attempts_written(shard), 0);
    shard.engine().stop_waiting();
    EXPECT_FALSE(shard.engine().is_idle());
    shard.turn();
    EXPECT_EQ(attempts_written(shard), 1);
    EXPECT_TRUE(shard.engine().is_idle());
}

// The replay left the count of begun attempts at zero, so that the next delivery was the first once more.
TEST(EngineLeases, a_replay_counts_the_attempts_of_earlier_runs) {
    RecentTier recent;
    MessageRecord record;
    record.kind = RecordKind::put;
    record.id = kShardsMax;
    record.state.queue = "q";
    record.state.due_ms = record.state.nominal_due_ms = kStart;
    recent.apply(record, 1, 1, 100);
    record.kind = RecordKind::attempt;
    record.log_position = 1;
    record.state.attempts = 1;
    record.state.version = 2;
    const EntryNumber number = recent.apply(record, 2, 1, 100);
    EXPECT_EQ(recent.entry(number).begun, 1u);
    recent.check();
}

// A run whose clock was set back before it began took for never delivered what an earlier run may have delivered after
// its last commit. Now the earlier one hands nothing out that fell due later than the next one takes for the past.
TEST(EngineLeases, a_message_due_long_after_the_last_commit_is_delivered_with_the_next) {
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

TEST(EngineLeases, a_consumer_that_leaves_while_its_message_waits_for_a_commit_releases_it) {
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

TEST(EngineLeases, after_a_start_with_its_clock_set_back_possible_deliveries_are_marked) {
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
        row.log_position = shard.engine().totals().sequence;
        row.state.queue = "q";
        row.state.due_ms = row.state.nominal_due_ms = due_ms;
        shard.index[row.id] = row;
        const auto answer = shard.ask<MessageAnswer>(GetCommand{"default", row.id});
        EXPECT_EQ(answer.row.state.maybe_delivered, maybe_delivered);
    }
}

// A node that was paused while another one took the log over delivered what was ready when it woke.
TEST(EngineLeases, a_node_that_has_long_committed_nothing_delivers_after_its_next_commit) {
    EngineOptions options;
    options.unconfirmed_max_ms = 1'000;
    Shard shard(options);
    shard.put(0);
    shard.turn(1'000);
    const Sequence before = shard.engine().totals().sequence;
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(shard.engine().totals().sequence, before);
    shard.put(0);
    for (int i = 0; i < 3; ++i) shard.turn(5'000);  // commits of the first attempt, and those that confirm others
    const std::int64_t saved_ms = shard.engine().totals().server_time_ms;
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_GT(shard.engine().totals().server_time_ms, saved_ms);
}

// The record of its attempt was in a batch, so a message whose consumer had left kept its lease to the end.
TEST(EngineLeases, a_consumer_that_leaves_while_its_message_is_read_releases_it) {
    EngineOptions options;
    options.record_cache_bytes = 0;
    Shard shard(options);
    shard.put(0);
    shard.hold_lookups = true;
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 0});
    shard.turn();
    shard.engine().forget(token);
    shard.hold_commits = false;
    shard.settle();
    shard.answer_lookups();
    shard.hold_lookups = false;
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].attempt, 2u);
    EXPECT_FALSE(shard.replies.contains(token));
}

// An extension that named no time set the end to 30 s from now, and so cut a longer lease short; later, one that named
// a time still did.
TEST(EngineLeases, an_extension_never_shortens_a_lease) {
    TrialEngine shard;
    shard.put(0);
    shard.put(0);
    const auto leased = shard.lease(1, 600'000);
    const auto shorter = shard.lease(1, 30'000);
    ASSERT_EQ(leased.size() + shorter.size(), 2u);
    const auto extend = [&](const Delivered& each, std::optional<std::int64_t> lease_ms) {
        return shard.ask<LeaseEndAnswer>(ExtendCommand{each.lease, lease_ms}).lease_until_ms - kStart;
    };
    EXPECT_EQ(extend(leased[0], {}), 600'000);
    EXPECT_EQ(extend(shorter[0], 40'000), 40'000);
    EXPECT_EQ(extend(shorter[0], 5'000), 40'000);
    EXPECT_EQ(extend(shorter[0], {}), 40'000) << "the default is less";
    shard.turn(39'999);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(extend(shorter[0], 5'000), 44'999);
    shard.turn(5'000);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(EngineLeases, a_reply_is_filled_up_to_its_limit_of_bytes) {
    TrialEngine probe;
    probe.put(0);
    const std::uint64_t one = probe.engine().totals().needed_bytes;
    for (const bool fits : {true, false}) {
        EngineOptions options;
        options.lease_bytes_max = 2 * one - (fits ? 0 : 1);
        TrialEngine shard(options);
        for (int i = 0; i < 3; ++i) shard.put(0);
        EXPECT_EQ(shard.lease().size(), fits ? 2u : 1u);
    }
}

// After a start, what had fallen due since the load cursor was not loaded yet, and a lease that did not wait was told
// that there was nothing. It is the same where time has leapt.
TEST(EngineLeases, one_that_does_not_wait_gets_what_is_being_loaded) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    Shard shard(options);
    const MessageId id = shard.put(5'000'000);
    shard.move_to_index();
    shard.hold_lookups = true;
    shard.turn(5'000'000);
    const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 0});
    const ReplyToken other = shard.submit(LeaseCommand{"default", "other", 10, 30'000, 0});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(lease));
    EXPECT_TRUE(shard.take<LeaseAnswer>(other).messages.empty()) << "nothing is there to be loaded";
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    const auto taken = shard.take<LeaseAnswer>(lease).messages;
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, id);
    shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease});
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().waiters, 0u);
}

// Nor is it kept from one whose wait ends while it is being loaded; but it is not waited for without end.
TEST(EngineLeases, one_whose_wait_ends_gets_what_is_being_loaded) {
    for (const bool comes_in_time : {true, false}) {
        EngineOptions options;
        options.segment_bytes = 16 * 1024;
        Shard shard(options);
        shard.put(5'000'000);
        shard.move_to_index();
        const ReplyToken lease = shard.submit(LeaseCommand{"default", "q", 10, 30'000, 20'000});
        shard.turn();
        shard.hold_lookups = true;
        shard.turn(5'000'000);
        EXPECT_FALSE(shard.replies.contains(lease));
        if (!comes_in_time) shard.turn(options.brief_wait_ms);
        EXPECT_EQ(shard.replies.contains(lease), !comes_in_time);
        shard.hold_lookups = false;
        shard.answer_lookups();
        shard.turn();
        EXPECT_EQ(shard.take<LeaseAnswer>(lease).messages.size(), comes_in_time ? 1u : 0u);
        EXPECT_EQ(shard.engine().counters().waiters, 0u);
    }
}

}  // namespace
}  // namespace duewheel::engine_leases_test
