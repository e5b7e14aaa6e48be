// Settings of queues, pause and purge. Crashes and the boundary between the tiers are tested by the simulator.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"

namespace duewheel::engine_settings_test {
namespace {

using What = ConfigureQueueCommand::What;

ConfigureQueueCommand tell(What what, QueueSettings settings = {}, std::string queue = "q") {
    return {"default", std::move(queue), what, settings};
}

QueueAnswer configure(TrialEngine& shard, What what, QueueSettings settings = {}, std::string queue = "q") {
    return shard.ask<QueueAnswer>(tell(what, settings, std::move(queue)));
}

QueueAnswer look(TrialEngine& shard, std::string queue = "q") {
    return shard.ask<QueueAnswer>(DescribeQueueCommand{"default", std::move(queue)});
}

std::uint64_t ends_by(const TrialEngine& shard, Cause cause) {
    std::uint64_t count = 0;
    for (const MessageRecord& record : shard.records<MessageRecord>())
        count += record.kind == RecordKind::end && record.cause == cause ? 1 : 0;
    return count;
}

// ---- settings

TEST(QueueSettingsInEngine, a_queue_can_be_configured_before_its_first_put) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<Error>(DescribeQueueCommand{"default", "q"}).code, "unknown_queue"_code);
    QueueSettings settings;
    settings.paused = true;
    const QueueAnswer set = configure(shard, What::set, settings);
    EXPECT_TRUE(set.settings.paused);
    EXPECT_EQ(set.settings.revision, 1u);
    EXPECT_EQ(look(shard).settings, set.settings);
    shard.put(0);
    EXPECT_TRUE(shard.lease().empty());
}

TEST(QueueSettingsInEngine, set_replaces_all_of_them_and_remove_ends_them) {
    TrialEngine shard;
    QueueSettings settings;
    settings.paused = true;
    settings.pending_max = 5;
    configure(shard, What::set, settings);
    const QueueAnswer again = configure(shard, What::set, QueueSettings{});
    EXPECT_FALSE(again.settings.paused);
    EXPECT_EQ(again.settings.pending_max, 0u);
    EXPECT_EQ(again.settings.revision, 2u);
    EXPECT_NE(shard.engine().totals().digest, 0u) << "settings are part of what the log adds up to";
    EXPECT_NE(shard.engine().totals().needed_bytes, 0u);
    EXPECT_EQ(configure(shard, What::remove).removed, true);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
    EXPECT_EQ(configure(shard, What::remove).removed, false);
}

TEST(QueueSettingsInEngine, what_changes_nothing_writes_nothing) {
    TrialEngine shard;
    configure(shard, What::pause);
    const Sequence before = shard.engine().totals().sequence;
    EXPECT_TRUE(configure(shard, What::pause).settings.paused);
    EXPECT_EQ(configure(shard, What::purge).settings.purge_through, 0u) << "there is nothing in it";
    EXPECT_EQ(shard.engine().totals().sequence, before);
}

// They were answered as if there were such a queue, so that a misspelt name went unnoticed.
TEST(QueueSettingsInEngine, commands_on_an_unknown_queue_are_refused_unless_they_create_it) {
    TrialEngine shard;
    const std::vector<Command> refused = {tell(What::resume), tell(What::purge), RedriveCommand{"default", "q", {}}};
    for (const Command& command : refused) {
        const Error error = shard.ask<Error>(command);
        EXPECT_EQ(error.code, "unknown_queue"_code) << command.index();
        EXPECT_EQ(error.field, "queue");
    }
    EXPECT_EQ(configure(shard, What::remove).removed, false);
    EXPECT_TRUE(configure(shard, What::pause).settings.paused);
    EXPECT_FALSE(configure(shard, What::resume).settings.paused);
    EXPECT_EQ(configure(shard, What::purge).settings.purge_through, 0u);
    EXPECT_EQ(shard.ask<RedriveAnswer>(RedriveCommand{"default", "q", {}}).redriven, 0u);
}

