// Recurring messages: which occurrences they create and when, each exactly once.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_recurring_test {
namespace {

PutCommand loop(std::int64_t every_ms, std::optional<std::int64_t> times = std::nullopt, std::int64_t delay_ms = 0) {
    PutCommand command{.queue = "q"};
    command.when.delay_ms = delay_ms;
    command.repeat = RepeatChoice{.every_ms = every_ms, .times = times};
    command.body = "again";
    command.headers = R"({"a":"b"})";
    return command;
}

MessageRow row_of(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id}).row;
}

std::vector<std::uint64_t> numbers_of(const std::vector<Delivered>& messages) {
    std::vector<std::uint64_t> numbers;
    for (const Delivered& message : messages) numbers.push_back(message.occurrence);
    return numbers;
}

std::size_t spawns_in(TrialEngine& shard) {
    std::size_t spawns = 0;
    for (const MessageRecord& record : shard.records<MessageRecord>())
        spawns += record.kind == RecordKind::spawn ? 1 : 0;
    return spawns;
}

// Only an export told of them.
TEST(RecurringMessages, get_shows_the_members_of_its_occurrences) {
    TrialEngine shard;
    PutCommand command = loop(100, 3);
    command.order_key = "ann";
    command.expires = When{std::nullopt, 5'000};
    const PutAnswer put = shard.ask<PutAnswer>(std::move(command));
    const MessageAnswer seen = shard.ask<MessageAnswer>(GetCommand{"default", put.id});
    EXPECT_EQ(seen.row.state.order_key, "ann");
    EXPECT_EQ(seen.expires_in_ms, 5'000);
}

TEST(RecurringMessages, each_occurrence_is_a_message_of_its_own_at_its_time) {
    TrialEngine shard;
    const PutAnswer put = shard.ask<PutAnswer>(loop(100, 3, 50));
    EXPECT_EQ(put.state, State::scheduled);
    EXPECT_EQ(put.due_ms, kStart + 50);
    std::vector<Delivered> first = shard.lease_after(50);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_NE(first[0].id, put.id);
    EXPECT_EQ(first[0].parent, put.id);
    EXPECT_EQ(first[0].occurrence, 1u);
    EXPECT_EQ(first[0].due_ms, kStart + 50);
    EXPECT_EQ(first[0].body, "again");
    EXPECT_EQ(first[0].headers, R"({"a":"b"})");
    EXPECT_EQ(row_of(shard, put.id).state.next_occurrence, 2u);
    EXPECT_EQ(row_of(shard, put.id).state.due_ms, kStart + 150);
    EXPECT_EQ(numbers_of(shard.lease_after(100)), (std::vector<std::uint64_t>{2}));
    shard.turn(100);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{3}));
    EXPECT_EQ(row_of(shard, put.id).state.state, State::done);
    shard.turn(1'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().spawned, 3u);
    EXPECT_EQ(shard.engine().counters().pending, 3u) << "the three that are leased";
}

TEST(RecurringMessages, one_that_is_due_at_once_is_never_delivered_itself) {
    TrialEngine shard;
    const PutAnswer put = shard.ask<PutAnswer>(loop(100, 1));
    EXPECT_EQ(put.state, State::scheduled);
    const std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].parent, put.id);
    EXPECT_EQ(row_of(shard, put.id).state.state, State::done);
}

TEST(RecurringMessages, missed_occurrences_are_created_with_their_nominal_times) {
    EngineOptions options;
    options.spawn_chunk = 4;
    TrialEngine shard(options);
    const MessageId id = shard.ask<PutAnswer>(loop(10, 25)).id;
    shard.turn(100);  // eleven at once
    std::vector<Delivered> messages = shard.lease(100);
    ASSERT_EQ(messages.size(), 11u);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        EXPECT_EQ(messages[i].occurrence, i + 1);
        EXPECT_EQ(messages[i].due_ms, kStart + static_cast<DueMs>(10 * i));
    }
    EXPECT_EQ(row_of(shard, id).state.next_occurrence, 12u);
    shard.turn(10'000);
    EXPECT_EQ(shard.lease(100).size(), 14u);
    EXPECT_EQ(spawns_in(shard), 25u);
}

