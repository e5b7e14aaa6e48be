// Transactions: prepared messages are not delivered, their commit and rollback, and the default outcome.
#include "engine/trial/trial_prepared.h"

namespace duewheel::engine_transactions_test {
namespace {

TEST(Transactions, a_prepared_message_is_durable_and_not_delivered_until_it_is_committed) {
    TrialEngine shard;
    const PutAnswer answer = shard.ask<PutAnswer>(half());
    EXPECT_EQ(answer.state, State::prepared);
    EXPECT_EQ(answer.due_ms, kStart);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(500);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().pending, 1u);
    EXPECT_EQ(shard.engine().queue_sums().prepared, 1u);
    EXPECT_TRUE(committed(shard, answer.id));
    EXPECT_EQ(shard.engine().queue_sums().prepared, 0u);
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, answer.id);
    EXPECT_EQ(taken[0].body, "order 7");
    EXPECT_EQ(taken[0].headers, R"({"a":"b"})");
    EXPECT_EQ(taken[0].due_ms, kStart) << "what was asked for";
    EXPECT_EQ(taken[0].attempt, 1u);
    EXPECT_FALSE(taken[0].check.has_value());
    EXPECT_FALSE(taken[0].maybe_delivered);
}

TEST(Transactions, a_delayed_one_is_delivered_when_due_and_not_with_its_commit) {
    TrialEngine shard;
    const MessageId id = put(shard, half(700));
    shard.turn(300);
    EXPECT_TRUE(committed(shard, id));
    EXPECT_EQ(state_of(shard, id), State::scheduled);
    EXPECT_EQ(shard.lease_after(400).size(), 1u);
}

TEST(Transactions, a_prepared_message_that_is_due_is_not_delivered) {
    TrialEngine shard;
    const MessageId id = put(shard, half(100));
    shard.turn(500);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(state_of(shard, id), State::prepared);
    EXPECT_EQ(look(shard, id).row.state.nominal_due_ms, kStart + 100);
}

TEST(Transactions, a_message_that_is_rolled_back_is_never_delivered) {
    TrialEngine shard;
    const MessageId id = put(shard, half());
    EXPECT_TRUE(rolled_back(shard, id));
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    shard.turn(100'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.last().cause, Cause::rolled_back);
    EXPECT_EQ(shard.engine().counters().rolled_back, 1u);
    EXPECT_EQ(shard.engine().counters().cancelled, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
}

TEST(Transactions, a_repeated_commit_or_rollback_has_the_same_result_and_the_opposite_is_refused) {
    TrialEngine shard;
    const MessageId yes = put(shard, half());
    const MessageId no = put(shard, half());
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(committed(shard, yes));
        EXPECT_TRUE(rolled_back(shard, no));
        EXPECT_EQ(refusal(shard, SettleCommand{"default", yes, false}), "already_committed");
        EXPECT_EQ(refusal(shard, SettleCommand{"default", no, true}), "already_rolled_back");
    }
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_TRUE(committed(shard, yes)) << "also while it is leased";
    shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease});
    EXPECT_TRUE(committed(shard, yes)) << "and when it is done";
    EXPECT_EQ(refusal(shard, SettleCommand{"default", yes, false}), "already_committed");
    EXPECT_EQ(shard.engine().counters().committed, 1u);
    EXPECT_EQ(shard.engine().counters().rolled_back, 1u);
}

