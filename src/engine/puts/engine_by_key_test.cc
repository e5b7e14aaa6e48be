// Commands that identify a message by the key of its put.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_by_key_test {
namespace {

PutCommand keyed(std::string key = "k", std::int64_t delay_ms = 3'600'000) {
    PutCommand put;
    put.queue = "q";
    put.when.delay_ms = delay_ms;
    put.body = "body";
    put.key = std::move(key);
    put.request_hash = 1;
    return put;
}

CancelCommand cancel(std::string queue = "q", std::string key = "k", std::string name_space = "default") {
    return {std::move(name_space), 0, {std::move(queue), std::move(key)}};
}

GetCommand get() {
    return {"default", 0, {"q", "k"}};
}

RescheduleCommand move(std::int64_t delay_ms) {
    return {"default", 0, {std::nullopt, delay_ms}, {"q", "k"}};
}

// So that a few hundred messages fill a segment.
EngineOptions small_segments() {
    EngineOptions options;
    options.segment_bytes = 32'768;
    return options;
}

TEST(EngineByKey, gets_moves_and_cancels) {
    TrialEngine shard;
    const PutAnswer put = shard.ask<PutAnswer>(keyed());
    EXPECT_EQ(shard.ask<MessageAnswer>(get()).row.id, put.id);
    EXPECT_EQ(shard.ask<MessageAnswer>(get()).body, "body");
    EXPECT_EQ(shard.ask<ChangeAnswer>(move(60'000)).outcome, ChangeOutcome::rescheduled);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", put.id}).row.state.due_ms, kStart + 60'000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::cancelled) << "repeated";
    EXPECT_EQ(shard.ask<ChangeAnswer>(move(1)).outcome, ChangeOutcome::cancelled) << "too late";
    EXPECT_EQ(shard.ask<MessageAnswer>(get()).row.state.state, State::cancelled);
}

TEST(EngineByKey, a_key_without_a_message_is_unknown) {
    TrialEngine shard;
    shard.ask<PutAnswer>(keyed());
    for (const Command& command : {Command(cancel("q", "other")), Command(cancel("r")),
                                   Command(cancel("q", "k", "team")), Command(GetCommand{"team", 0, {"q", "k"}})}) {
        EXPECT_EQ(shard.ask<Error>(command).code, "unknown_key"_code);
    }
    EXPECT_EQ(shard.engine().counters().pending, 1u);
}

TEST(EngineByKey, finds_a_message_that_is_only_in_the_index) {
    TrialEngine shard(small_segments());
    const PutAnswer put = shard.ask<PutAnswer>(keyed());
    shard.move_to_index();
    EXPECT_EQ(shard.ask<MessageAnswer>(get()).row.id, put.id);
    EXPECT_EQ(shard.ask<ChangeAnswer>(move(7'200'000)).outcome, ChangeOutcome::rescheduled);
    shard.move_to_index();
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::cancelled);
    shard.move_to_index();
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<Error>(cancel("q", "other")).code, "unknown_key"_code);
}

// A read of the id and a cancel of that id would meet the message of before.
TEST(EngineByKey, a_cancel_ends_the_message_that_holds_the_key_by_then) {
    EngineOptions options = small_segments();
    options.keys_kept_ms = 60'000;
    TrialEngine shard(options);
    const PutAnswer old = shard.ask<PutAnswer>(keyed());
    shard.ask<ChangeAnswer>(CancelCommand{"default", old.id});
    shard.move_to_index();
    shard.turn(60'000);
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(cancel());  // the index is asked who holds the key
    shard.turn(1);
    EXPECT_FALSE(shard.replies.contains(token));
    shard.hold_lookups = false;
    const PutAnswer young = shard.ask<PutAnswer>(keyed());
    EXPECT_NE(young.id, old.id) << "the key of the old one is free again";
    shard.answer_lookups();  // that the old one held it
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(token).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", young.id}).row.state.state, State::cancelled);
}

TEST(EngineByKey, waits_for_a_put_that_is_being_committed) {
    TrialEngine shard;
    shard.turn();
    shard.hold_commits = true;
    shard.submit(keyed());
    shard.turn();
    const ReplyToken token = shard.submit(cancel());
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    EXPECT_EQ(shard.ask<Error>(get()).code, "unknown_key"_code) << "it is not durable yet";
    shard.hold_commits = false;
    shard.turn();
    EXPECT_EQ(shard.take<ChangeAnswer>(token).outcome, ChangeOutcome::cancelled);
}

// A batch of hundreds of puts is applied in parts, and each part is answered at once. A client that asked by key for
// what it had just put heard unknown_key until all parts were applied.
TEST(EngineByKey, finds_an_answered_put_while_others_of_its_batch_are_not_answered) {
    EngineOptions options;
    options.apply_chunk = 1;
    TrialEngine shard(options);
    shard.turn();
    shard.hold_commits = true;
    const ReplyToken first = shard.submit(keyed("k"));
    const ReplyToken second = shard.submit(keyed("other"));
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    const PutAnswer put = shard.take<PutAnswer>(first);
    ASSERT_FALSE(shard.replies.contains(second));
    const ReplyToken look = shard.submit(get());
    shard.settle();
    EXPECT_EQ(shard.take<MessageAnswer>(look).row.id, put.id);
}

TEST(EngineByKey, is_too_late_for_a_leased_message) {
    TrialEngine shard;
    shard.ask<PutAnswer>(keyed("k", 0));
    const std::vector<Delivered> taken = shard.lease();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::in_flight);
    shard.ask<LeaseEndAnswer>(AckCommand{taken[0].lease});
    EXPECT_EQ(shard.ask<ChangeAnswer>(cancel()).outcome, ChangeOutcome::delivered);
}

}  // namespace
}  // namespace duewheel::engine_by_key_test
