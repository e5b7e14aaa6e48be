// Results of acknowledgements, and requests that wait for the end of a message.
#include <gtest/gtest.h>

#include "engine/core/engine.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_waits_test {
namespace {

GetCommand wait_for(MessageId id, std::int64_t wait_ms = 30'000) {
    return {.id = id, .wait_ms = wait_ms};
}

std::string result_of(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{.id = id}).row.state.work->result;
}

struct Taken {
    MessageId id = 0;
    LeaseToken lease;
};
Taken put_and_lease(TrialEngine& shard) {
    const MessageId id = shard.put(0);
    return {id, shard.lease(1).at(0).lease};
}

TEST(EngineWaits, a_wait_is_answered_when_the_end_is_durable_and_not_before) {
    TrialEngine shard;
    const Taken taken = put_and_lease(shard);
    const ReplyToken waits = shard.submit(wait_for(taken.id));
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(waits));
    EXPECT_EQ(shard.engine().counters().message_waits, 1u);
    shard.hold_commits = true;
    const ReplyToken ends = shard.submit(AckCommand{taken.lease, R"({"sum":21})"});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(waits));
    shard.hold_commits = false;
    shard.turn();
    EXPECT_EQ(shard.take<LeaseEndAnswer>(ends).outcome, LeaseOutcome::done);
    const auto message = shard.take<MessageAnswer>(waits);
    EXPECT_EQ(message.row.state.state, State::done);
    EXPECT_EQ(message.row.state.work->result, R"({"sum":21})");
    EXPECT_EQ(shard.engine().counters().message_waits, 0u);
    shard.engine().check();
}

TEST(EngineWaits, each_end_answers_all_who_wait_for_it_and_nobody_else) {
    TrialEngine shard;
    const MessageId other = shard.put(3'600'000);
    const ReplyToken unconcerned = shard.submit(wait_for(other));
    const auto both = [&](MessageId id) { return std::pair(shard.submit(wait_for(id)), shard.submit(wait_for(id))); };
    const auto expect = [&](const std::pair<ReplyToken, ReplyToken>& waits, State state) {
        EXPECT_EQ(shard.take<MessageAnswer>(waits.first).row.state.state, state);
        EXPECT_EQ(shard.take<MessageAnswer>(waits.second).row.state.state, state);
    };
    const MessageId cancelled = shard.put(60'000);
    const auto of_cancelled = both(cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{.id = cancelled}).outcome, ChangeOutcome::cancelled);
    expect(of_cancelled, State::cancelled);

    PutCommand put;
    put.queue = "q";
    put.retry = RetryChoice{.attempts = 1};
    const MessageId dead = shard.ask<PutAnswer>(put).id;
    const auto of_dead = both(dead);
    shard.ask<LeaseEndAnswer>(FailCommand{shard.lease(1).at(0).lease, "no", std::nullopt});
    expect(of_dead, State::dead);
    EXPECT_TRUE(shard.ask<MessageAnswer>(wait_for(dead)).has_content) << "it has ended already";
    EXPECT_FALSE(shard.replies.contains(unconcerned));
}

