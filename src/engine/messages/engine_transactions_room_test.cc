// Transactions when space is short: on the disk, in a queue or its namespace, and in the limit of queues.
#include "base/error_codes.h"
#include "engine/trial/trial_prepared.h"

namespace duewheel::engine_transactions_room_test {
namespace {

// Two prepared messages in a namespace with a limit of two left no capacity for their checks: no check was sent or
// counted, and the default was never applied. The same for one prepared message in a queue with a limit of one that was
// also its check queue.
TEST(TransactionsRoom, prepared_messages_that_fill_their_limit_are_checked_all_the_same) {
    TrialEngine shard;
    shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"default", false, {.pending_max = 2}});
    QueueSettings full;
    full.pending_max = 1;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{.queue = "q", .settings = full});
    PutCommand of_its_own = half(0, 2);
    of_its_own.transaction->check_queue = "q";
    const MessageId first = put(shard, of_its_own);
    PutCommand elsewhere = half(0, 2);
    elsewhere.queue = "r";
    const MessageId second = put(shard, elsewhere);
    for (std::uint32_t number = 1; number <= 2; ++number) {
        shard.turn(kAfter);
        EXPECT_EQ(look(shard, first).row.state.checks(), number);
        EXPECT_EQ(shard.lease().size(), 1u);
        EXPECT_EQ(checks(shard).size(), 1u);
        EXPECT_EQ(refusal(shard, PutCommand{.queue = "r"}), "namespace_full") << "checks count for those who put";
        EXPECT_EQ(refusal(shard, PutCommand{.queue = "q"}), "queue_full");
    }
    shard.turn(kAfter);
    EXPECT_EQ(state_of(shard, first), State::cancelled);
    EXPECT_EQ(state_of(shard, second), State::cancelled);
}

NamespaceAnswer allow_queues(TrialEngine& shard, std::uint64_t most) {
    return shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"default", false, {.queues_max = most}});
}

// No check could be sent, and the prepared message waited forever.
TEST(TransactionsRoom, a_check_whose_queue_exceeds_the_limit_counts_and_is_not_created) {
    TrialEngine shard;
    const MessageId id = put(shard, half(0, 2));
    const MessageId unasked = put(shard, half());
    EXPECT_EQ(look(shard, id).blocked_by, ErrorCode::none);
    allow_queues(shard, 1);
    EXPECT_EQ(look(shard, id).blocked_by, "queue_limit"_code);
    EXPECT_EQ(look(shard, unasked).blocked_by, ErrorCode::none);
    shard.turn(kAfter);
    EXPECT_EQ(look(shard, id).row.state.checks(), 1u);
    EXPECT_EQ(shard.engine().counters().queues, 1u);
    shard.turn(kAfter);
    EXPECT_EQ(look(shard, id).blocked_by, ErrorCode::none);  // it is asked about no more
    shard.turn(kAfter);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(shard.engine().counters().checks, 0u);
    EXPECT_EQ(shard.engine().counters().quota_refusals, 0u) << "nobody has asked for anything";
}

TEST(TransactionsRoom, a_description_shows_a_check_that_waits_for_space) {
    TrialEngine shard;
    const MessageId asked = put(shard, half(0, 1));
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(look(shard, asked).blocked_by, ErrorCode::none);
    shard.turn(kAfter);
    EXPECT_EQ(look(shard, asked).blocked_by, "store_full"_code);
    shard.engine().set_log_space(LogSpace::enough);
    EXPECT_EQ(look(shard, asked).blocked_by, ErrorCode::none);
}

// Its default would come without a question: the put is where that can be helped.
TEST(TransactionsRoom, one_whose_check_queue_exceeds_the_limit_is_refused) {
    TrialEngine shard;
    allow_queues(shard, 1);
    const Error refused = shard.ask<Error>(half(0, 2));
    EXPECT_EQ(refused.code, "queue_limit"_code);
    EXPECT_EQ(refused.field, "transaction.check_back.queue");
    EXPECT_EQ(
        refused.message,
        "there is no queue `checks` for the check messages: namespace `default` is limited to 1 queue, and all are in "
        "use: use an existing one, or raise the namespace's limits.queues; queues without messages and settings "
        "are removed after a while");
    EXPECT_EQ(shard.engine().counters().quota_refusals, 1u);
    EXPECT_EQ(shard.engine().counters().pending, 0u);

    put(shard, half());  // no check is sent
    EXPECT_EQ(shard.ask<Error>(half(0, 2)).field, "transaction.check_back.queue");
    PutCommand in_its_own = half(0, 2);
    in_its_own.transaction->check_queue = "q";
    put(shard, in_its_own);
    PutCommand elsewhere = half(0, 2);
    elsewhere.queue = "other";
    EXPECT_EQ(shard.ask<Error>(elsewhere).field, "queue");

    allow_queues(shard, 2);
    put(shard, half(0, 2));
    put(shard, half(0, 2));
    PutCommand beside;
    beside.queue = "checks";
    put(shard, beside);
    put(shard, half(0, 2));
    EXPECT_EQ(shard.ask<Error>(elsewhere).field, "queue");
}

