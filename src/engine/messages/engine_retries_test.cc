// Attempts, dead letters, and messages that are held and returned: the engine's rules, one by one.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_dead_letters.h"

namespace duewheel::engine_retries_test {
namespace {

EngineOptions with_rule(const RetryRule& rule) {
    EngineOptions options;
    options.retry = rule;
    return options;
}

constexpr RetryRule kTwice{2, 1'000, 2'000, 60'000, 0};

LeaseEndAnswer fail(TrialEngine& shard, const LeaseToken& lease, std::string reason = "no") {
    return shard.ask<LeaseEndAnswer>(FailCommand{lease, std::move(reason), std::nullopt});
}
MessageAnswer get(TrialEngine& shard, MessageId id) {
    return shard.ask<MessageAnswer>(GetCommand{"default", id});
}
ChangeAnswer kick(TrialEngine& shard, MessageId id) {
    return shard.ask<ChangeAnswer>(KickCommand{"default", id});
}
ChangeAnswer hold(TrialEngine& shard, MessageId id) {
    return shard.ask<ChangeAnswer>(HoldCommand{"default", id});
}
RedriveAnswer redrive(TrialEngine& shard, std::optional<std::uint64_t> max = std::nullopt) {
    return shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", max});
}
// What cleaning asks for; the message's put is the log's second record.
RelocateCommand relocation_of(TrialEngine& shard, MessageId id) {
    const MessageRecord put = as_message(shard.log().at(1));
    EXPECT_EQ(put.kind, RecordKind::put);
    RelocateCommand relocate;
    relocate.row.id = id;
    relocate.row.log_position = 2;
    relocate.generation = shard.engine().generation().load();
    std::string framed;
    append_record(framed, relocate.row.log_position, put);
    relocate.record_body = framed.substr(kRecordFrameBytes);
    return relocate;
}

TEST(Retries, backoffs_grow_and_then_the_message_is_dead_with_its_reason_and_body) {
    TrialEngine shard(with_rule({3, 1'000, 2'000, 60'000, 0}));
    const MessageId id = shard.put(0, "hello");
    EXPECT_EQ(fail(shard, shard.lease().at(0).lease).due_ms, kStart + 1'000);
    shard.turn(1'000);
    EXPECT_EQ(fail(shard, shard.lease().at(0).lease).due_ms, kStart + 3'000);
    shard.turn(2'000);
    EXPECT_EQ(fail(shard, shard.lease().at(0).lease, "the printer is on fire").outcome, LeaseOutcome::dead);
    const MessageAnswer answer = get(shard, id);
    EXPECT_EQ(answer.row.state.state, State::dead);
    EXPECT_EQ(answer.row.reason, "the printer is on fire");
    EXPECT_EQ(answer.row.ended_ms, kStart + 3'000);
    EXPECT_EQ(answer.row.state.attempts, 3u);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.engine().counters().pending, 0u);
    EXPECT_EQ(shard.engine().counters().dead_lettered, 1u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_GT(shard.engine().totals().needed_bytes, 0u) << "its body can still be asked for";
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", id}).outcome, ChangeOutcome::dead);
}

TEST(Retries, a_message_with_one_attempt_is_never_retried_even_with_a_requested_delay) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = shard.put(0);
    const LeaseToken lease = shard.lease().at(0).lease;
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{lease, "", 5}).outcome, LeaseOutcome::dead);
    EXPECT_EQ(get(shard, id).row.reason, "failed without a reason");
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{lease, 0}).outcome, LeaseOutcome::expired)
        << "the lease has ended";
}

TEST(Retries, a_message_may_have_its_own_rule) {
    TrialEngine shard(with_rule(kTwice));
    PutCommand put{.queue = "q"};
    put.retry.attempts = 1;
    const MessageId once = shard.ask<PutAnswer>(put).id;
    EXPECT_EQ(fail(shard, shard.lease(1).at(0).lease).outcome, LeaseOutcome::dead);
    EXPECT_EQ(get(shard, once).row.state.retry, (RetryRule{1, 1'000, 2'000, 60'000, 0}));
    put.retry = {};
    put.retry.first_ms = 7;
    shard.ask<PutAnswer>(put);
    EXPECT_EQ(fail(shard, shard.lease(1).at(0).lease).due_ms, kStart + 7);
    put.retry.attempts = 0;
    EXPECT_EQ(shard.ask<Error>(put).code, "out_of_range"_code);
}

TEST(Retries, a_failure_may_set_the_delay_of_the_next_attempt) {
    TrialEngine shard;
    shard.put(0);
    const LeaseToken lease = shard.lease().at(0).lease;
    const Error refused = shard.ask<Error>(FailCommand{lease, "", INT64_MAX / 2});
    EXPECT_EQ(refused.code, "delay_too_long"_code);
    EXPECT_EQ(refused.field, "retry_in");
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{lease, "", 77}).due_ms, kStart + 77);
}

TEST(Retries, a_lost_lease_counts_and_the_last_one_leaves_the_message_dead) {
    TrialEngine shard(with_rule(kTwice));
    const MessageId id = shard.put(0);
    shard.lease(1, 1'000);
    shard.turn(1'000);
    const auto second = shard.lease(1, 1'000);
    ASSERT_EQ(second.size(), 1u) << "ready again at once";
    shard.turn(1'000);
    EXPECT_TRUE(shard.lease().empty());
    const MessageAnswer answer = get(shard, id);
    EXPECT_EQ(answer.row.state.state, State::dead);
    EXPECT_EQ(answer.row.reason, "lease lost");
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{second[0].lease}).outcome, LeaseOutcome::expired);
    EXPECT_FALSE(shard.engine().is_idle() && shard.engine().counters().pending > 0);
}

// Puts a message whose only attempt ends while a commit is in flight.
MessageId exhaust(TrialEngine& shard) {
    const MessageId id = shard.put(0);
    shard.lease(1, 1'000);
    shard.hold_commits = true;
    shard.submit(PutCommand{.queue = "q", .when = {std::nullopt, 5'000'000}});
    shard.turn();
    shard.turn(1'000);
    return id;
}

TEST(Retries, an_ending_message_is_not_delivered_before_its_end_is_durable) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = exhaust(shard);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_FALSE(shard.engine().is_idle());
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(get(shard, id).row.state.state, State::dead);
}

TEST(Retries, a_cancel_before_the_end_of_an_exhausted_message_ends_it) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = exhaust(shard);
    const ReplyToken token = shard.submit(CancelCommand{"default", id});
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<ChangeAnswer>(token).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(get(shard, id).row.state.state, State::cancelled);
    EXPECT_EQ(shard.engine().counters().dead_lettered, 0u);
}

TEST(Retries, released_attempts_do_not_count) {
    TrialEngine shard(with_rule(kTwice));
    shard.put(0);
    for (int i = 0; i < 5; ++i) {
        const auto messages = shard.lease();
        ASSERT_EQ(messages.size(), 1u);
        EXPECT_EQ(messages[0].attempt, static_cast<std::uint32_t>(i + 1)) << "each delivery has a number of its own";
        shard.ask<LeaseEndAnswer>(ReleaseCommand{messages[0].lease, i % 2 == 0 ? 0 : 10});
        shard.turn(10);
    }
    EXPECT_EQ(fail(shard, shard.lease().at(0).lease).outcome, LeaseOutcome::retrying);
    shard.turn(1'000);
    EXPECT_EQ(fail(shard, shard.lease().at(0).lease).outcome, LeaseOutcome::dead);
}

// A run that died with a message on its last attempt leaves it leased, and a consumer that it kills would meet it for
// ever.
TEST(Retries, a_message_whose_last_attempt_is_lost_after_a_restart_dies_instead_of_being_delivered) {
    TrialEngine first(with_rule(kTwice));
    first.put(0, "poison");
    first.lease(1, 1'000);
    first.turn(1'000);
    ASSERT_EQ(first.lease(1, 3'600'000).size(), 1u);
    first.turn(StartedAttempts::kWaitMs);
    TrialEngine second(with_rule(kTwice), first);
    EXPECT_TRUE(second.lease().empty());
    EXPECT_EQ(get(second, kShardsMax).row.state.state, State::leased);
    second.turn(3'600'000);
    EXPECT_TRUE(second.lease().empty());
    EXPECT_EQ(get(second, kShardsMax).row.state.state, State::dead);
    EXPECT_EQ(get(second, kShardsMax).row.reason, "lease lost");
    TrialEngine third(with_rule(kTwice), second);
    EXPECT_EQ(get(third, kShardsMax).row.reason, "lease lost") << "a replay keeps it";
}

// What a failure had said was shown nowhere until the message was dead.
TEST(Retries, the_reason_of_the_last_failure_is_shown_until_the_next_attempt_starts) {
    for (const bool in_index : {false, true}) {
        EngineOptions options = with_rule({9, 3'600'000, 1'000, 3'600'000, 0});
        options.segment_bytes = 65'536;
        TrialEngine shard(options);
        const MessageId id = shard.put(0);
        fail(shard, shard.lease().at(0).lease, "the printer is on fire");
        EXPECT_EQ(get(shard, id).row.reason, "the printer is on fire");
        EXPECT_TRUE(shard.ask<RelocateAnswer>(relocation_of(shard, id)).relocated);
        if (in_index) shard.move_to_index();
        EXPECT_EQ(get(shard, id).row.reason, "the printer is on fire") << in_index;
        ListCommand list;
        list.queue = "q";
        EXPECT_EQ(shard.ask<ListAnswer>(list).listed.at(0).row.reason, "the printer is on fire");
        shard.turn(3'600'000);
        EXPECT_EQ(get(shard, id).row.reason, "the printer is on fire") << "ready, and nobody has taken it";
        if (in_index) continue;
        shard.hold_commits = true;
        EXPECT_EQ(shard.lease(1, 1'000).size(), 1u);
        EXPECT_EQ(get(shard, id).row.reason, "") << "the attempt is not on disk yet";
        shard.hold_commits = false;
        shard.settle();
        EXPECT_EQ(get(shard, id).row.reason, "");
        shard.turn(1'000);
        EXPECT_EQ(get(shard, id).row.reason, "") << "its last attempt was lost and said nothing";
        TrialEngine replayed(options, shard);
        EXPECT_EQ(get(replayed, id).row.reason, "");
    }
}

TEST(Retries, a_replay_keeps_the_reason_of_a_failure) {
    TrialEngine shard(with_rule({9, 3'600'000, 1'000, 3'600'000, 0}));
    const MessageId id = shard.put(0);
    fail(shard, shard.lease().at(0).lease, "the printer is on fire");
    TrialEngine replayed(with_rule({9, 3'600'000, 1'000, 3'600'000, 0}), shard);
    EXPECT_EQ(get(replayed, id).row.reason, "the printer is on fire");
}

// It was said to have lost its lease.
TEST(Retries, one_that_dies_because_its_attempts_were_lowered_has_the_reason_of_its_last_failure) {
    TrialEngine shard(with_rule({9, 1'000, 1'000, 1'000, 0}));
    const MessageId silent = shard.put(0);
    fail(shard, shard.lease().at(0).lease, "");
    const MessageId failed = shard.put(0);
    fail(shard, shard.lease().at(0).lease, "the printer is on fire");
    const MessageId lost = shard.put(0);
    fail(shard, shard.lease().at(0).lease, "the printer is on fire");
    shard.turn(500);
    ConfigureQueueCommand lower{"default", "q", ConfigureQueueCommand::What::set, {}};
    lower.settings.retry.attempts = 1;
    EXPECT_TRUE(shard.lease().empty());
    shard.ask<ChangeAnswer>(FireCommand{"default", lost});
    ASSERT_EQ(shard.lease(1, 1'000).size(), 1u);
    shard.ask<QueueAnswer>(lower);
    shard.turn(1'000);
    for (const MessageId id : {silent, failed, lost}) EXPECT_EQ(get(shard, id).row.state.state, State::dead);
    EXPECT_EQ(get(shard, silent).row.reason, "failed without a reason");
    EXPECT_EQ(get(shard, failed).row.reason, "the printer is on fire");
    EXPECT_EQ(get(shard, lost).row.reason, "lease lost");
}

TEST(Holding, a_held_message_is_not_delivered_until_it_is_released) {
    TrialEngine shard;
    const MessageId id = shard.put(1'000);
    EXPECT_EQ(hold(shard, id).outcome, ChangeOutcome::held);
    EXPECT_EQ(hold(shard, id).outcome, ChangeOutcome::held) << "repeated";
    EXPECT_EQ(shard.engine().counters().held, 1u) << "and written once";
    shard.turn(5'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(get(shard, id).row.state.state, State::held);
    EXPECT_EQ(shard.ask<Error>(FireCommand{"default", id}).code, "not_waiting"_code);
    const ChangeAnswer answer = kick(shard, id);
    EXPECT_EQ(answer.outcome, ChangeOutcome::kicked);
    EXPECT_EQ(answer.due_ms, kStart + 5'000);
    EXPECT_EQ(kick(shard, id).outcome, ChangeOutcome::waiting);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].due_ms, kStart + 1'000) << "what was asked for";
    EXPECT_EQ(kick(shard, id).outcome, ChangeOutcome::in_flight);
    EXPECT_EQ(hold(shard, id).outcome, ChangeOutcome::in_flight);
}

TEST(Holding, a_kick_before_the_due_time_is_not_early) {
    TrialEngine shard;
    const MessageId id = shard.put(1'000);
    hold(shard, id);
    EXPECT_EQ(kick(shard, id).due_ms, kStart + 1'000);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1'000);
    EXPECT_EQ(shard.lease().size(), 1u);
}

TEST(Holding, ready_and_retrying_messages_can_be_held_and_what_is_held_cancelled) {
    TrialEngine shard;
    const MessageId ready = shard.put(0);
    EXPECT_EQ(hold(shard, ready).outcome, ChangeOutcome::held);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", ready}).outcome, ChangeOutcome::cancelled);
    const MessageId retrying = shard.put(0);
    fail(shard, shard.lease().at(0).lease);
    EXPECT_EQ(hold(shard, retrying).attempts, 1u);
    shard.turn(60'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(hold(shard, ready).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<Error>(HoldCommand{"other", retrying}).code, "unknown_id"_code);
    EXPECT_EQ(shard.engine().totals().live_count, 1u);
}

// An import made the occurrences of a held loop that had come by then before it could set the recurring message aside.
TEST(Holding, a_put_may_be_held) {
    for (const bool restarts : {false, true}) {
        TrialEngine first;
        PutCommand put;
        put.queue = "q";
        put.is_held = true;
        put.body = "aside";
        const ReplyToken waits = first.submit(LeaseCommand{"default", "q", 1, {}, 60'000});
        const auto aside = first.ask<PutAnswer>(put);
        EXPECT_EQ(aside.state, State::held);
        put.when.delay_ms = 1'000;
        put.repeat.emplace().every_ms = 10;
        put.repeat->times = 3;
        const auto loop = first.ask<PutAnswer>(put);
        EXPECT_EQ(loop.state, State::held);
        EXPECT_EQ(first.engine().counters().held, 2u);
        std::optional<TrialEngine> second;
        if (restarts) second.emplace(EngineOptions{}, first);
        TrialEngine& shard = restarts ? *second : first;
        shard.turn(5'000);
        EXPECT_FALSE(shard.replies.contains(waits)) << "somebody waits, and gets none of them";
        EXPECT_EQ(get(shard, aside.id).row.state.state, State::held);
        EXPECT_EQ(shard.engine().queue_sums().held, 2u);
        EXPECT_EQ(shard.engine().counters().spawned, 0u);
        EXPECT_EQ(kick(shard, loop.id).outcome, ChangeOutcome::kicked);
        shard.turn();
        EXPECT_EQ(shard.engine().counters().spawned, 3u) << "with the times that its rule says";
        EXPECT_EQ(kick(shard, aside.id).outcome, ChangeOutcome::kicked);
        EXPECT_EQ(shard.lease(10).size(), restarts ? 4u : 3u) << "one went to who waited";
    }
}

TEST(Holding, a_repeated_held_put_returns_the_current_state) {
    TrialEngine shard;
    PutCommand put;
    put.queue = "q";
    put.key = "k";
    put.request_hash = 1;
    put.is_held = true;
    const auto aside = shard.ask<PutAnswer>(put);
    const auto again = shard.ask<PutAnswer>(put);
    EXPECT_EQ(again.id, aside.id);
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.state, State::held);
    kick(shard, aside.id);
    EXPECT_EQ(shard.ask<PutAnswer>(put).state, State::ready) << "what was brought back is not set aside once more";
}

TEST(Holding, a_held_message_expires_and_blocks_those_with_its_order_key) {
    TrialEngine shard;
    PutCommand put;
    put.queue = "q";
    put.order_key = "o";
    put.expires = When{std::nullopt, 1'000};
    put.is_held = true;
    const auto aside = shard.ask<PutAnswer>(put);
    put.is_held = false;
    put.expires.reset();
    const auto behind = shard.ask<PutAnswer>(put);
    EXPECT_TRUE(shard.lease().empty());
    shard.turn(1'000);
    EXPECT_EQ(get(shard, aside.id).row.state.state, State::expired);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].id, behind.id);
}

TEST(Holding, a_lease_may_end_by_holding_its_message) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = shard.put(0);
    const LeaseToken lease = shard.lease().at(0).lease;
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(HoldLeaseCommand{lease}).outcome, LeaseOutcome::held);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{lease, 0}).outcome, LeaseOutcome::expired);
    EXPECT_EQ(get(shard, id).row.state.state, State::held);
    kick(shard, id);
    ASSERT_EQ(shard.lease().size(), 1u) << "a kick gives it all its attempts again";
}

TEST(Holding, a_held_message_stays_held_on_disk_and_over_a_restart) {
    EngineOptions options;
    options.segment_bytes = 8192;
    TrialEngine shard(options);
    const MessageId id = shard.put(1'000);
    hold(shard, id);
    shard.move_to_index();
    shard.turn(10'000);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(get(shard, id).row.state.state, State::held);
    EXPECT_EQ(kick(shard, id).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.lease().size(), 1u);
    TrialEngine again({}, shard);
    EXPECT_EQ(get(again, id).row.state.state, State::ready);
}

TEST(DeadLetters, a_kick_returns_one_with_all_its_attempts) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = put_dead(shard, "q", "hello");
    const ChangeAnswer answer = kick(shard, id);
    EXPECT_EQ(answer.outcome, ChangeOutcome::kicked);
    EXPECT_EQ(answer.attempts, 1u);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].attempt, 2u);
    EXPECT_EQ(messages[0].body, "hello");
    EXPECT_EQ(fail(shard, messages[0].lease).outcome, LeaseOutcome::dead);
    EXPECT_EQ(kick(shard, id).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{shard.lease().at(0).lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(kick(shard, id).outcome, ChangeOutcome::delivered);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
}

TEST(DeadLetters, a_redrive_returns_the_oldest_first) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId first = put_dead(shard);
    shard.turn(1);
    const MessageId second = put_dead(shard);
    shard.turn(1);
    const MessageId third = put_dead(shard);
    const RedriveAnswer some = redrive(shard, 2);
    EXPECT_EQ(some.redriven, 2u);
    EXPECT_TRUE(some.more);
    EXPECT_EQ(get(shard, first).row.state.state, State::ready);
    EXPECT_EQ(get(shard, second).row.state.state, State::ready);
    EXPECT_EQ(get(shard, third).row.state.state, State::dead);
    const RedriveAnswer rest = redrive(shard);
    EXPECT_EQ(rest.redriven, 1u);
    EXPECT_FALSE(rest.more);
    EXPECT_EQ(redrive(shard).redriven, 0u);
    EXPECT_EQ(shard.lease().size(), 3u);
    EXPECT_EQ(shard.ask<Error>(RedriveCommand{"default", "never used", std::nullopt}).code, "unknown_queue"_code);
    EXPECT_EQ(shard.ask<Error>(RedriveCommand{"default", "q", 0}).code, "bad_max"_code);
    EXPECT_EQ(shard.ask<Error>(RedriveCommand{"default", "q", 100'001}).code, "bad_max"_code);
}

TEST(DeadLetters, a_redrive_merges_those_on_disk_with_those_in_memory_in_chunks) {
    EngineOptions options = with_rule({1, 0, 1'000, 0, 0});
    options.redrive_chunk = 3;
    options.segment_bytes = 65'536;
    TrialEngine shard(options);
    std::vector<MessageId> ids;
    put_dead(shard, 10, 1, ids);
    shard.move_to_index();
    ASSERT_EQ(shard.engine().counters().dead_lettered, 10u);
    EXPECT_EQ(get(shard, ids[4]).row.reason, "because") << "from the index";
    for (int i = 0; i < 5; ++i) {
        shard.turn(1);
        ids.push_back(put_dead(shard));
    }
    kick(shard, ids[4]);
    EXPECT_EQ(redrive(shard, 12).redriven, 12u);
    for (int i = 0; i < 13; ++i) EXPECT_EQ(get(shard, ids[static_cast<std::size_t>(i)]).row.state.state, State::ready);
    const RedriveAnswer rest = redrive(shard);
    EXPECT_EQ(rest.redriven, 2u);
    EXPECT_FALSE(rest.more);
    EXPECT_EQ(shard.lease(100).size(), 15u);
}

// It returned all of them, however few the queue may hold.
TEST(DeadLetters, a_redrive_respects_the_limit_of_the_queue) {
    for (const std::uint32_t chunk : {1u, 2u, 100u}) {
        EngineOptions options = with_rule({1, 0, 1'000, 0, 0});
        options.redrive_chunk = chunk;
        TrialEngine shard(options);
        for (int i = 0; i < 6; ++i) put_dead(shard);
        ConfigureQueueCommand set{"default", "q", ConfigureQueueCommand::What::set, {}};
        set.settings.pending_max = 4;
        shard.ask<QueueAnswer>(set);
        shard.put(1000);
        const RedriveAnswer some = redrive(shard);
        EXPECT_EQ(some.redriven, 3u) << chunk;
        EXPECT_TRUE(some.more);
        EXPECT_EQ(shard.engine().counters().pending, 4u);
        EXPECT_EQ(shard.ask<Error>(RedriveCommand{"default", "q", {}}).code, "queue_full"_code);
        for (const Delivered& back : shard.lease(2)) shard.ask<LeaseEndAnswer>(AckCommand{back.lease});
        EXPECT_EQ(redrive(shard).redriven, 2u);
        EXPECT_EQ(shard.engine().queue_sums().dead, 1u);
        EXPECT_TRUE(shard.engine().is_idle());
    }
}

// A kick returned one dead letter after the other, five into a queue with a limit of two; only a redrive checked the
// limit.
TEST(DeadLetters, a_kick_respects_the_limit_of_the_queue) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    std::vector<MessageId> dead;
    for (int i = 0; i < 3; ++i) dead.push_back(put_dead(shard));
    ConfigureQueueCommand set{"default", "q", ConfigureQueueCommand::What::set, {}};
    set.settings.pending_max = 2;
    shard.ask<QueueAnswer>(set);
    const MessageId held = shard.put(0);
    EXPECT_EQ(shard.ask<ChangeAnswer>(HoldCommand{"default", held}).outcome, ChangeOutcome::held);
    shard.submit(KickCommand{"default", dead[0]});
    const ReplyToken one_too_many = shard.submit(KickCommand{"default", dead[1]});
    shard.turn();
    EXPECT_EQ(shard.take<Error>(one_too_many).code, "queue_full"_code) << "the other one stands in the same batch";
    EXPECT_EQ(shard.ask<Error>(KickCommand{"default", dead[2]}).code, "queue_full"_code);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", held}).outcome, ChangeOutcome::kicked)
        << "it was among the pending all the while";
    EXPECT_EQ(shard.engine().counters().pending, 2u);
    shard.ask<LeaseEndAnswer>(AckCommand{shard.lease(1).at(0).lease});
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", dead[2]}).outcome, ChangeOutcome::kicked);
    EXPECT_EQ(shard.engine().queue_sums().dead, 1u);
}

TEST(DeadLetters, a_redrive_is_answered_when_all_of_it_is_durable) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    put_dead(shard);
    shard.hold_commits = true;
    const ReplyToken token = shard.submit(RedriveCommand{"default", "q", std::nullopt});
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    EXPECT_TRUE(shard.lease().empty());
    shard.hold_commits = false;
    shard.settle();
    EXPECT_EQ(shard.take<RedriveAnswer>(token).redriven, 1u);
}

// A relocation used to forget when a keyed message had died, so that its key held forever.
TEST(DeadLetters, a_relocation_keeps_when_and_why_a_message_died) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = put_dead(shard);
    shard.turn(77);
    EXPECT_TRUE(shard.ask<RelocateAnswer>(relocation_of(shard, id)).relocated);
    EXPECT_EQ(shard.last().ended_ms, kStart);
    EXPECT_EQ(shard.last().reason, "because");
    EXPECT_EQ(get(shard, id).row.ended_ms, kStart);
    EXPECT_EQ(get(shard, id).row.reason, "because");
    EXPECT_EQ(redrive(shard).redriven, 1u);
}

// The rows of the index were read past a message that memory still knew better, and it stayed dead.
TEST(DeadLetters, a_redrive_misses_nothing_that_is_both_on_disk_and_in_memory) {
    EngineOptions options = with_rule({1, 0, 1'000, 0, 0});
    options.redrive_chunk = 1;
    options.segment_bytes = 65'536;
    options.sweep_chunk = 1;  // the sweep comes slowly behind the table
    TrialEngine shard(options);
    for (int i = 0; i < 60; ++i) shard.put(2'000'000, "first to be swept", "other");
    for (int i = 0; i < 6; ++i) {
        put_dead(shard);
        shard.turn(1);
    }
    shard.move_to_index();
    EXPECT_EQ(redrive(shard).redriven, 6u);
    EXPECT_EQ(shard.lease(100).size(), 6u);
}

// A redrive treated each dead letter in the batch as one that a kick returns, and skipped those that compaction was
// only relocating.
TEST(DeadLetters, a_redrive_waits_for_a_message_that_is_being_relocated) {
    TrialEngine shard(with_rule({1, 0, 1'000, 0, 0}));
    const MessageId id = put_dead(shard);
    shard.hold_lookups = true;
    const ReplyToken token = shard.submit(RedriveCommand{"default", "q", std::nullopt});
    shard.turn();
    shard.hold_lookups = false;
    shard.submit(relocation_of(shard, id));
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(shard.take<RedriveAnswer>(token).redriven, 1u);
    EXPECT_EQ(get(shard, id).row.state.state, State::ready);
}

TEST(EngineRetries, a_redriven_message_does_not_expire_any_more) {
    EngineOptions options;
    options.retry.attempts = 1;
    TrialEngine shard(options);
    PutCommand command{.queue = "q"};
    command.expires = When{std::nullopt, 1000};
    const MessageId id = shard.ask<PutAnswer>(command).id;
    shard.ask<LeaseEndAnswer>(FailCommand{shard.lease().at(0).lease, "no", std::nullopt});
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", id}).outcome, ChangeOutcome::kicked);
    shard.turn(5000);
    ASSERT_EQ(shard.lease().size(), 1u);
}

}  // namespace
}  // namespace duewheel::engine_retries_test