TEST(EngineWaits, a_wait_that_ends_is_answered_with_the_state_of_then) {
    TrialEngine shard;
    const MessageId id = shard.put(1'000);
    const ReplyToken waits = shard.submit(wait_for(id, 2'000));
    shard.turn(1'999);
    EXPECT_FALSE(shard.replies.contains(waits));
    shard.turn(1);
    const auto message = shard.take<MessageAnswer>(waits);
    EXPECT_EQ(message.row.state.state, State::ready);
    EXPECT_EQ(message.body, "body");
    EXPECT_EQ(shard.ask<MessageAnswer>(wait_for(id, 0)).row.state.state, State::ready) << "without a wait";
}

TEST(EngineWaits, a_message_on_disk_is_waited_for_too) {
    TrialEngine shard({.segment_bytes = 64 << 10});
    const MessageId id = shard.put(86'400'000);
    shard.move_to_index();
    const ReplyToken waits = shard.submit(wait_for(id));
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(waits));
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{.id = id}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.take<MessageAnswer>(waits).row.state.state, State::cancelled);
}

TEST(EngineWaits, a_message_is_waited_for_by_its_key) {
    TrialEngine shard;
    PutCommand put;
    put.queue = "q";
    put.key = "order-1";
    const MessageId id = shard.ask<PutAnswer>(put).id;
    const ReplyToken waits = shard.submit(GetCommand{.by_key = {"q", "order-1"}, .wait_ms = 30'000});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(waits));
    shard.ask<LeaseEndAnswer>(AckCommand{shard.lease(1).at(0).lease, "null"});
    const auto message = shard.take<MessageAnswer>(waits);
    EXPECT_EQ(message.row.id, id);
    EXPECT_EQ(message.row.state.work->result, "null");
}

TEST(EngineWaits, a_client_that_left_waits_no_longer) {
    TrialEngine shard;
    const MessageId id = shard.put(60'000);
    const ReplyToken waits = shard.submit(wait_for(id));
    shard.turn();
    shard.engine().forget(waits);
    EXPECT_EQ(shard.engine().counters().message_waits, 0u);
    shard.ask<ChangeAnswer>(CancelCommand{.id = id});
    EXPECT_FALSE(shard.replies.contains(waits));
    shard.engine().check();
}

TEST(EngineWaits, a_server_that_stops_answers_all_with_the_state_of_then) {
    TrialEngine shard;
    const MessageId id = shard.put(60'000);
    const ReplyToken waits = shard.submit(wait_for(id));
    shard.turn();
    shard.engine().stop_waiting();
    shard.turn();
    EXPECT_EQ(shard.take<MessageAnswer>(waits).row.state.state, State::scheduled);
    EXPECT_EQ(shard.ask<MessageAnswer>(wait_for(id)).row.state.state, State::scheduled) << "none waits from now on";
}

TEST(EngineWaits, a_wait_has_its_maximum_and_so_have_all_of_a_namespace) {
    EngineOptions options;
    options.message_waits_max = 10;
    TrialEngine shard(options);
    const MessageId id = shard.put(60'000);
    EXPECT_EQ(shard.ask<Error>(wait_for(id, options.wait_max_ms + 1)).code, "wait_too_long"_code);
    EXPECT_EQ(shard.ask<Error>(wait_for(id, -1)).code, "wait_too_long"_code);
    for (int waiting = 0; waiting < 8; ++waiting) shard.submit(wait_for(id));
    shard.turn();
    EXPECT_EQ(shard.engine().counters().message_waits, 8u);
    EXPECT_EQ(shard.ask<Error>(wait_for(id)).code, "waiter_limit"_code) << "the rest is for another namespace";
}

TEST(EngineWaits, a_result_stays_with_the_outcome) {
    TrialEngine shard({.segment_bytes = 64 << 10});
    const Taken taken = put_and_lease(shard);
    shard.ask<LeaseEndAnswer>(AckCommand{taken.lease, "[1]"});
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{taken.lease, "[2]"}).outcome, LeaseOutcome::done);
    EXPECT_EQ(result_of(shard, taken.id), "[1]") << "a repeated acknowledgement changes nothing";
    TrialEngine restarted({}, shard);
    EXPECT_EQ(result_of(restarted, taken.id), "[1]");
    shard.move_to_index();
    EXPECT_EQ(result_of(shard, taken.id), "[1]");
}

TEST(EngineWaits, large_results_share_segments_with_others) {
    TrialEngine shard;
    std::vector<Taken> all;
    for (int i = 0; i < 20; ++i) all.push_back(put_and_lease(shard));
    std::vector<ReplyToken> ends;
    for (const Taken& taken : all) {
        ends.push_back(shard.submit(AckCommand{taken.lease, '"' + std::string(kResultBytesMax - 2, 'x') + '"'}));
    }
    while (!shard.replies.contains(ends.back())) shard.turn(1);
    for (const Taken& taken : all) EXPECT_EQ(result_of(shard, taken.id).size(), kResultBytesMax);
}

}  // namespace
}  // namespace duewheel::engine_waits_test