// Settings of something else ended a pause.
TEST(QueueSettingsInEngine, settings_without_paused_keep_a_pause) {
    TrialEngine shard;
    configure(shard, What::pause);
    ConfigureQueueCommand set = tell(What::set);
    set.settings.pending_max = 5;
    set.keeps_pause = true;
    const QueueAnswer answer = shard.ask<QueueAnswer>(set);
    EXPECT_TRUE(answer.settings.paused);
    EXPECT_EQ(answer.settings.pending_max, 5u);
    shard.put(0);
    EXPECT_TRUE(shard.lease().empty());
    configure(shard, What::resume);
    EXPECT_FALSE(shard.ask<QueueAnswer>(set).settings.paused);
    set.keeps_pause = false;
    set.settings.paused = true;
    EXPECT_TRUE(shard.ask<QueueAnswer>(set).settings.paused);
}

TEST(QueueSettingsInEngine, are_not_removed_from_a_queue_that_holds_messages) {
    TrialEngine shard;
    configure(shard, What::pause);
    const MessageId id = shard.put(60'000);
    EXPECT_EQ(shard.ask<Error>(tell(What::remove)).code, "queue_not_empty"_code);
    shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    EXPECT_EQ(configure(shard, What::remove).removed, true);
}

// What is no put goes first, up to three quarters of a batch, and the rest behind the puts: there a removal saw nothing
// of them. The put was then answered first, and its message lacked the settings under which it was put (seed 90111).
TEST(QueueSettingsInEngine, are_not_removed_behind_a_put_of_the_same_batch) {
    EngineOptions options;
    options.batch_operations_max = 8;
    TrialEngine shard(options);
    configure(shard, What::pause);
    for (const char* other : {"a", "b", "c", "d", "e", "f"}) {
        shard.submit(ConfigureQueueCommand{"default", other, What::pause, {}});
    }
    const ReplyToken removal = shard.submit(tell(What::remove));
    const ReplyToken put = shard.submit(PutCommand{.queue = "q"});
    shard.turn();
    shard.take<PutAnswer>(put);
    EXPECT_EQ(shard.take<Error>(removal).code, "queue_not_empty"_code);
}

TEST(QueueSettingsInEngine, commands_on_one_queue_in_one_batch_are_carried_out_in_turn) {
    TrialEngine shard;
    const ReplyToken pause = shard.submit(tell(What::pause));
    const ReplyToken resume = shard.submit(tell(What::resume));
    const ReplyToken again = shard.submit(tell(What::pause));
    shard.turn();
    EXPECT_TRUE(shard.take<QueueAnswer>(pause).settings.paused);
    EXPECT_EQ(shard.take<QueueAnswer>(resume).settings.revision, 2u);
    EXPECT_EQ(shard.take<QueueAnswer>(again).settings.revision, 3u);
}

TEST(QueueSettingsInEngine, a_full_queue_refuses_a_put_at_its_limit_and_not_before) {
    TrialEngine shard;
    QueueSettings settings;
    settings.pending_max = 2;
    configure(shard, What::set, settings);
    const ReplyToken first = shard.submit(PutCommand{.queue = "q"});
    const ReplyToken second = shard.submit(PutCommand{.queue = "q"});
    const ReplyToken third = shard.submit(PutCommand{.queue = "q"});
    const ReplyToken elsewhere = shard.submit(PutCommand{.queue = "other"});
    shard.turn();
    const MessageId id = shard.take<PutAnswer>(first).id;
    shard.take<PutAnswer>(second);
    EXPECT_EQ(shard.take<Error>(third).code, "queue_full"_code) << "the other two stand in the same batch";
    shard.take<PutAnswer>(elsewhere);
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "q"}).code, "queue_full"_code);
    shard.ask<ChangeAnswer>(CancelCommand{"default", id});
    shard.put(0);
}

