// Discarding dead letters: all of a queue, or a single one. Crashes at any point, and the boundary between the tiers,
// are tested by the simulator.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_dead_letters.h"

namespace duewheel::engine_discard_test {
namespace {

using What = ConfigureQueueCommand::What;

EngineOptions options() {
    EngineOptions options;
    options.retry.attempts = 1;
    options.segment_bytes = 32'768;
    return options;
}

ConfigureQueueCommand discard_all(std::optional<DueMs> before_ms = std::nullopt, std::string queue = "q") {
    return {"default", std::move(queue), What::discard, {}, false, before_ms};
}

QueueAnswer look(TrialEngine& shard, std::string queue = "q") {
    return shard.ask<QueueAnswer>(DescribeQueueCommand{"default", std::move(queue)});
}

ChangeAnswer discard(TrialEngine& shard, MessageId id) {
    return shard.ask<ChangeAnswer>(DiscardCommand{"default", id});
}

std::uint64_t discarded(const TrialEngine& shard) {
    std::uint64_t count = 0;
    for (const MessageRecord& record : shard.records<MessageRecord>()) {
        if (record.cause != Cause::discarded) continue;
        EXPECT_EQ(record.kind, RecordKind::end);
        EXPECT_EQ(record.state.state, State::cancelled);
        EXPECT_EQ(record.previous.state, State::dead);
        ++count;
    }
    return count;
}

TEST(DiscardOfAQueue, ends_all_dead_letters_and_nothing_else) {
    EngineOptions chunks = options();
    chunks.redrive_chunk = 3;
    TrialEngine shard(chunks);
    std::vector<MessageId> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(put_dead(shard));
    const MessageId elsewhere = put_dead(shard, "other");
    const MessageId waits = shard.put(60'000);
    shard.turn(10);
    const QueueAnswer begun = shard.ask<QueueAnswer>(discard_all());
    EXPECT_EQ(begun.counts.dead, 8u) << "so many there are";
    EXPECT_EQ(begun.settings.discard_before_ms, kStart + 10);
    EXPECT_EQ(begun.settings.discard_started_ms, kStart + 10);
    const MessageId later = put_dead(shard);
    for (int i = 0; i < 5; ++i) shard.turn();
    for (const MessageId id : ids) EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(discarded(shard), 8u);
    EXPECT_EQ(state_of(shard, elsewhere), State::dead);
    EXPECT_EQ(state_of(shard, waits), State::scheduled);
    EXPECT_EQ(state_of(shard, later), State::dead);
    EXPECT_EQ(look(shard).counts.dead, 1u);
    EXPECT_EQ(look(shard).settings.discard_before_ms, 0) << "it is over";
    EXPECT_EQ(look(shard).discarded, 0u);
    EXPECT_EQ(shard.engine().counters().discarded, 8u);
    EXPECT_EQ(shard.engine().counters().cancelled, 0u);
    EXPECT_GT(shard.engine().next_wakeup(), kStart + 10);
}

TEST(DiscardOfAQueue, continues_while_other_settings_are_set) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    shard.turn(1);
    shard.hold_lookups = true;  // the lookup of the dead letters has no result yet
    shard.ask<QueueAnswer>(discard_all());
    ConfigureQueueCommand set{"default", "q", What::set, {}};
    set.settings.lease_ms = 5000;
    const QueueAnswer answer = shard.ask<QueueAnswer>(set);
    EXPECT_EQ(answer.settings.lease_ms, 5000);
    EXPECT_EQ(answer.settings.discard_before_ms, kStart + 1);
    EXPECT_EQ(answer.settings.discard_started_ms, kStart + 1);
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(look(shard).settings.lease_ms, 5000);
    EXPECT_EQ(look(shard).settings.discard_before_ms, 0);
}

// Two messages die in one millisecond, one before the call and one after it: only the first is to be discarded.
TEST(DiscardOfAQueue, waits_for_the_end_of_the_millisecond_of_a_dead_letter) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    const ReplyToken token = shard.submit(discard_all());
    shard.turn();
    EXPECT_FALSE(shard.replies.contains(token));
    EXPECT_EQ(shard.engine().next_wakeup(), kStart);
    shard.turn(1);
    const MessageId later = put_dead(shard);
    EXPECT_EQ(shard.take<QueueAnswer>(token).settings.discard_before_ms, kStart + 1);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(state_of(shard, later), State::dead);
    TrialEngine after(options(), shard);
    const ReplyToken again = after.submit(discard_all());
    after.turn();
    EXPECT_FALSE(after.replies.contains(again)) << "of an earlier run it is not known when the last one died";
    after.turn(1);
    after.take<QueueAnswer>(again);
    EXPECT_EQ(state_of(after, later), State::cancelled);
}

TEST(DiscardOfAQueue, frees_the_space_of_their_records) {
    TrialEngine shard(options());
    put_dead(shard);
    put_dead(shard);
    shard.turn(1);
    EXPECT_NE(shard.engine().totals().needed_bytes, 0u);
    shard.ask<QueueAnswer>(discard_all());
    shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::remove, {}, {}});
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
}