TEST(TransactionsRoom, one_that_creates_both_queues_needs_room_for_both) {
    TrialEngine shard;
    allow_queues(shard, 2);
    PutBatchCommand both;
    for (int i = 0; i < 3; ++i) both.puts.push_back(half(0, 2));
    PutCommand one_more = half(0, 2);
    one_more.queue = "q2";
    both.puts.push_back(one_more);
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(both);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[i])) << i;
    ASSERT_TRUE(std::holds_alternative<Error>(answer.results[3]));
    EXPECT_EQ(std::get<Error>(answer.results[3]).field, "transaction.check_back.queue");
}

// A put of the same batch had begun its queue, in a namespace that has settings: it was counted nowhere.
TEST(TransactionsRoom, queues_created_by_a_batch_count_for_the_check_queue_of_one_in_it) {
    for (const bool has_settings : {false, true}) {
        EngineOptions options;
        options.queues_max = 1;
        TrialEngine shard(options);
        if (has_settings) {
            shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"default", false, {.pending_max = 100}});
        }
        PutBatchCommand both;
        both.puts = {PutCommand{.queue = "q"}, half(0, 2)};
        const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(both);
        EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[0]));
        ASSERT_TRUE(std::holds_alternative<Error>(answer.results[1])) << has_settings;
        EXPECT_EQ(std::get<Error>(answer.results[1]).field, "transaction.check_back.queue");
    }
}

TEST(TransactionsRoom, a_check_queue_that_the_batch_creates_exists) {
    EngineOptions options;
    options.queues_max = 2;
    TrialEngine shard(options);
    PutBatchCommand both;
    both.puts = {PutCommand{.queue = "checks"}, half(0, 2)};
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(both);
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[0]));
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[1]));
}

TEST(TransactionsRoom, a_description_shows_no_wait_if_it_expires_before_its_check) {
    TrialEngine shard;
    PutCommand command = half(0, 2);
    command.expires = When{std::nullopt, kAfter / 2};
    const MessageId id = put(shard, command);
    allow_queues(shard, 1);
    EXPECT_EQ(look(shard, id).blocked_by, ErrorCode::none);
}

TEST(TransactionsRoom, one_whose_check_queue_exceeds_the_limit_of_the_server_is_refused) {
    EngineOptions options;
    options.queues_max = 2;
    TrialEngine shard(options);
    shard.put(1'000);
    const Error refused = shard.ask<Error>([] {
        PutCommand elsewhere = half(0, 2);
        elsewhere.queue = "other";
        return elsewhere;
    }());
    EXPECT_EQ(refused.code, "queue_limit"_code);
    EXPECT_EQ(refused.field, "transaction.check_back.queue");
    EXPECT_NE(refused.message.find("there may be 2 queues, and all are in use"), std::string::npos);
    put(shard, half(0, 2));
}

// A restart reads what is due from the load cursor on.
TEST(TransactionsRoom, the_load_cursor_does_not_pass_one_that_waits_for_space) {
    EngineOptions options;
    options.segment_bytes = 16 << 10;
    TrialEngine shard(options);
    const MessageId other = shard.put(2'000'000);
    put(shard, half(0, 1));
    shard.engine().set_log_space(LogSpace::scarce);
    for (int i = 0; i < 5; ++i) shard.turn(kAfter);
    shard.engine().close_segment();
    shard.ask<ChangeAnswer>(CancelCommand{"default", other});
    ASSERT_EQ(shard.engine().counters().unsealed_segments, 1u);
    std::vector<DueMs> load_cursors;
    for (const CursorRecord& record : shard.records<CursorRecord>()) {
        if (record.queue.empty()) load_cursors.push_back(record.due_ms);
    }
    EXPECT_EQ(load_cursors, std::vector<DueMs>{kStart + kAfter});
}

TEST(TransactionsRoom, one_that_waits_for_space_can_be_settled_and_expires) {
    TrialEngine shard;
    shard.engine().set_log_space(LogSpace::enough);
    const MessageId yes = put(shard, half(0, 1));
    PutCommand command = half(0, 1);
    command.expires = When{std::nullopt, 3 * kAfter};
    const MessageId expires = put(shard, command);
    shard.engine().set_log_space(LogSpace::scarce);
    shard.turn(kAfter);
    EXPECT_EQ(state_of(shard, yes), State::prepared);
    EXPECT_TRUE(committed(shard, yes));
    EXPECT_EQ(shard.lease().size(), 1u);
    shard.turn(kAfter);
    shard.turn(kAfter);
    EXPECT_EQ(state_of(shard, expires), State::expired);
    shard.engine().set_log_space(LogSpace::enough);
    shard.turn(10 * kAfter);
    EXPECT_TRUE(checks(shard).empty());
}

}  // namespace
}  // namespace duewheel::engine_transactions_room_test