TEST(Transactions, a_message_that_is_not_prepared_is_refused) {
    TrialEngine shard;
    const MessageId plain = shard.put(1'000);
    const MessageId id = put(shard, half());
    EXPECT_EQ(refusal(shard, SettleCommand{"default", plain, true}), "not_transactional");
    EXPECT_EQ(refusal(shard, SettleCommand{"default", plain, false}), "not_transactional");
    EXPECT_EQ(refusal(shard, SettleCommand{"default", 77 * kShardsMax, true}), "unknown_id");
    EXPECT_EQ(refusal(shard, SettleCommand{"other", id, true}), "unknown_id");
    EXPECT_EQ(refusal(shard, RescheduleCommand{"default", id, {std::nullopt, 5}}), "not_waiting");
    EXPECT_EQ(refusal(shard, FireCommand{"default", id}), "not_waiting");
    EXPECT_EQ(refusal(shard, HoldCommand{"default", id}), "not_waiting");
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", id}).outcome, ChangeOutcome::waiting);
    EXPECT_EQ(state_of(shard, id), State::prepared);
    EXPECT_TRUE(committed(shard, id));
    EXPECT_EQ(state_of(shard, plain), State::scheduled);
}

TEST(Transactions, a_cancelled_one_counts_as_rolled_back) {
    TrialEngine shard;
    const MessageId id = put(shard, half());
    const ChangeAnswer cancelled = shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(cancelled.outcome, ChangeOutcome::cancelled);
    EXPECT_FALSE(cancelled.maybe_delivered);
    EXPECT_TRUE(rolled_back(shard, id));
    EXPECT_EQ(refusal(shard, SettleCommand{"default", id, true}), "already_rolled_back");
}

TEST(Transactions, one_that_was_committed_and_then_cancelled_was_committed_all_the_same) {
    TrialEngine shard;
    const MessageId id = put(shard, half(60'000));
    EXPECT_TRUE(committed(shard, id));
    shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_TRUE(committed(shard, id));
    EXPECT_EQ(refusal(shard, SettleCommand{"default", id, false}), "already_committed");
}

TEST(Transactions, the_result_is_repeated_from_the_index_too) {
    EngineOptions options;
    options.segment_bytes = 16 << 10;
    options.window_min_ms = options.window_max_ms = 100;
    TrialEngine shard(options);
    PutCommand command = half(60'000);
    command.transaction->check_after_ms = 90'000;
    const MessageId waits = put(shard, command);
    const MessageId yes = put(shard, command);
    const MessageId no = put(shard, command);
    EXPECT_TRUE(committed(shard, yes));
    EXPECT_TRUE(rolled_back(shard, no));
    shard.move_to_index();
    ASSERT_TRUE(shard.index.contains(waits));
    EXPECT_TRUE(committed(shard, yes));
    EXPECT_TRUE(rolled_back(shard, no));
    EXPECT_EQ(refusal(shard, SettleCommand{"default", yes, false}), "already_committed");
    EXPECT_EQ(refusal(shard, SettleCommand{"default", no, true}), "already_rolled_back");
    EXPECT_TRUE(committed(shard, waits));
    shard.turn(60'000);
    std::vector<MessageId> taken;
    for (const Delivered& message : shard.lease()) taken.push_back(message.id);
    EXPECT_EQ(taken, (std::vector<MessageId>{waits, yes}));
}

TEST(Transactions, after_a_crash_it_is_prepared_or_committed) {
    EngineOptions options;
    TrialEngine first(options);
    const MessageId kept = put(first, half());
    const MessageId lost = put(first, half());
    EXPECT_TRUE(committed(first, kept));
    first.hold_commits = true;  // what comes now is lost with the process
    first.submit(SettleCommand{"default", lost, true});
    first.turn();
    TrialEngine second(options, first);
    EXPECT_EQ(state_of(second, lost), State::prepared);
    EXPECT_FALSE(look(second, lost).row.state.maybe_delivered) << "nobody was ever handed a half";
    const std::vector<Delivered> taken = second.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, kept);
    EXPECT_TRUE(committed(second, kept));
    EXPECT_TRUE(rolled_back(second, lost));
    TrialEngine third(options, second);
    EXPECT_EQ(refusal(third, SettleCommand{"default", lost, true}), "already_rolled_back");
    EXPECT_TRUE(committed(third, kept));
}

TEST(Transactions, a_put_with_a_key_is_repeated_as_it_was_answered) {
    TrialEngine shard;
    PutCommand command = half(5'000);
    command.key = "mine";
    command.request_hash = 7;
    const PutAnswer first = shard.ask<PutAnswer>(command);
    shard.turn(100);
    const PutAnswer again = shard.ask<PutAnswer>(command);
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, first.due_ms);
    EXPECT_EQ(again.state, State::prepared);
    EXPECT_TRUE(committed(shard, first.id));
    const PutAnswer later = shard.ask<PutAnswer>(command);
    EXPECT_EQ(later.due_ms, first.due_ms);
    EXPECT_EQ(later.state, State::scheduled);
}

TEST(Transactions, a_prepared_message_keeps_its_place_among_its_order_key) {
    TrialEngine shard;
    PutCommand command = half();
    command.order_key = "customer";
    const MessageId first = put(shard, command);
    PutCommand plain{.queue = "q"};
    plain.order_key = "customer";
    const MessageId second = put(shard, plain);
    EXPECT_TRUE(shard.lease().empty()) << "the second waits for what comes before it";
    EXPECT_TRUE(committed(shard, first));
    std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, first);
    shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease});
    taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, second);
}