TEST(RecurringMessages, a_growing_interval_follows_its_rule) {
    TrialEngine shard;
    PutCommand command = loop(100, 4);
    command.repeat->factor_permille = 2'000;
    command.repeat->max_ms = 300;
    shard.ask<PutAnswer>(command);
    shard.turn(10'000);
    std::vector<DueMs> due;
    for (const Delivered& message : shard.lease()) due.push_back(message.due_ms - kStart);
    EXPECT_EQ(due, (std::vector<DueMs>{0, 100, 300, 600}));
}

TEST(RecurringMessages, the_occurrences_and_the_next_due_time_are_durable_together) {
    TrialEngine shard;
    shard.ask<PutAnswer>(loop(100, 2));
    shard.hold_commits = true;
    shard.turn(100);
    const std::size_t before = shard.log().size();
    EXPECT_EQ(shard.lease().size(), 1u) << "the first; nobody gets what is not on the disk";
    shard.hold_commits = false;
    shard.settle();
    EXPECT_GT(shard.log().size(), before);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(RecurringMessages, a_crash_at_any_commit_duplicates_and_loses_none) {
    EngineOptions options;
    options.spawn_chunk = 2;
    TrialEngine first(options);
    const MessageId id = first.ask<PutAnswer>(loop(10, 9)).id;
    std::vector<std::uint64_t> seen;
    const auto take = [&](TrialEngine& shard) {
        for (const Delivered& message : shard.lease(100)) {
            if (message.parent == id) seen.push_back(message.occurrence);
            shard.ask<LeaseEndAnswer>(AckCommand{message.lease});
        }
    };
    first.turn(15);
    take(first);
    first.hold_commits = true;  // what comes now is lost with the process
    first.turn(20);
    TrialEngine second(options, first);
    second.turn(20);
    take(second);
    second.hold_commits = true;
    second.turn(1'000);
    TrialEngine third(options, second);
    third.turn(1'000);
    take(third);
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(third.engine().counters().pending, 0u);
    EXPECT_EQ(third.engine().totals().digest, 0u);
    EXPECT_EQ(third.engine().totals().needed_bytes, 0u);
}

TEST(RecurringMessages, a_recurring_message_of_the_index_is_found_when_due) {
    EngineOptions options;
    options.segment_bytes = 16 << 10;
    options.window_min_ms = options.window_max_ms = 1'000;
    TrialEngine shard(options);
    const MessageId id = shard.ask<PutAnswer>(loop(60'000, 2, 60'000)).id;
    shard.move_to_index();
    ASSERT_TRUE(shard.index.contains(id));
    shard.turn(60'000);
    const std::vector<Delivered> first = shard.lease();
    ASSERT_EQ(numbers_of(first), (std::vector<std::uint64_t>{1}));
    shard.ask<LeaseEndAnswer>(AckCommand{first[0].lease});
    shard.turn(60'000);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{2}));
}

TEST(RecurringMessages, a_cancelled_one_ends_and_its_occurrences_stay) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100)).id;
    shard.turn(100);
    const ChangeAnswer answer = shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(answer.outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(answer.attempts, 0u);
    EXPECT_FALSE(answer.maybe_delivered);
    shard.turn(10'000);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{1, 2}));
}

TEST(RecurringMessages, a_cancel_waits_for_occurrences_in_flight) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100)).id;
    shard.hold_commits = true;
    shard.turn(100);
    const ReplyToken cancel = shard.submit(CancelCommand{"default", id});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(cancel));
    shard.hold_commits = false;
    shard.settle();
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    shard.turn(1'000);
    EXPECT_EQ(shard.lease().size(), 2u);
}

TEST(RecurringMessages, a_held_one_waits_and_catches_up_when_it_is_released) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100, 4, 100)).id;
    EXPECT_EQ(shard.ask<ChangeAnswer>(HoldCommand{"default", id}).outcome, ChangeOutcome::held);
    shard.turn(250);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", id}).outcome, ChangeOutcome::kicked);
    std::vector<DueMs> due;
    for (const Delivered& message : shard.lease()) due.push_back(message.due_ms - kStart);
    EXPECT_EQ(due, (std::vector<DueMs>{100, 200}));
}

TEST(RecurringMessages, its_times_cannot_be_moved) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100, 4, 100)).id;
    EXPECT_EQ(shard.ask<Error>(FireCommand{"default", id}).code, "repeats"_code);
    EXPECT_EQ(shard.ask<Error>(RescheduleCommand{"default", id, {std::nullopt, 5}}).code, "repeats"_code);
    EXPECT_EQ(row_of(shard, id).state.due_ms, kStart + 100);
}