TEST(QueueSettingsInEngine, a_lease_without_a_time_uses_the_default_of_the_queue) {
    TrialEngine shard;
    const LeaseCommand lease{"default", "q", 1, std::nullopt, 0};
    shard.put(0);
    EXPECT_EQ(shard.ask<LeaseAnswer>(lease).messages.at(0).lease_until_ms, kStart + 30'000);
    QueueSettings settings;
    settings.lease_ms = 5'000;
    configure(shard, What::set, settings);
    shard.put(0);
    EXPECT_EQ(shard.ask<LeaseAnswer>(lease).messages.at(0).lease_until_ms, kStart + 5'000);
    settings.lease_ms = 999;
    EXPECT_EQ(shard.ask<Error>(tell(What::set, settings)).code, "lease_too_short"_code);
}

TEST(QueueSettingsInEngine, a_start_finds_settings_and_counts) {
    EngineStart start;
    QueueSettings settings;
    settings.revision = 4;
    settings.paused = true;
    start.queue_states.push_back({{"default", "q"}, {}, settings, 77, 50});
    TrialEngine shard({}, start);
    shard.put(0);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(configure(shard, What::resume).settings.revision, 5u);
    EXPECT_EQ(shard.lease().size(), 1u);
    const ConfRecord conf = shard.records<ConfRecord>().at(0);
    EXPECT_EQ(conf.log_position, 77u);
    EXPECT_EQ(conf.record_bytes, 50u);
    EXPECT_EQ(conf.revision_before, 4u);
}

TEST(QueueSettingsInEngine, relocating_settings_does_not_change_them) {
    TrialEngine shard;
    configure(shard, What::pause);
    const Sequence log_position = shard.engine().totals().sequence;
    const Totals before = shard.engine().totals();
    EXPECT_FALSE(shard.ask<RelocateAnswer>(RelocateSettingsCommand{"default", "q", log_position - 1}).relocated);
    EXPECT_TRUE(shard.ask<RelocateAnswer>(RelocateSettingsCommand{"default", "q", log_position}).relocated);
    EXPECT_EQ(shard.engine().totals().digest, before.digest);
    EXPECT_FALSE(shard.ask<RelocateAnswer>(RelocateSettingsCommand{"default", "q", log_position}).relocated)
        << "it stands elsewhere";
    EXPECT_EQ(look(shard).settings.revision, 1u);
}

// ---- what is known of queues

TEST(QueueCountsInEngine, follow_messages_through_their_lives) {
    TrialEngine shard;
    shard.put(0);
    shard.put(0);
    shard.put(60'000);
    const auto messages = shard.lease(1);
    QueueAnswer queue = look(shard);
    EXPECT_EQ(queue.counts.pending, 3u);
    EXPECT_EQ(queue.ready, 1u);
    EXPECT_EQ(queue.leased, 1u);
    EXPECT_FALSE(queue.backlog_on_disk);
    shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease});
    EXPECT_EQ(look(shard).counts.pending, 2u);
    EXPECT_EQ(look(shard).leased, 0u);
}

TEST(QueueList, lists_all_queues_by_name) {
    TrialEngine shard;
    for (const char* name : {"c", "a", "b", "d"}) shard.put(0, "body", name);
    PutCommand elsewhere;
    elsewhere.name_space = "other";
    elsewhere.queue = "b";
    shard.ask<PutAnswer>(elsewhere);
    const auto names = [&](std::string after, std::uint32_t limit) {
        const auto list = shard.ask<QueueListAnswer>(ListQueuesCommand{"default", std::move(after), limit});
        std::string text;
        for (const QueueAnswer& queue : list.queues) text += queue.queue;
        return text + (list.complete ? "" : "...");
    };
    EXPECT_EQ(names("", 3), "abc...");
    EXPECT_EQ(names("c", 3), "d");
    EXPECT_EQ(names("", 4), "abcd");
    EXPECT_EQ(names("d", 4), "");
    shard.put(0, "body", "bb");
    const auto begin_with_b = shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "", 1, "b"});
    ASSERT_EQ(begin_with_b.queues.size(), 1u);
    EXPECT_EQ(begin_with_b.queues.front().queue, "b");
    EXPECT_FALSE(begin_with_b.complete);
    const auto following = shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "b", 1, "b"});
    ASSERT_EQ(following.queues.size(), 1u);
    EXPECT_EQ(following.queues.front().queue, "bb");
    EXPECT_TRUE(following.complete) << "what follows begins with another letter";
    EXPECT_EQ(shard.ask<Error>(ListQueuesCommand{"default", "", 0}).code, "out_of_range"_code);
    EXPECT_EQ(shard.ask<Error>(ListQueuesCommand{"default", "", 1001}).code, "out_of_range"_code);
}