TEST(Transactions, a_rollback_releases_the_next_of_its_order_key) {
    TrialEngine shard;
    PutCommand command = half();
    command.order_key = "customer";
    const MessageId first = put(shard, command);
    PutCommand plain{.queue = "q"};
    plain.order_key = "customer";
    const MessageId second = put(shard, plain);
    EXPECT_TRUE(rolled_back(shard, first));
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, second);
}

TEST(Transactions, a_prepared_message_expires_and_cannot_be_committed_then) {
    TrialEngine shard;
    PutCommand command = half();
    command.expires = When{std::nullopt, 500};
    const MessageId id = put(shard, command);
    shard.turn(500);
    EXPECT_EQ(state_of(shard, id), State::expired);
    EXPECT_EQ(refusal(shard, SettleCommand{"default", id, true}), "already_rolled_back");
    EXPECT_TRUE(rolled_back(shard, id));
}

TEST(Transactions, a_purge_ends_prepared_messages_too) {
    TrialEngine shard;
    const MessageId id = put(shard, half());
    shard.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .what = ConfigureQueueCommand::What::purge});
    shard.turn();
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(refusal(shard, SettleCommand{"default", id, true}), "already_rolled_back");
    EXPECT_EQ(shard.engine().counters().pending, 0u);
}

TEST(Transactions, prepared_messages_are_listed_and_count_as_pending) {
    TrialEngine shard;
    const MessageId id = put(shard, half(10));
    shard.put(0);
    ListCommand command{.queue = "q"};
    command.states = StateSet{State::prepared};
    for (const std::int64_t step : {0, 20}) {  // before it would have been due, and after
        shard.turn(step);
        const ListAnswer page = shard.ask<ListAnswer>(command);
        ASSERT_EQ(page.listed.size(), 1u);
        EXPECT_EQ(page.listed[0].row.id, id);
        EXPECT_EQ(page.listed[0].row.state.state, State::prepared);
    }
    const QueueAnswer queue = shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"});
    EXPECT_EQ(queue.counts.pending, 2u);
    EXPECT_EQ(queue.counts.prepared, 1u);
}

TEST(Transactions, a_batch_may_mix_prepared_and_other_messages) {
    TrialEngine shard;
    PutCommand plain{.queue = "q"};
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(PutBatchCommand{{plain, half(), plain}});
    ASSERT_EQ(answer.results.size(), 3u);
    EXPECT_EQ(std::get<PutAnswer>(answer.results[1]).state, State::prepared);
    EXPECT_EQ(shard.lease().size(), 2u);
}

// ---- what time says

TEST(Transactions, one_without_an_answer_is_rolled_back_after_its_time) {
    TrialEngine shard;
    const MessageId id = put(shard, half());
    shard.turn(kAfter - 1);
    EXPECT_EQ(state_of(shard, id), State::prepared);
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(shard.last().cause, Cause::unanswered);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().unanswered, 1u);
    EXPECT_EQ(shard.engine().counters().rolled_back, 1u);
    EXPECT_EQ(refusal(shard, SettleCommand{"default", id, true}), "already_rolled_back");
}

TEST(Transactions, one_without_an_answer_is_committed_if_its_put_chose_that) {
    TrialEngine shard;
    const MessageId soon = put(shard, half(0, 0, true));
    const MessageId later = put(shard, half(kAfter + 500, 0, true));
    shard.turn(kAfter);
    std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].id, soon);
    EXPECT_EQ(state_of(shard, later), State::scheduled);
    shard.turn(500);
    EXPECT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(shard.engine().counters().committed, 2u);
    EXPECT_EQ(shard.engine().counters().unanswered, 2u);
    EXPECT_EQ(refusal(shard, SettleCommand{"default", soon, false}), "already_committed");
}

