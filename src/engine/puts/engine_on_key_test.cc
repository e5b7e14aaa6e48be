// Puts that keep or replace the message of their key, and changes of what a message holds.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_on_key_test {
namespace {

PutCommand keyed(OnKey on_key, std::string body, std::int64_t delay_ms = 10'000) {
    PutCommand put;
    put.queue = "q";
    put.when.delay_ms = delay_ms;
    put.request_hash = std::hash<std::string>()(body) | 1;
    put.body = std::move(body);
    put.key = "k";
    put.on_key = on_key;
    return put;
}

// So that a few hundred messages fill a segment.
EngineOptions small_segments() {
    EngineOptions options;
    options.segment_bytes = 32'768;
    return options;
}

MessageAnswer get(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id});
}

TEST(EngineOnKey, keep_leaves_an_unfinished_message_as_it_is) {
    TrialEngine shard;
    const PutAnswer first = shard.ask<PutAnswer>(keyed(OnKey::keep, "one"));
    EXPECT_FALSE(first.kept);
    shard.ask<ChangeAnswer>(RescheduleCommand{"default", first.id, {std::nullopt, 20'000}});
    const PutAnswer again = shard.ask<PutAnswer>(keyed(OnKey::keep, "two", 5));
    EXPECT_TRUE(again.kept);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(again.due_ms, kStart + 20'000) << "as it is now";
    EXPECT_EQ(get(shard, first.id).body, "one");
}

TEST(EngineOnKey, replace_keeps_the_id_and_takes_everything_else_of_the_put) {
    TrialEngine shard;
    PutCommand put = keyed(OnKey::once, "one");
    put.order_key = "line";
    put.expires = When{std::nullopt, 60'000};
    put.priority = 7;
    const PutAnswer first = shard.ask<PutAnswer>(put);
    shard.turn(1'000);
    const PutAnswer second = shard.ask<PutAnswer>(keyed(OnKey::replace, "two", 30'000));
    EXPECT_TRUE(second.replaced);
    EXPECT_EQ(second.id, first.id);
    EXPECT_EQ(second.due_ms, kStart + 31'000);
    const MessageAnswer now = get(shard, first.id);
    EXPECT_EQ(now.body, "two");
    EXPECT_EQ(now.row.state.priority, 0);
    EXPECT_EQ(now.row.state.order_key, "");
    EXPECT_EQ(now.row.state.expires_ms, 0);
    EXPECT_EQ(shard.engine().counters().pending, 1u);
    EXPECT_EQ(shard.last().kind, RecordKind::replace);
    EXPECT_EQ(shard.last().previous.rows->order_key, "line");
    EXPECT_EQ(shard.last().previous.rows->expires_ms, kStart + 60'000);
    EXPECT_TRUE(shard.ask<PutAnswer>(keyed(OnKey::once, "two", 30'000)).repeated) << "it is what that put says";
    EXPECT_EQ(shard.ask<Error>(keyed(OnKey::once, "one")).code, "key_conflict"_code);
    EXPECT_EQ(shard.lease_after(30'000).at(0).body, "two");
}

TEST(EngineOnKey, puts_that_replace_each_other_postpone_a_message_for_a_bounded_time) {
    TrialEngine shard;
    PutCommand put = keyed(OnKey::replace, "event");
    put.within_ms = 25'000;
    const MessageId id = shard.ask<PutAnswer>(put).id;
    shard.turn(9'000);
    EXPECT_EQ(shard.ask<PutAnswer>(put).due_ms, kStart + 19'000);
    shard.turn(9'000);
    EXPECT_EQ(shard.ask<PutAnswer>(put).due_ms, kStart + 25'000);
    EXPECT_EQ(get(shard, id).row.state.first_put_ms, kStart);
    shard.turn(7'000);
    const std::vector<Delivered> delivered = shard.lease();
    ASSERT_EQ(delivered.size(), 1u);
    shard.ask<LeaseEndAnswer>(AckCommand{.lease = delivered[0].lease});
    const PutAnswer next = shard.ask<PutAnswer>(put);
    EXPECT_FALSE(next.replaced);
    EXPECT_EQ(next.due_ms, kStart + 35'000) << "another series";
}

TEST(EngineOnKey, a_leased_a_prepared_and_a_recurring_message_are_not_replaced) {
    TrialEngine shard;
    shard.ask<PutAnswer>(keyed(OnKey::once, "leased", 0));
    ASSERT_EQ(shard.lease().size(), 1u);
    EXPECT_EQ(shard.ask<Error>(keyed(OnKey::replace, "two")).code, "in_flight"_code);
    EXPECT_EQ(shard.ask<PutAnswer>(keyed(OnKey::keep, "two")).state, State::leased);
    PutCommand loop = keyed(OnKey::once, "loop");
    loop.key = "loop";
    loop.repeat = RepeatChoice{.every_ms = 1'000};
    shard.ask<PutAnswer>(loop);
    PutCommand over = keyed(OnKey::replace, "two");
    over.key = "loop";
    EXPECT_EQ(shard.ask<Error>(over).code, "repeats"_code);
    PutCommand half = keyed(OnKey::once, "half");
    half.key = "half";
    half.transaction = TransactionRule{.check_after_ms = 60'000};
    shard.ask<PutAnswer>(half);
    over.key = "half";
    EXPECT_EQ(shard.ask<Error>(over).code, "not_waiting"_code);
}

TEST(EngineOnKey, a_held_message_stays_held_and_one_that_has_failed_has_all_its_attempts_again) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(keyed(OnKey::once, "one", 0)).id;
    FailCommand fail;
    fail.lease = shard.lease().at(0).lease;
    shard.ask<LeaseEndAnswer>(fail);
    EXPECT_TRUE(shard.ask<PutAnswer>(keyed(OnKey::replace, "two")).replaced);
    EXPECT_EQ(state_of(shard, id), State::scheduled);
    EXPECT_EQ(get(shard, id).row.state.attempts, 1u);
    EXPECT_EQ(get(shard, id).row.state.attempts_forgiven, 1u);
    EXPECT_EQ(get(shard, id).row.reason, "");
    shard.ask<ChangeAnswer>(HoldCommand{"default", id});
    EXPECT_EQ(shard.ask<PutAnswer>(keyed(OnKey::replace, "three")).state, State::held);
    EXPECT_EQ(get(shard, id).body, "three");
}

TEST(EngineOnKey, after_the_end_keep_and_replace_put_a_new_message_and_once_reports_the_outcome) {
    for (const OnKey on_key : {OnKey::keep, OnKey::replace}) {
        TrialEngine shard;
        const PutAnswer first = shard.ask<PutAnswer>(keyed(OnKey::once, "one"));
        shard.ask<ChangeAnswer>(CancelCommand{"default", first.id});
        EXPECT_EQ(shard.ask<PutAnswer>(keyed(OnKey::once, "one")).state, State::cancelled);
        const PutAnswer second = shard.ask<PutAnswer>(keyed(on_key, "two"));
        EXPECT_NE(second.id, first.id);
        EXPECT_FALSE(second.repeated || second.replaced);
        EXPECT_EQ(shard.ask<PutAnswer>(keyed(OnKey::once, "two")).id, second.id);
    }
}

TEST(EngineOnKey, puts_of_one_request_take_effect_in_their_order) {
    TrialEngine shard;
    PutBatchCommand batch;
    batch.puts = {keyed(OnKey::replace, "one", 0), keyed(OnKey::keep, "two"), keyed(OnKey::replace, "three", 0),
                  keyed(OnKey::replace, "four", 5'000)};
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(batch);
    const auto put = [&](std::size_t at) { return std::get<PutAnswer>(answer.results.at(at)); };
    EXPECT_FALSE(put(0).replaced);
    EXPECT_TRUE(put(1).kept);
    EXPECT_TRUE(put(2).replaced && put(3).replaced);
    EXPECT_EQ(put(3).id, put(0).id);
    EXPECT_EQ(get(shard, put(0).id).body, "four");
    EXPECT_EQ(shard.engine().counters().pending, 1u);
    const PutBatchAnswer again = shard.ask<PutBatchAnswer>(batch);
    EXPECT_TRUE(std::get<PutAnswer>(again.results.at(0)).replaced) << "the message is in memory by then";
    EXPECT_EQ(get(shard, put(0).id).body, "four");
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.lease_after(5'000).at(0).body, "four");
}

TEST(EngineOnKey, a_message_that_only_the_index_has_is_kept_or_replaced) {
    TrialEngine shard(small_segments());
    const PutAnswer first = shard.ask<PutAnswer>(keyed(OnKey::once, "one", 3'600'000));
    shard.move_to_index();
    EXPECT_TRUE(shard.ask<PutAnswer>(keyed(OnKey::keep, "two")).kept);
    EXPECT_TRUE(shard.ask<PutAnswer>(keyed(OnKey::replace, "two", 7'200'000)).replaced);
    shard.move_to_index();
    const MessageAnswer now = get(shard, first.id);
    EXPECT_EQ(now.body, "two");
    EXPECT_EQ(now.row.state.due_ms, kStart + 7'200'000);
}

TEST(EngineOnKey, a_restart_knows_what_replaced_the_message_and_when_the_series_began) {
    TrialEngine first;
    PutCommand put = keyed(OnKey::replace, "one");
    put.within_ms = 15'000;
    const MessageId id = first.ask<PutAnswer>(put).id;
    first.turn(4'000);
    put.body = "two";
    first.ask<PutAnswer>(put);
    TrialEngine second(EngineOptions{}, first, 4'000);
    EXPECT_EQ(get(second, id).body, "two");
    EXPECT_EQ(get(second, id).row.state.first_put_ms, kStart);
    EXPECT_LE(second.ask<PutAnswer>(put).due_ms, kStart + 15'000);
}

// A client that updated to a newer server repeated a put, and was refused: the hash was of other bytes.
TEST(EngineOnKey, a_put_of_an_earlier_version_is_recognized) {
    TrialEngine shard;
    PutCommand old = keyed(OnKey::once, "one");
    old.request_hash = 77;
    const PutAnswer first = shard.ask<PutAnswer>(old);
    PutCommand again = keyed(OnKey::once, "one");
    again.text_hash = 77;
    EXPECT_EQ(shard.ask<PutAnswer>(again).id, first.id);
    again.text_hash = 78;
    EXPECT_EQ(shard.ask<Error>(again).code, "key_conflict"_code);
}

TEST(EngineOnKey, the_line_of_an_order_key_goes_on_when_its_first_message_leaves_it) {
    TrialEngine shard;
    PutCommand put = keyed(OnKey::once, "first", 0);
    put.order_key = "line";
    shard.ask<PutAnswer>(put);
    put.key = "other";
    put.body = "second";
    shard.ask<PutAnswer>(put);
    shard.ask<PutAnswer>(keyed(OnKey::replace, "elsewhere", 60'000));
    const std::vector<Delivered> delivered = shard.lease();
    ASSERT_EQ(delivered.size(), 1u);
    EXPECT_EQ(delivered[0].body, "second");
}

// ---- changes in part

PatchMessageCommand patch_of(MessageId id) {
    PatchMessageCommand patch;
    patch.id = id;
    return patch;
}

TEST(EngineOnKey, a_patch_changes_what_it_gives_and_nothing_else) {
    TrialEngine shard;
    PutCommand put = keyed(OnKey::once, "one");
    put.headers = R"({"a":"b"})";
    put.expires = When{std::nullopt, 60'000};
    const MessageId id = shard.ask<PutAnswer>(put).id;
    PatchMessageCommand patch = patch_of(id);
    patch.priority = 3;
    patch.retry = RetryChoice{.attempts = 2};
    EXPECT_EQ(shard.ask<ChangeAnswer>(patch).outcome, ChangeOutcome::changed);
    EXPECT_EQ(shard.last().kind, RecordKind::change);
    patch = patch_of(id);
    patch.expires.emplace();
    patch.content = [](const MessageContent& kept) -> Result<Content> {
        Content content;
        copy_content(kept, content);
        content.body = "two";
        return content;
    };
    EXPECT_EQ(shard.ask<ChangeAnswer>(patch).due_ms, kStart + 10'000);
    const MessageAnswer now = get(shard, id);
    EXPECT_EQ(now.body, "two");
    EXPECT_EQ(now.headers, R"({"a":"b"})");
    EXPECT_EQ(now.row.state.priority, 3);
    EXPECT_EQ(now.row.state.retry->attempts, 2u);
    EXPECT_EQ(now.row.state.expires_ms, 0);
    EXPECT_EQ(now.row.state.key, "k");
    EXPECT_EQ(shard.last().previous.rows->expires_ms, kStart + 60'000);
    EXPECT_TRUE(shard.ask<PutAnswer>(put).repeated) << "the key is that of the put";
    EXPECT_EQ(shard.lease_after(10'000).at(0).body, "two");
}

TEST(EngineOnKey, a_patch_is_refused_where_it_has_no_meaning) {
    TrialEngine shard;
    const MessageId id = shard.ask<PutAnswer>(keyed(OnKey::once, "one")).id;
    PatchMessageCommand patch = patch_of(id);
    patch.expires = std::optional<When>(When{std::nullopt, 5'000});
    EXPECT_EQ(shard.ask<Error>(patch).code, "expires_too_soon"_code);
    shard.ask<ChangeAnswer>(HoldCommand{"default", id});
    patch = patch_of(id);
    patch.when = When{std::nullopt, 1};
    patch.priority = 1;
    EXPECT_EQ(shard.ask<Error>(patch).code, "not_waiting"_code);
    patch.when.reset();
    EXPECT_EQ(shard.ask<ChangeAnswer>(patch).outcome, ChangeOutcome::changed);
    EXPECT_EQ(state_of(shard, id), State::held);
    shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(shard.ask<ChangeAnswer>(patch).outcome, ChangeOutcome::cancelled);
}

}  // namespace
}  // namespace duewheel::engine_on_key_test