TEST(QueueList, unused_names_are_removed) {
    EngineOptions options;
    options.segment_bytes = 32'768;
    options.queues_max = 3;
    TrialEngine shard(options);
    shard.put(0, "body", "once");
    configure(shard, What::pause, {}, "configured");
    shard.put(3'600'000, "body", "filler");
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "more"}).code, "queue_limit"_code);
    const auto messages = shard.ask<LeaseAnswer>(LeaseCommand{"default", "once", 1, 30'000, 0}).messages;
    shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease});
    EXPECT_EQ(look(shard, "once").counts.pending, 0u) << "its outcome still names it";
    shard.move_to_index();
    EXPECT_EQ(shard.ask<Error>(DescribeQueueCommand{"default", "once"}).code, "unknown_queue"_code);
    EXPECT_TRUE(look(shard, "configured").settings.paused);
    EXPECT_NE(look(shard, "filler").counts.pending, 0u);
    shard.put(0, "body", "more");
    EXPECT_EQ(look(shard, "more").counts.pending, 1u) << "under the number of the one that went";
    EXPECT_EQ(shard.engine().counters().queues, 3u);
}

// ---- pause

TEST(Pause, delivers_nothing_while_firing_continues) {
    TrialEngine shard;
    shard.put(1'000);
    const ReplyToken waits = shard.submit(LeaseCommand{"default", "q", 1, 30'000, 60'000});
    shard.turn();
    configure(shard, What::pause);
    shard.turn(1'000);
    EXPECT_FALSE(shard.replies.contains(waits)) << "the consumer waits on";
    EXPECT_EQ(look(shard).ready, 1u) << "and the message is due";
    EXPECT_EQ(look(shard).waiters, 1u);
    configure(shard, What::resume);
    shard.turn();
    EXPECT_EQ(shard.take<LeaseAnswer>(waits).messages.size(), 1u);
}

TEST(Pause, does_not_affect_leased_messages) {
    TrialEngine shard;
    shard.put(0);
    const auto messages = shard.lease();
    configure(shard, What::pause);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ExtendCommand{messages.at(0).lease}).outcome, LeaseOutcome::extended);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages.at(0).lease}).outcome, LeaseOutcome::done);
}