TEST(DiscardOfAQueue, may_spare_later_dead_letters) {
    TrialEngine shard(options());
    const MessageId first = put_dead(shard);
    shard.turn(100);
    const MessageId second = put_dead(shard);
    shard.turn(100);
    EXPECT_EQ(shard.ask<QueueAnswer>(discard_all(kStart)).settings.discard_before_ms, kStart);
    EXPECT_EQ(state_of(shard, first), State::dead) << "it died at that very millisecond, not before";
    shard.ask<QueueAnswer>(discard_all(kStart + 100));
    EXPECT_EQ(state_of(shard, first), State::cancelled);
    EXPECT_EQ(state_of(shard, second), State::dead);
    EXPECT_EQ(shard.ask<QueueAnswer>(discard_all(kStart + 1'000'000)).settings.discard_before_ms, kStart + 200)
        << "never who dies later";
    EXPECT_EQ(state_of(shard, second), State::cancelled);
}

TEST(DiscardOfAQueue, reaches_messages_that_are_only_in_the_index) {
    EngineOptions chunks = options();
    chunks.redrive_chunk = 2;
    TrialEngine shard(chunks);
    std::vector<MessageId> ids;
    put_dead(shard, 5, 1, ids);
    shard.move_to_index();
    put_dead(shard, 3, 1, ids);
    const std::uint64_t commits = shard.engine().counters().commits;
    shard.ask<QueueAnswer>(discard_all());
    for (int i = 0; i < 8; ++i) shard.turn();
    for (const MessageId id : ids) EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(discarded(shard), 8u);
    EXPECT_GE(shard.engine().counters().commits, commits + 5) << "a chunk a batch";
    EXPECT_EQ(look(shard).settings.discard_before_ms, 0);
}

// Between the response and the end of the last one, a client may redrive one of them.
TEST(DiscardOfAQueue, is_in_effect_from_its_response_on) {
    TrialEngine shard(options());
    const MessageId kicked = put_dead(shard);
    const MessageId redriven = put_dead(shard);
    shard.turn(1);
    shard.hold_lookups = true;  // the walk does not get on
    shard.ask<QueueAnswer>(discard_all());
    EXPECT_EQ(look(shard).counts.dead, 2u);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", kicked}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(state_of(shard, kicked), State::cancelled);
    const ReplyToken redrive = shard.submit(RedriveCommand{"default", "q", std::nullopt});
    shard.turn(1);
    const MessageId later = put_dead(shard);
    EXPECT_EQ(look(shard).discarded, 1u);
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(shard.take<RedriveAnswer>(redrive).redriven, 0u);
    EXPECT_EQ(state_of(shard, redriven), State::cancelled);
    EXPECT_EQ(shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", std::nullopt}).redriven, 1u);
    EXPECT_EQ(state_of(shard, later), State::ready);
    EXPECT_EQ(discarded(shard), 2u);
}

// The mark excludes messages that died in its own millisecond: a kick or a redrive still finds them.
TEST(DiscardOfAQueue, dead_letters_at_its_mark_may_be_redriven) {
    TrialEngine shard(options());
    const MessageId before = put_dead(shard);
    shard.turn(1);
    const MessageId kicked = put_dead(shard);
    const MessageId redriven = put_dead(shard);
    shard.turn(5);
    shard.hold_lookups = true;  // the walk does not get on
    shard.ask<QueueAnswer>(discard_all(kStart + 1));
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", before}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", kicked}).outcome, ChangeOutcome::kicked);
    shard.hold_lookups = false;
    shard.answer_lookups();
    EXPECT_EQ(shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", std::nullopt}).redriven, 1u);
    EXPECT_NE(state_of(shard, redriven), State::cancelled);
    EXPECT_EQ(look(shard).counts.dead, 0u);
}