TEST(Transactions, a_check_is_sent_after_each_interval_up_to_the_limit) {
    TrialEngine shard;
    const MessageId id = put(shard, half(0, 2));
    shard.turn(kAfter - 1);
    EXPECT_TRUE(checks(shard).empty());
    for (std::uint32_t number = 1; number <= 2; ++number) {
        shard.turn(1);
        const std::vector<Delivered> asked = checks(shard);
        ASSERT_EQ(asked.size(), 1u);
        EXPECT_EQ(asked[0].parent, id);
        EXPECT_EQ(asked[0].occurrence, number);
        ASSERT_TRUE(asked[0].check.has_value());
        EXPECT_EQ(asked[0].check->check_times, 2u);
        EXPECT_EQ(asked[0].body, "order 7");
        EXPECT_EQ(asked[0].headers, R"({"a":"b"})");
        EXPECT_EQ(look(shard, id).row.state.checks(), number);
        shard.ask<LeaseEndAnswer>(AckCommand{asked[0].lease});
        shard.turn(kAfter - 1);
        EXPECT_EQ(state_of(shard, id), State::prepared);
    }
    shard.turn(1);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_TRUE(checks(shard).empty());
    EXPECT_EQ(shard.engine().counters().checks, 2u);
    EXPECT_EQ(shard.engine().counters().spawned, 0u);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
}

TEST(Transactions, a_commit_after_a_check_ends_the_checks) {
    TrialEngine shard;
    const MessageId id = put(shard, half(0, 5));
    shard.turn(kAfter);
    EXPECT_EQ(checks(shard).size(), 1u);
    EXPECT_TRUE(committed(shard, id));
    EXPECT_EQ(shard.lease().size(), 1u);
    shard.turn(100 * kAfter);
    EXPECT_EQ(shard.engine().counters().checks, 1u);
    EXPECT_EQ(shard.engine().counters().unanswered, 0u);
}

TEST(Transactions, an_unread_check_is_replaced_by_the_next) {
    TrialEngine shard;
    const MessageId id = put(shard, half(0, 3));
    shard.turn(kAfter);
    shard.turn(kAfter);
    shard.turn(0);
    const std::vector<Delivered> asked = checks(shard);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].occurrence, 2u);
    EXPECT_EQ(asked[0].parent, id);
    EXPECT_EQ(shard.engine().counters().expired, 1u);
}

TEST(Transactions, a_check_and_the_next_time_are_durable_together) {
    EngineOptions options;
    TrialEngine first(options);
    const MessageId id = put(first, half(0, 2));
    first.hold_commits = true;  // what comes now is lost with the process
    first.turn(kAfter);
    TrialEngine second(options, first);
    second.turn();
    const std::vector<Delivered> asked = checks(second);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].occurrence, 1u) << "the first one, and no second beside it";
    EXPECT_EQ(look(second, id).row.state.checks(), 1u);
}

TEST(Transactions, a_prepared_message_of_the_index_is_found_when_its_answer_is_due) {
    EngineOptions options;
    options.segment_bytes = 16 << 10;
    options.window_min_ms = options.window_max_ms = 1'000;
    TrialEngine shard(options);
    PutCommand command = half(0, 1);
    command.transaction->check_after_ms = 60'000;
    const MessageId id = put(shard, command);
    shard.move_to_index();
    ASSERT_TRUE(shard.index.contains(id));
    shard.turn(60'000);
    EXPECT_EQ(checks(shard).size(), 1u);
    EXPECT_TRUE(committed(shard, id));
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Transactions, contents_that_are_not_in_memory_are_read_first) {
    EngineOptions options;
    options.record_cache_bytes = 0;
    TrialEngine shard(options);
    std::vector<MessageId> ids;
    for (int i = 0; i < 700; ++i) ids.push_back(put(shard, half(0, 1)));
    shard.turn(kAfter);
    for (int i = 0; i < 20; ++i) shard.turn();
    EXPECT_EQ(shard.engine().counters().checks, 700u);
    EXPECT_TRUE(committed(shard, ids.front()));
    shard.turn(kAfter);
    for (int i = 0; i < 20; ++i) shard.turn();
    EXPECT_EQ(shard.engine().counters().rolled_back, 699u);
}

}  // namespace
}  // namespace duewheel::engine_transactions_test