TEST(Pause, answers_a_consumer_that_does_not_wait_at_once) {
    TrialEngine shard;
    shard.put(0);
    configure(shard, What::pause);
    EXPECT_TRUE(shard.lease().empty());
    shard.put(0, "body", "other");
    EXPECT_EQ(shard.ask<LeaseAnswer>(LeaseCommand{"default", "other", 1, 30'000, 0}).messages.size(), 1u);
}

// ---- purge

TEST(QueueSettingsInEngine, what_applies_to_a_queue_is_its_own_rule_completed_by_that_of_the_server) {
    EngineOptions options;
    options.retry = {7, 2'000, 3'000, 60'000, 100};
    options.lease_default_ms = 45'000;
    TrialEngine shard(options);
    shard.put(0);
    EXPECT_EQ(look(shard).in_force->lease_ms, 45'000);
    EXPECT_EQ(look(shard).in_force->retry, options.retry);
    QueueSettings settings;
    settings.lease_ms = 5'000;
    settings.retry.first_ms = 120'000;
    EXPECT_FALSE(configure(shard, What::set, settings).in_force) << "only a describe has it";
    EXPECT_EQ(look(shard).in_force->lease_ms, 5'000);
    EXPECT_EQ(look(shard).in_force->retry, (RetryRule{7, 120'000, 3'000, 120'000, 100}));
}

// The last record of a purge, and of a discard, is one of the queue's settings. Where the segment had room for any
// other record and not for that one, it was not closed, and the engine turned forever.
TEST(Purge, ends_with_any_space_in_the_segment) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    options.unsealed_segments_max = 100;
    options.retry.attempts = 1;
    for (std::size_t size = 0; size < 12'000; size += 250) {
        TrialEngine shard(options);
        shard.put(0);
        const auto taken = shard.lease();
        shard.ask<LeaseEndAnswer>(FailCommand{taken.at(0).lease, "because", {}});
        shard.put(60'000);
        shard.put(60'000, std::string(size, 'x'), "other");
        shard.turn(1);
        configure(shard, What::discard);
        configure(shard, What::purge);
        for (int i = 0; i < 10; ++i) shard.turn();
        const auto settings = shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"}).settings;
        EXPECT_EQ(settings.purge_through, 0u) << size;
        EXPECT_EQ(settings.discard_before_ms, 0) << size;
    }
}

TEST(Purge, ends_all_existing_messages_and_no_later_ones) {
    EngineOptions options;
    options.purge_chunk = 3;
    TrialEngine shard(options);
    for (int i = 0; i < 10; ++i) shard.put(i % 2 == 0 ? 0 : 60'000);
    const MessageId elsewhere = shard.put(0, "body", "other");
    const QueueAnswer begun = configure(shard, What::purge);
    EXPECT_EQ(begun.counts.pending, 10u) << "so many are to go";
    const MessageId later = shard.put(0);
    shard.turn();
    EXPECT_EQ(ends_by(shard, Cause::purged), 10u);
    const QueueAnswer after = look(shard);
    EXPECT_EQ(after.counts.pending, 1u);
    EXPECT_EQ(after.settings.purge_through, 0u) << "it is over";
    const auto messages = shard.lease();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].id, later);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", elsewhere}).row.state.state, State::ready);
    EXPECT_EQ(shard.engine().counters().purged, 10u);
    EXPECT_EQ(shard.engine().counters().cancelled, 0u);
}

TEST(Purge, is_in_effect_from_its_response_on) {
    EngineOptions options;
    options.purge_chunk = 1;
    TrialEngine shard(options);
    for (int i = 0; i < 5; ++i) shard.put(0);
    shard.submit(tell(What::purge));
    shard.engine().advance_to(kStart);
    Effects effects = shard.engine().take_effects();
    ASSERT_TRUE(effects.commit.has_value());
    shard.engine().committed(*effects.commit);  // of the purge's own record: the messages are still there
    EXPECT_EQ(shard.engine().counters().pending, 5u);
    shard.engine().submit(LeaseCommand{"default", "q", 10, 30'000, 0}, 99);
    effects = shard.engine().take_effects();
    const auto lease = std::find_if(effects.replies.begin(), effects.replies.end(),
                                    [](const ReplyEffect& effect) { return effect.token == 99; });
    ASSERT_NE(lease, effects.replies.end());
    EXPECT_TRUE(std::get<LeaseAnswer>(lease->reply).messages.empty());
}

TEST(Purge, ends_a_leased_message_after_its_lease) {
    TrialEngine shard;
    for (int i = 0; i < 4; ++i) shard.put(0);
    const auto messages = shard.lease(4);
    ASSERT_EQ(messages.size(), 4u);
    configure(shard, What::purge);
    shard.turn();
    EXPECT_NE(look(shard).settings.purge_through, 0u) << "leases are still held";
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{messages[0].lease}).outcome, LeaseOutcome::done);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{messages[1].lease, "no", 0}).outcome, LeaseOutcome::purged);
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{messages[2].lease, 0}).outcome, LeaseOutcome::purged);
    EXPECT_EQ(look(shard).counts.pending, 1u);
    shard.turn(30'000);  // the last one runs out
    EXPECT_EQ(look(shard).counts.pending, 0u);
    EXPECT_EQ(look(shard).settings.purge_through, 0u);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(ends_by(shard, Cause::purged), 3u);
}

TEST(Purge, answers_commands_on_marked_messages_as_if_they_had_ended) {
    EngineOptions options;
    options.purge_chunk = 1;
    TrialEngine shard(options);
    const MessageId moved = shard.put(60'000);
    const MessageId fired = shard.put(60'000);
    const MessageId cancelled = shard.put(60'000);
    shard.submit(tell(What::purge));
    const ReplyToken move = shard.submit(RescheduleCommand{"default", moved, {std::nullopt, 1}});
    const ReplyToken fire = shard.submit(FireCommand{"default", fired});
    const ReplyToken cancel = shard.submit(CancelCommand{"default", cancelled});
    shard.hold_commits = true;
    shard.turn();
    shard.hold_commits = false;
    shard.settle();
    shard.turn(1'000);
    // In one batch with the purge the others still moved; they end all the same.
    shard.take<ChangeAnswer>(move);
    shard.take<ChangeAnswer>(fire);
    EXPECT_EQ(shard.take<ChangeAnswer>(cancel).outcome, ChangeOutcome::cancelled);
    EXPECT_TRUE(shard.lease().empty());
    EXPECT_EQ(look(shard).counts.pending, 0u);
    EXPECT_EQ(shard.ask<ChangeAnswer>(RescheduleCommand{"default", moved, {std::nullopt, 1}}).outcome,
              ChangeOutcome::cancelled);
}

// A kick or a hold of a marked message was executed, and its client told so, a moment before the message ended.
TEST(Purge, ends_messages_that_are_kicked_or_held_during_the_scan) {
    TrialEngine shard;
    const MessageId aside = shard.put(60'000);
    const MessageId waits = shard.put(60'000);
    EXPECT_EQ(shard.ask<ChangeAnswer>(HoldCommand{"default", aside}).outcome, ChangeOutcome::held);
    Engine& engine = shard.engine();
    shard.submit(tell(What::purge));
    engine.advance_to(kStart);
    Effects effects = engine.take_effects();
    ASSERT_TRUE(effects.commit.has_value());
    engine.submit(KickCommand{"default", aside}, 98);
    engine.submit(HoldCommand{"default", waits}, 99);
    engine.committed(*effects.commit);  // of the purge's own record: both commands go into the next batch
    effects = engine.take_effects();
    ASSERT_TRUE(effects.commit.has_value());
    engine.committed(*effects.commit);
    effects = engine.take_effects();
    for (const ReplyToken token : {98, 99}) {
        const auto reply = std::find_if(effects.replies.begin(), effects.replies.end(),
                                        [&](const ReplyEffect& effect) { return effect.token == token; });
        ASSERT_NE(reply, effects.replies.end());
        EXPECT_EQ(std::get<ChangeAnswer>(reply->reply).outcome, ChangeOutcome::cancelled) << token;
    }
    EXPECT_EQ(engine.counters().purged, 2u);
    EXPECT_EQ(engine.counters().requeued, 0u);
    EXPECT_EQ(engine.counters().held, 1u);
}

TEST(Purge, reaches_messages_that_are_only_in_the_index) {
    EngineOptions options;
    options.segment_bytes = 32'768;
    options.window_min_ms = options.window_max_ms = 1'000;
    options.purge_chunk = 2;
    TrialEngine shard(options);
    for (int i = 0; i < 5; ++i) shard.put(3'600'000 + i);
    shard.move_to_index();
    const MessageId in_memory = shard.put(3'600'000);
    const std::uint64_t before = shard.engine().counters().in_memory;
    configure(shard, What::purge);
    for (int i = 0; i < 10; ++i) shard.turn();
    EXPECT_EQ(ends_by(shard, Cause::purged), 6u) << "in memory were " << before;
    EXPECT_EQ(look(shard).counts.pending, 0u);
    EXPECT_EQ(look(shard).settings.purge_through, 0u);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", in_memory}).row.state.state, State::cancelled);
}

TEST(Purge, continues_after_a_crash) {
    EngineStart start;
    start.totals.id_counter = 5;
    QueueSettings settings;
    settings.revision = 2;
    settings.purge_through = 3 * kShardsMax;
    settings.purge_started_ms = kStart;
    start.totals.live_count = 2;
    start.queue_states.push_back({{"default", "q"}, {2, 0, 0}, settings, 77, 50});
    TrialEngine shard({}, start, [](TrialEngine& before) {
        for (const MessageId id : {3 * kShardsMax, 4 * kShardsMax}) {
            MessageRow row;
            row.id = id;
            row.state.queue = "q";
            row.state.due_ms = row.state.nominal_due_ms = kStart + 3'600'000;
            before.index[id] = row;
        }
    });
    for (int i = 0; i < 5; ++i) shard.turn();
    EXPECT_EQ(ends_by(shard, Cause::purged), 1u);
    EXPECT_EQ(look(shard).counts.pending, 1u);
    EXPECT_EQ(look(shard).settings.purge_through, 0u);
}

TEST(Purge, of_two_queues_takes_turns) {
    EngineOptions options;
    options.purge_chunk = 2;
    options.purge_walk = 2;
    TrialEngine shard(options);
    for (int i = 0; i < 8; ++i) shard.put(0, "body", i % 2 == 0 ? "q" : "other");
    const ReplyToken first = shard.submit(tell(What::purge));
    const ReplyToken second = shard.submit(tell(What::purge, {}, "other"));
    for (int i = 0; i < 10; ++i) shard.turn();
    shard.take<QueueAnswer>(first);
    shard.take<QueueAnswer>(second);
    EXPECT_EQ(ends_by(shard, Cause::purged), 8u);
    EXPECT_EQ(look(shard).settings.purge_through + look(shard, "other").settings.purge_through, 0u);
}

// A queue lost its settings while a message that had been cancelled still stood in the list of what was to be purged,
// and the engine asked to be woken at once forever.
TEST(Purge, that_ends_with_the_settings_of_its_queue_is_complete) {
    EngineOptions options;
    options.batch_operations_max = 1;
    TrialEngine shard(options);
    const MessageId message = shard.put(60'000);
    shard.submit(tell(What::purge));
    Engine& engine = shard.engine();
    const auto end_a_commit = [&] {
        if (const Effects effects = engine.take_effects(); effects.commit) engine.committed(*effects.commit);
    };
    engine.advance_to(kStart);
    const Effects effects = engine.take_effects();
    shard.submit(CancelCommand{"default", message});
    shard.submit(tell(What::remove));
    engine.committed(*effects.commit);  // of the purge; the cancel is delivered
    engine.advance_to(kStart);          // the purge meets the message
    end_a_commit();                     // of the cancel; the removal is delivered
    end_a_commit();
    for (int i = 0; i < 3; ++i) {
        engine.advance_to(kStart);
        end_a_commit();
    }
    EXPECT_GT(engine.next_wakeup(), kStart);
}

// ---- names

// Names of queues that had been emptied counted until their segment was full; if all puts were for new queues, it never
// was, and no new queue could be used any more.
TEST(QueueNames, names_of_empty_queues_are_released_at_the_limit_after_the_open_segment_is_swept) {
    EngineOptions options;
    options.queues_max = 2;
    TrialEngine before(options);
    for (const char* queue : {"a", "b"}) {
        before.put(0, "body", queue);
        const auto leased = before.ask<LeaseAnswer>(LeaseCommand{"default", queue, 1, {}, 0}).messages;
        before.ask<LeaseEndAnswer>(AckCommand{leased.at(0).lease});
    }
    TrialEngine after(options, before);  // knows of them from what ended alone
    for (TrialEngine* shard : {&before, &after}) {
        EXPECT_EQ(shard->ask<Error>(PutCommand{.queue = "c"}).code, "queue_limit"_code);
        shard->turn();
        EXPECT_EQ(shard->engine().counters().unsealed_segments, 1u);
        shard->engine().table_taken(1);
        shard->turn();
        shard->put(0, "body", "c");
        EXPECT_EQ(shard->engine().counters().queue_names, 1u);
    }
}

// Names without any put were kept until a segment was full.
TEST(QueueNames, a_name_that_only_consumers_used_is_released_with_the_last_one) {
    EngineOptions options;
    options.queues_max = 1;
    TrialEngine shard(options);
    const ReplyToken first = shard.submit(LeaseCommand{"default", "a", 1, {}, 1000});
    shard.turn(500);
    const ReplyToken second = shard.submit(LeaseCommand{"default", "a", 1, {}, 1000});
    shard.turn(500);
    EXPECT_TRUE(shard.take<LeaseAnswer>(first).messages.empty());
    EXPECT_EQ(shard.ask<Error>(PutCommand{.queue = "b"}).code, "queue_limit"_code);
    shard.turn(500);
    EXPECT_TRUE(shard.take<LeaseAnswer>(second).messages.empty());
    shard.put(0, "body", "b");
}

}  // namespace
}  // namespace duewheel::engine_settings_test