// The redrive has rows from the index in hand when the mark comes.
TEST(DiscardOfAQueue, takes_precedence_over_a_redrive_in_progress) {
    EngineOptions chunks = options();
    chunks.redrive_chunk = 2;
    TrialEngine shard(chunks);
    std::vector<MessageId> ids;
    put_dead(shard, 7, 1, ids);
    shard.move_to_index();
    shard.hold_lookups = true;
    const ReplyToken redrive = shard.submit(RedriveCommand{"default", "q", std::nullopt});
    shard.turn();
    const ReplyToken answer = shard.submit(discard_all(kStart + 5));
    shard.turn();
    EXPECT_EQ(shard.take<QueueAnswer>(answer).counts.dead, 7u);
    shard.hold_lookups = false;
    for (int i = 0; i < 10; ++i) {
        shard.answer_lookups();
        shard.turn();
    }
    EXPECT_EQ(shard.take<RedriveAnswer>(redrive).redriven, 2u);
    for (std::size_t i = 0; i < 7; ++i)
        EXPECT_EQ(state_of(shard, ids[i]), i < 5 ? State::cancelled : State::ready) << i;
}

TEST(DiscardOfAQueue, includes_a_later_one) {
    TrialEngine shard(options());
    const MessageId first = put_dead(shard);
    shard.turn(1);
    shard.hold_lookups = true;
    shard.ask<QueueAnswer>(discard_all());
    shard.turn(4);
    const MessageId second = put_dead(shard);
    shard.turn(1);
    EXPECT_EQ(shard.ask<QueueAnswer>(discard_all(kStart)).settings.discard_before_ms, kStart + 1)
        << "what was promised before stays promised";
    EXPECT_EQ(shard.ask<QueueAnswer>(discard_all()).settings.discard_before_ms, kStart + 6);
    shard.hold_lookups = false;
    shard.answer_lookups();
    for (int i = 0; i < 3; ++i) shard.turn();
    EXPECT_EQ(state_of(shard, first), State::cancelled);
    EXPECT_EQ(state_of(shard, second), State::cancelled);
    EXPECT_EQ(look(shard).settings.discard_before_ms, 0);
}

TEST(DiscardOfAQueue, takes_turns_with_another_queue) {
    TrialEngine shard(options());
    for (const char* queue : {"a", "b", "c"}) put_dead(shard, queue);
    shard.turn(1);
    std::vector<ReplyToken> tokens;
    for (const char* queue : {"a", "b", "c"}) tokens.push_back(shard.submit(discard_all({}, queue)));
    for (int i = 0; i < 6; ++i) shard.turn();
    for (const ReplyToken token : tokens) shard.take<QueueAnswer>(token);
    EXPECT_EQ(discarded(shard), 3u);
    for (const char* queue : {"a", "b", "c"}) EXPECT_EQ(look(shard, queue).settings.discard_before_ms, 0) << queue;
}

TEST(DiscardOfAQueue, continues_after_a_crash) {
    EngineStart start;
    start.totals.id_counter = 5;
    start.totals.server_time_ms = kStart;
    QueueSettings settings;
    settings.revision = 2;
    settings.discard_before_ms = kStart - 10;
    settings.discard_started_ms = kStart - 11;
    start.queue_states.push_back({{"default", "q"}, {0, 0, 2}, settings, 77, 50});
    TrialEngine shard(options(), start, [](TrialEngine& before) {
        for (const MessageId id : {3 * kShardsMax, 4 * kShardsMax}) {
            MessageRow row;
            row.id = id;
            row.state.queue = "q";
            row.state.state = State::dead;
            row.state.version = 2;
            row.ended_ms = kStart - (id == 3 * kShardsMax ? 11 : 10);
            before.index[id] = row;
        }
    });
    for (int i = 0; i < 5; ++i) shard.turn();
    EXPECT_EQ(discarded(shard), 1u);
    EXPECT_EQ(state_of(shard, 3 * kShardsMax), State::cancelled);
    EXPECT_EQ(look(shard).counts.dead, 1u);
    EXPECT_EQ(look(shard).settings.discard_before_ms, 0);
}