TEST(RecurringMessages, an_expiry_counts_from_the_time_of_each_occurrence) {
    TrialEngine shard;
    PutCommand command = loop(1'000, 2, 1'000);
    command.expires = When{std::nullopt, 500};
    const MessageId id = shard.ask<PutAnswer>(command).id;
    EXPECT_EQ(row_of(shard, id).state.expires_ms, 0);
    shard.turn(1'499);
    shard.turn(1);
    EXPECT_EQ(shard.engine().counters().expired, 1u);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(500);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{2}));
    // One that is made when its time is over already ends at once, and is counted.
    TrialEngine late;
    command.repeat->times = 3;
    late.ask<PutAnswer>(command);
    late.turn(1'000'000);
    EXPECT_EQ(late.engine().counters().spawned, 3u);
    EXPECT_EQ(late.engine().counters().expired, 3u);
    EXPECT_EQ(late.engine().counters().pending, 0u);
}

TEST(RecurringMessages, an_order_key_orders_the_occurrences_only) {
    TrialEngine shard;
    PutCommand command = loop(10, 3);
    command.order_key = "one by one";
    shard.ask<PutAnswer>(command);
    shard.turn(1'000);
    for (std::uint64_t number = 1; number <= 3; ++number) {
        const std::vector<Delivered> messages = shard.lease(10);
        ASSERT_EQ(numbers_of(messages), (std::vector<std::uint64_t>{number}));
        shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease});
    }
}

TEST(RecurringMessages, a_key_names_the_recurring_message) {
    TrialEngine shard;
    PutCommand command = loop(100, 3);
    command.key = "mine";
    command.request_hash = 7;
    const PutAnswer first = shard.ask<PutAnswer>(command);
    shard.turn(150);
    const PutAnswer again = shard.ask<PutAnswer>(command);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, first.due_ms) << "as it was answered first";
    EXPECT_EQ(again.state, State::scheduled);
    EXPECT_TRUE(again.repeated);
    for (const Delivered& message : shard.lease()) EXPECT_TRUE(message.key.empty());
}

TEST(RecurringMessages, a_purge_ends_it_and_its_occurrences) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100)).id;
    shard.turn(100);
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::purge, {}});
    shard.turn(10'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(row_of(shard, id).state.state, State::cancelled);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
}

// A recurring message was due when a purge of its queue was written, and made its occurrence with the same commit, or
// before the walk of the purge came to it. What it made was younger than the purge's mark, and so it outlived it: a
// message came from a queue that had been purged, of a recurring message that was gone.
TEST(RecurringMessages, a_purge_prevents_due_occurrences) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100, 5, 100)).id;
    shard.hold_commits = true;
    shard.submit(PutCommand{.queue = "another"});  // the disk is busy with it while the two meet
    shard.turn();
    const ReplyToken purge =
        shard.submit(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::purge, {}});
    shard.turn(100);
    shard.hold_commits = false;
    shard.settle();
    shard.turn();
    EXPECT_NE(shard.take<QueueAnswer>(purge).settings.purge_through, 0u);
    shard.turn(10'000);
    EXPECT_EQ(spawns_in(shard), 0u);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(row_of(shard, id).state.state, State::cancelled);
    EXPECT_EQ(shard.engine().counters().pending, 1u) << "the other queue's";
}

TEST(RecurringMessages, a_full_queue_delays_it_until_there_is_capacity) {
    TrialEngine shard;
    QueueSettings settings;
    settings.pending_max = 3;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::set, settings});
    shard.ask<PutAnswer>(loop(10, 6));
    shard.turn(5'000);
    std::vector<Delivered> messages = shard.lease();
    ASSERT_EQ(messages.size(), 2u) << "the loop itself is the third";
    for (const Delivered& message : messages) shard.ask<LeaseEndAnswer>(AckCommand{message.lease});
    shard.turn(1'000);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{3, 4}));
}

// A recurring message that found no room in its queue had its content read from the log all the same, each time that it
// looked again: thousands of them in queues that stay full would have kept the disk busy with nothing.
TEST(RecurringMessages, one_without_capacity_reads_nothing) {
    EngineOptions options;
    options.record_cache_bytes = 0;
    TrialEngine shard(options);
    const MessageId id = shard.ask<PutAnswer>(loop(10, 2, 10)).id;
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, ErrorCode::none);
    QueueSettings settings;
    settings.pending_max = 1;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::set, settings});
    shard.turn(10);
    const std::uint64_t lookups = shard.engine().counters().lookups;
    for (int i = 0; i < 5; ++i) shard.turn(options.spawn_again_ms);
    EXPECT_EQ(shard.engine().counters().lookups, lookups);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, "queue_full"_code);
    shard.engine().set_log_space(LogSpace::scarce);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, "store_full"_code);
    shard.engine().set_log_space(LogSpace::enough);
    EXPECT_EQ(spawns_in(shard), 0u);
    settings.pending_max = 2;
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::set, settings});
    shard.turn(options.spawn_again_ms);
    EXPECT_EQ(numbers_of(shard.lease()), (std::vector<std::uint64_t>{1}));
}

// Three recurring messages in a queue for three messages waited forever for room for what they make, and a put was told
// to add consumers, who had nothing to take.
TEST(RecurringMessages, leave_capacity_for_an_occurrence) {
    for (const bool is_of_namespace : {false, true}) {
        TrialEngine shard;
        if (is_of_namespace) {
            shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"default", false, {.pending_max = 3}});
        } else {
            QueueSettings settings;
            settings.pending_max = 3;
            shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::set, settings});
        }
        PutBatchCommand three;
        for (int i = 0; i < 3; ++i) three.puts.push_back(loop(10));
        const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(std::move(three));
        ASSERT_EQ(answer.results.size(), 3u);
        EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[1]));
        const auto* refused = std::get_if<Error>(&answer.results[2]);
        ASSERT_NE(refused, nullptr);
        EXPECT_EQ(refused->code, is_of_namespace ? "namespace_full"_code : "queue_full"_code);
        EXPECT_NE(refused->message.find("needs room for itself"), std::string::npos) << refused->message;
        for (int i = 0; i < 10; ++i) {
            shard.turn(EngineOptions{}.spawn_again_ms);
            const std::vector<Delivered> messages = shard.lease();
            ASSERT_EQ(messages.size(), 1u) << "in round " << i;
            shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease});
        }
        shard.turn(EngineOptions{}.spawn_again_ms);
        shard.lease();
        EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "q"}).code, refused->code);
    }
}

TEST(RecurringMessages, a_list_shows_the_rule) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(loop(100)).id;
    shard.hold_commits = true;
    shard.turn(150);  // due, and its occurrence is on its way
    ListCommand list{.queue = "q", .states = StateSet{State::scheduled}};
    const ReplyToken token = shard.submit(list);
    shard.turn();
    const ListAnswer answer = shard.take<ListAnswer>(token);
    ASSERT_EQ(answer.listed.size(), 1u);
    EXPECT_EQ(answer.listed[0].row.id, id);
    EXPECT_EQ(answer.listed[0].row.state.state, State::scheduled);
    EXPECT_EQ(answer.listed[0].row.state.next_occurrence, 2u);
    shard.hold_commits = false;
    shard.settle();
}

TEST(RecurringMessages, what_makes_no_sense_is_refused_and_nothing_is_put) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<Error>(loop(0)).code, "out_of_range"_code);
    EXPECT_EQ(shard.ask<Error>(loop(10, 0)).code, "out_of_range"_code);
    PutCommand command = loop(10);
    command.expires = When{kStart + 5'000, 0};
    EXPECT_EQ(shard.ask<Error>(command).code, "conflicting_members"_code);
    command.expires = When{std::nullopt, 0};
    EXPECT_EQ(shard.ask<Error>(command).code, "expires_too_soon"_code);
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().totals().id_counter, 0u);
}

// A recurring message of every minute was put with seconds for milliseconds: it began in 1970, and would have made
// thirty million.
TEST(RecurringMessages, one_that_starts_long_ago_is_refused) {
    TrialEngine shard;
    shard.turn(kRepeatEveryMaxMs);
    PutCommand command = loop(kRepeatEveryMaxMs, 3);
    command.when = When{kStart - 1, 0};
    const Error refused = shard.ask<Error>(command);
    EXPECT_EQ(refused.code, "out_of_range"_code);
    EXPECT_EQ(refused.field, "due");
    EXPECT_NE(refused.message.find("up to 3660 days ago"), std::string::npos);
    command.when = When{kStart, 0};
    EXPECT_EQ(shard.ask<PutAnswer>(command).due_ms, kStart);
    shard.turn();
    EXPECT_EQ(shard.lease().size(), 2u);
    PutCommand message;
    message.queue = "q";
    message.when = When{1, 0};
    EXPECT_EQ(shard.ask<PutAnswer>(message).state, State::ready) << "a message makes up for nothing";
}

}  // namespace
}  // namespace duewheel::engine_recurring_test