TEST(DiscardOfAQueue, ends_when_the_settings_of_its_queue_are_removed) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    shard.turn(1);
    shard.hold_lookups = true;
    shard.ask<QueueAnswer>(discard_all());
    EXPECT_EQ(shard.ask<Error>(ConfigureQueueCommand{"default", "q", What::remove, {}, {}}).code,
              "queue_not_empty"_code);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<QueueAnswer>(ConfigureQueueCommand{"default", "q", What::remove, {}, {}}).removed, true);
    shard.hold_lookups = false;
    shard.answer_lookups();
    for (int i = 0; i < 3; ++i) shard.turn();
    EXPECT_EQ(look(shard).settings, QueueSettings{});
    EXPECT_GT(shard.engine().next_wakeup(), kStart + 1);
    const MessageId next = put_dead(shard);
    shard.turn(1);
    shard.ask<QueueAnswer>(discard_all());
    shard.turn();
    EXPECT_EQ(state_of(shard, next), State::cancelled) << "the queue can be discarded again";
}

TEST(DiscardOfAQueue, without_dead_letters_writes_nothing) {
    TrialEngine shard(options());
    shard.put(60'000);
    const Sequence before = shard.engine().totals().sequence;
    EXPECT_EQ(shard.ask<QueueAnswer>(discard_all()).settings.discard_before_ms, 0);
    EXPECT_EQ(shard.ask<Error>(discard_all({}, "never used")).code, "unknown_queue"_code);
    EXPECT_EQ(shard.engine().totals().sequence, before);
}

// Those that are kept long enough go by the same walk, of which there is one at a time.
TEST(DiscardOfAQueue, waits_for_an_expiry_in_progress) {
    EngineOptions kept = options();
    kept.dead_kept_ms = 1'000;
    TrialEngine shard(kept);
    const MessageId old = put_dead(shard, "old");
    const MessageId discarded_one = put_dead(shard);
    shard.turn(500);
    const MessageId young = put_dead(shard);
    shard.hold_lookups = true;
    shard.turn(500);
    shard.ask<QueueAnswer>(discard_all(kStart + 1));
    shard.hold_lookups = false;
    for (int i = 0; i < 5; ++i) {
        shard.answer_lookups();
        shard.turn();
    }
    EXPECT_EQ(state_of(shard, old), State::expired);
    EXPECT_EQ(state_of(shard, discarded_one), State::cancelled);
    EXPECT_EQ(state_of(shard, young), State::dead);
    shard.turn(500);
    EXPECT_EQ(state_of(shard, young), State::expired) << "it is still known that somebody is dead there";
}

TEST(DiscardOfAMessage, ends_a_dead_letter) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    const ChangeAnswer answer = discard(shard, id);
    EXPECT_EQ(answer.outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(answer.attempts, 1u);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    EXPECT_EQ(discarded(shard), 1u);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::cancelled) << "its answer may have been lost";
    EXPECT_EQ(shard.ask<ChangeAnswer>(KickCommand{"default", id}).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(look(shard).counts.dead, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
}

TEST(DiscardOfAMessage, leaves_other_messages_as_they_are) {
    TrialEngine shard(options());
    const MessageId id = shard.put(10);
    const Sequence before = shard.engine().totals().sequence;
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::waiting);
    EXPECT_EQ(shard.engine().totals().sequence, before);
    shard.turn(10);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::waiting);
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::in_flight);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::delivered);
    EXPECT_EQ(shard.ask<Error>(DiscardCommand{"default", 999 * kShardsMax}).code, "unknown_id"_code);
    EXPECT_EQ(shard.ask<Error>(DiscardCommand{"elsewhere", id}).code, "unknown_id"_code);
}

TEST(DiscardOfAMessage, finds_it_in_the_index) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard);
    shard.move_to_index();
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(state_of(shard, id), State::cancelled);
    TrialEngine after(options(), shard);
    EXPECT_EQ(state_of(after, id), State::cancelled) << "the answer came when it was durable";
}

TEST(DiscardOfAMessage, keeps_its_key_for_as_long_as_other_outcomes) {
    TrialEngine shard(options());
    const MessageId id = put_dead(shard, "q", "body", "k");
    shard.turn(1'000);
    EXPECT_EQ(discard(shard, id).outcome, ChangeOutcome::cancelled);
    PutCommand again;
    again.queue = "q";
    again.body = "body";
    again.key = "k";
    const std::int64_t kept_ms = EngineOptions{}.keys_kept_ms;
    shard.turn(kept_ms);
    EXPECT_TRUE(shard.ask<PutAnswer>(again).repeated);
    shard.turn(2);
    EXPECT_FALSE(shard.ask<PutAnswer>(again).repeated);
}

}  // namespace
}  // namespace duewheel::engine_discard_test
