// Limits of namespaces: each limit at one below, at and one above it; messages that the server creates wait instead;
// the counts after a restart.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "message/records/subject.h"

namespace duewheel::engine_namespaces_test {
namespace {

NamespaceAnswer limit(TrialEngine& shard, NamespaceSettings settings, std::string name = "default") {
    return shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{std::move(name), false, settings});
}

NamespaceAnswer look(TrialEngine& shard, std::string name = "default") {
    return shard.ask<NamespaceAnswer>(DescribeNamespaceCommand{std::move(name)});
}

PutCommand put_to(std::string queue, std::string name_space = "default") {
    return PutCommand{.name_space = std::move(name_space), .queue = std::move(queue)};
}

PutWatchdogCommand watchdog(std::string name, std::string name_space = "default") {
    PutWatchdogCommand put{.name_space = std::move(name_space), .name = std::move(name)};
    put.rule.queue = "q";
    put.rule.timeout_ms = 1'000;
    return put;
}

PutScheduleCommand hourly(std::string name, std::string name_space = "default") {
    const TimesRule times{.kind = TimesKind::every, .every_ms = 3'600'000};
    ScheduleRule rule;
    rule.times = times;
    rule.queue = "q";
    return {.name_space = std::move(name_space),
            .name = std::move(name),
            .rule = rule,
            .times = *ScheduleTimes::make(times, &Zone::load)};
}

TEST(Namespaces, has_settings_before_its_first_put_and_is_unknown_without) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<Error>(DescribeNamespaceCommand{"team"}).code, "unknown_namespace"_code);
    const NamespaceAnswer set = limit(shard, {.pending_max = 5}, "team");
    EXPECT_EQ(set.settings.pending_max, 5u);
    EXPECT_EQ(set.settings.revision, 1u);
    EXPECT_EQ(look(shard, "team").settings, set.settings);
    EXPECT_EQ(limit(shard, {.pending_max = 5}, "team").settings.revision, 1u) << "what says nothing new writes nothing";
    EXPECT_EQ(limit(shard, {.queues_max = 2}, "team").settings.pending_max, 0u) << "all of them are set";
    EXPECT_EQ(look(shard, "team").settings.revision, 2u);
    EXPECT_NE(shard.engine().totals().digest, 0u) << "settings are part of what the log adds up to";
    EXPECT_EQ(shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"team", true, {}}).removed, true);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
    EXPECT_EQ(shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"team", true, {}}).removed, false);
    EXPECT_EQ(shard.ask<Error>(DescribeNamespaceCommand{"team"}).code, "unknown_namespace"_code);
}

TEST(Namespaces, settings_out_of_range_are_refused_by_name) {
    EngineOptions options;
    options.pending_limit_max = 10;
    TrialEngine shard(options);
    const std::pair<const char*, NamespaceSettings> refused[] = {{"limits.pending", {.pending_max = 11}},
                                                                 {"limits.queues", {.queues_max = 11}},
                                                                 {"limits.schedules", {.schedules_max = 11}},
                                                                 {"limits.watchdogs", {.watchdogs_max = 11}},
                                                                 {"limits.put_rate", {.put_rate = 11}}};
    for (const auto& [field, settings] : refused) {
        const Error error = shard.ask<Error>(ConfigureNamespaceCommand{"n", false, settings});
        EXPECT_EQ(error.code, "out_of_range"_code);
        EXPECT_EQ(error.field, field);
    }
    EXPECT_EQ(limit(shard, {0, 10, 10, 10, 10, 10}).settings.put_rate, 10u);
}

TEST(Namespaces, the_number_with_settings_is_limited) {
    EngineOptions options;
    options.namespaces_max = 2;
    TrialEngine shard(options);
    shard.hold_commits = true;
    const ReplyToken first = shard.submit(ConfigureNamespaceCommand{"a", false, {}});
    const ReplyToken second = shard.submit(ConfigureNamespaceCommand{"b", false, {}});
    const ReplyToken third = shard.submit(ConfigureNamespaceCommand{"c", false, {}});
    shard.hold_commits = false;
    shard.turn();
    shard.turn();
    EXPECT_EQ(shard.take<NamespaceAnswer>(first).settings.revision, 1u);
    EXPECT_EQ(shard.take<NamespaceAnswer>(second).settings.revision, 1u);
    EXPECT_EQ(shard.take<Error>(third).code, "namespace_limit"_code) << "the other two stand in the same batch";
    EXPECT_EQ(limit(shard, {.pending_max = 1}, "b").settings.revision, 2u) << "one that is there may be changed";
    shard.ask<NamespaceAnswer>(ConfigureNamespaceCommand{"a", true, {}});
    EXPECT_EQ(limit(shard, {}, "c").settings.revision, 1u);
}

TEST(Namespaces, its_queues_share_a_limit_and_others_are_free) {
    TrialEngine shard;
    limit(shard, {.pending_max = 3});
    shard.put(0);
    shard.hold_commits = true;
    shard.submit(put_to("x"));
    const ReplyToken last = shard.submit(put_to("new"));
    const ReplyToken beyond = shard.submit(put_to("newer"));
    const ReplyToken other = shard.submit(put_to("q", "other"));
    shard.hold_commits = false;
    shard.turn();
    shard.turn();
    EXPECT_NE(shard.take<PutAnswer>(last).id, 0u);
    const Error error = shard.take<Error>(beyond);
    EXPECT_EQ(error.code, "namespace_full"_code)
        << "the other two stand in the same batch, in queues that were not there";
    EXPECT_EQ(error.field, "namespace");
    EXPECT_NE(error.message.find("`default` hold 3 unfinished messages, and the limit of the namespace is 3"),
              std::string::npos);
    EXPECT_NE(shard.take<PutAnswer>(other).id, 0u);
    EXPECT_EQ(look(shard).pending, 3u);
    EXPECT_EQ(look(shard).queues, 3u);
    const auto taken = shard.lease();
    shard.ask<LeaseEndAnswer>(AckCommand{taken.at(0).lease});
    EXPECT_EQ(look(shard).pending, 2u);
    shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "namespace_full"_code);
    EXPECT_EQ(shard.engine().counters().quota_refusals, 2u);
}

TEST(Namespaces, a_batch_put_reports_for_each_line_whether_it_was_accepted) {
    TrialEngine shard;
    limit(shard, {.pending_max = 2});
    PutBatchCommand batch;
    for (int i = 0; i < 3; ++i) batch.puts.push_back(put_to("q"));
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(batch);
    EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[1]));
    EXPECT_EQ(std::get<Error>(answer.results[2]).code, "namespace_full"_code);
}

TEST(Namespaces, a_limit_below_the_current_use_ends_nothing) {
    TrialEngine shard;
    for (int i = 0; i < 3; ++i) shard.put(0);
    limit(shard, {.pending_max = 1});
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "namespace_full"_code);
    EXPECT_EQ(shard.lease().size(), 3u);
}

TEST(Namespaces, the_number_of_its_queues_is_limited_however_they_are_created) {
    TrialEngine shard;
    limit(shard, {.queues_max = 2});
    shard.put(0, "body", "a");
    shard.hold_commits = true;
    const ReplyToken fits = shard.submit(put_to("b"));
    const ReplyToken again = shard.submit(put_to("b"));
    const ReplyToken beyond = shard.submit(put_to("c"));
    shard.hold_commits = false;
    shard.turn();
    shard.turn();
    EXPECT_NE(shard.take<PutAnswer>(fits).id, 0u);
    EXPECT_NE(shard.take<PutAnswer>(again).id, 0u) << "the queue that the batch has begun already";
    EXPECT_EQ(shard.take<Error>(beyond).code, "queue_limit"_code);
    EXPECT_EQ(shard.ask<Error>(LeaseCommand{"default", "c", 1, 30'000, 1'000}).code, "queue_limit"_code);
    ConfigureQueueCommand pause{"default", "c", ConfigureQueueCommand::What::pause, {}};
    EXPECT_EQ(shard.ask<Error>(pause).code, "queue_limit"_code);
    shard.put(0, "body", "a");
    EXPECT_NE(shard.ask<PutAnswer>(put_to("c", "other")).id, 0u);
    EXPECT_EQ(look(shard).queues, 2u);
}

// Names that a batch begins were in no count but that of a namespace with settings: it went beyond what the server may
// have.
TEST(Namespaces, queues_created_by_a_batch_count_for_the_limit_of_the_server) {
    EngineOptions options;
    options.queues_max = 3;
    TrialEngine shard(options);
    shard.put(0, "body", "a");
    PutBatchCommand batch;
    for (const char* queue : {"b", "b", "c", "d", "c"}) batch.puts.push_back(put_to(queue));
    batch.puts.push_back(put_to("b", "other"));
    const PutBatchAnswer answer = shard.ask<PutBatchAnswer>(batch);
    for (const std::size_t fits : {0u, 1u, 2u, 4u}) {
        EXPECT_TRUE(std::holds_alternative<PutAnswer>(answer.results[fits])) << fits;
    }
    for (const std::size_t beyond : {3u, 5u}) {
        EXPECT_EQ(std::get<Error>(answer.results[beyond]).code, "queue_limit"_code) << beyond;
    }
    EXPECT_EQ(shard.engine().counters().queues, 3u);
}

// A consumer is there at once, and the put of the same name that is on its way takes no second name; nor does the name
// go with that consumer.
TEST(Namespaces, a_queue_that_is_being_created_counts_once) {
    EngineOptions options;
    options.queues_max = 2;
    TrialEngine shard(options);
    shard.hold_commits = true;
    const ReplyToken put = shard.submit(put_to("b"));
    shard.turn();
    EXPECT_EQ(shard.ask<Error>(DescribeNamespaceCommand{"default"}).code, "unknown_namespace"_code)
        << "it is not durable";
    const ReplyToken waits = shard.submit(LeaseCommand{"default", "b", 1, 30'000, 1'000});
    shard.turn();
    shard.turn(1'000);
    EXPECT_TRUE(shard.take<LeaseAnswer>(waits).messages.empty());
    const ReplyToken other = shard.submit(LeaseCommand{"default", "c", 1, 30'000, 1'000});
    shard.turn();
    const ReplyToken beyond = shard.submit(LeaseCommand{"default", "d", 1, 30'000, 1'000});
    shard.turn();
    EXPECT_EQ(shard.take<Error>(beyond).code, "queue_limit"_code);
    shard.hold_commits = false;
    shard.settle();
    shard.turn(1'000);
    EXPECT_NE(shard.take<PutAnswer>(put).id, 0u);
    EXPECT_TRUE(shard.take<LeaseAnswer>(other).messages.empty());
    EXPECT_EQ(look(shard).queues, 1u);
}

TEST(Namespaces, the_number_of_its_schedules_and_watchdogs_is_limited) {
    TrialEngine shard;
    limit(shard, {.schedules_max = 1, .watchdogs_max = 2});
    EXPECT_TRUE(shard.ask<ScheduleAnswer>(hourly("s")).created);
    EXPECT_FALSE(shard.ask<ScheduleAnswer>(hourly("s")).created) << "one that is there may be set anew";
    EXPECT_EQ(shard.ask<Error>(hourly("t")).code, "schedule_limit"_code);
    EXPECT_TRUE(shard.ask<ScheduleAnswer>(hourly("t", "other")).created);
    shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "s", ControlScheduleCommand::What::remove});
    EXPECT_EQ(look(shard).schedules, 0u);
    EXPECT_TRUE(shard.ask<ScheduleAnswer>(hourly("t")).created);
    for (const char* name : {"w", "v"}) EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog(name)).created);
    EXPECT_FALSE(shard.ask<WatchdogAnswer>(watchdog("w")).created) << "one that is there may be set anew";
    const Error error = shard.ask<Error>(watchdog("u"));
    EXPECT_EQ(error.code, "watchdog_limit"_code);
    EXPECT_NE(error.message.find("limits.watchdogs"), std::string::npos);
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog("u", "other")).created);
    shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "w"});
    EXPECT_EQ(look(shard).watchdogs, 1u);
    EXPECT_TRUE(shard.ask<WatchdogAnswer>(watchdog("u")).created);
}

TEST(Namespaces, its_put_rate_is_limited_with_a_burst_of_one_second) {
    TrialEngine shard;
    limit(shard, {.put_rate = 4});
    for (int i = 0; i < 4; ++i) shard.put(0);
    const Error error = shard.ask<Error>(put_to("q"));
    EXPECT_EQ(error.code, "too_many_puts"_code);
    EXPECT_NE(error.message.find("4 puts per second"), std::string::npos);
    EXPECT_NE(shard.ask<PutAnswer>(put_to("q", "other")).id, 0u);
    shard.turn(249);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code);
    shard.turn(1);
    shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code);
    shard.turn(3'600'000);
    for (int i = 0; i < 4; ++i) shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code) << "a pause is worth one second, however long";
    limit(shard, {.put_rate = 5});
    for (int i = 0; i < 5; ++i) shard.put(0);
    limit(shard, {});
    for (int i = 0; i < 20; ++i) shard.put(0);
}

// One put, recurring each millisecond from a time long past, created 50,000 messages a second, whatever the rate of its
// namespace was.
TEST(Namespaces, what_its_rules_create_draws_from_its_put_rate_and_waits) {
    TrialEngine shard;
    PutCommand recurring = put_to("q");
    recurring.repeat = RepeatChoice{.every_ms = 1};
    const MessageId id = shard.ask<PutAnswer>(recurring).id;
    limit(shard, {.put_rate = 20});
    shard.turn(100);
    EXPECT_EQ(look(shard).pending, 2 + 20u) << "the first occurrence was due before there was a rate";
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, "too_many_puts"_code);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code);
    EXPECT_NE(shard.ask<PutAnswer>(put_to("q", "other")).id, 0u);
    for (int second = 0; second < 10; ++second) shard.turn(1'000);
    EXPECT_EQ(look(shard).pending, 2 + 20u * 11);
}

TEST(Namespaces, rules_that_are_behind_catch_up_at_a_pace) {
    EngineOptions options;
    options.catch_up_rate = 10;
    TrialEngine shard(options);
    PutCommand recurring = put_to("q");
    recurring.repeat = RepeatChoice{.every_ms = 1'000};
    const MessageId id = shard.ask<PutAnswer>(recurring).id;
    shard.turn(3'600'000);
    EXPECT_EQ(look(shard).pending, 2 + 10u);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, "catching_up"_code);
    PutCommand on_time = put_to("q");
    on_time.repeat = RepeatChoice{.every_ms = 10};
    shard.ask<PutAnswer>(on_time);
    shard.turn(500);
    EXPECT_EQ(look(shard).pending, 12 + 52u) << "one that is not behind has no pace";
    for (int second = 0; second < 400; ++second) shard.turn(1'000);
    EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", id}).blocked_by, ErrorCode::none) << "it has caught up";
}

TEST(Namespaces, one_of_several_holds_up_to_four_times_the_free_disk_space) {
    TrialEngine shard;
    shard.engine().set_free_bytes(1'000);
    for (int i = 0; i < 10; ++i) shard.put(0, std::string(500, 'x'));
    shard.ask<PutAnswer>(put_to("q", "other"));
    const Error error = shard.ask<Error>(put_to("q"));
    EXPECT_EQ(error.code, "store_full"_code);
    EXPECT_EQ(error.field, "namespace");
    for (int i = 0; i < 3; ++i) shard.ask<PutAnswer>(put_to("q", "other"));
    for (const Delivered& each : shard.lease(5)) shard.ask<LeaseEndAnswer>(AckCommand{each.lease});
    shard.put(0);
}

TEST(Namespaces, a_repeated_put_and_one_that_is_refused_cost_nothing) {
    TrialEngine shard;
    limit(shard, {.pending_max = 1, .put_rate = 2});
    PutCommand keyed = put_to("q");
    keyed.key = "k";
    keyed.request_hash = 1;
    shard.ask<PutAnswer>(keyed);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(shard.ask<PutAnswer>(keyed).repeated);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "namespace_full"_code);
    shard.ask<LeaseEndAnswer>(AckCommand{shard.lease().at(0).lease});
    shard.put(0);
}

TEST(Namespaces, occurrences_and_watchdog_messages_wait_for_room) {
    TrialEngine shard;
    PutCommand loop = put_to("q");
    loop.when.delay_ms = 1'000;
    loop.repeat.emplace();
    loop.repeat->every_ms = 1'000;
    loop.repeat->times = 2;
    shard.ask<PutAnswer>(loop);
    shard.ask<WatchdogAnswer>(watchdog("w"));
    limit(shard, {.pending_max = 1, .put_rate = 1});
    shard.turn(5'000);
    shard.turn();
    EXPECT_EQ(look(shard).pending, 1u) << "the loop itself";
    EXPECT_TRUE(shard.lease().empty());
    limit(shard, {.put_rate = 1});
    for (int i = 0; i < 8; ++i) shard.turn(1'000);
    EXPECT_EQ(shard.lease().size(), 3u) << "nothing is lost";
}

TEST(Namespaces, settings_and_counts_survive_a_restart) {
    EngineStart start;
    start.namespaces.push_back({"default", {4, 3, 0, 0, 0, 0}, 77, 50});
    start.queue_states.push_back({{"default", "q"}, {.pending = 2, .held = 2}, {}, 0, 0});
    start.queue_states.push_back({{"default", "r"}, {.dead = 9}, {}, 0, 0});
    start.totals.live_count = 2;
    TrialEngine shard({}, start);
    EXPECT_EQ(look(shard).pending, 2u);
    EXPECT_EQ(look(shard).queues, 2u);
    shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "namespace_full"_code);
    EXPECT_EQ(limit(shard, {}).settings.revision, 5u);
    const ConfRecord conf = shard.records<ConfRecord>().at(0);
    EXPECT_EQ(conf.log_position, 77u);
    EXPECT_EQ(conf.record_bytes, 50u);
    EXPECT_EQ(conf.revision_before, 4u);
}

TEST(Namespaces, a_restart_leaves_a_rate_and_a_whole_second_of_it) {
    EngineStart start;
    start.namespaces.push_back({"default", {.revision = 1, .put_rate = 4}, 77, 50});
    TrialEngine shard({}, start);
    for (int i = 0; i < 4; ++i) shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code);
    shard.turn(250);
    shard.put(0);
    EXPECT_EQ(shard.ask<Error>(put_to("q")).code, "too_many_puts"_code);
}

TEST(Namespaces, relocating_settings_does_not_change_them) {
    TrialEngine shard;
    limit(shard, {.pending_max = 9}, "n");
    const Sequence log_position = shard.engine().totals().sequence;
    const std::uint64_t digest = shard.engine().totals().digest;
    const auto relocate = [&](Sequence at) {
        return shard.ask<RelocateAnswer>(RelocateSettingsCommand{"n", "n", at, Subject::name_space}).relocated;
    };
    EXPECT_FALSE(relocate(log_position - 1));
    EXPECT_TRUE(relocate(log_position));
    EXPECT_FALSE(relocate(log_position)) << "it stands elsewhere";
    EXPECT_EQ(shard.engine().totals().digest, digest);
    EXPECT_EQ(look(shard, "n").settings.revision, 1u);
}

TEST(Namespaces, are_listed_by_name_with_their_counts) {
    TrialEngine shard;
    limit(shard, {}, "b");
    shard.put(0);
    shard.ask<WatchdogAnswer>(watchdog("w", "c"));
    NamespaceListAnswer page = shard.ask<NamespaceListAnswer>(ListNamespacesCommand{"", 2});
    ASSERT_EQ(page.namespaces.size(), 2u);
    EXPECT_EQ(page.namespaces[0].name_space, "b");
    EXPECT_EQ(page.namespaces[1].name_space, "c");
    EXPECT_EQ(page.namespaces[1].watchdogs, 1u);
    EXPECT_FALSE(page.complete);
    page = shard.ask<NamespaceListAnswer>(ListNamespacesCommand{"c", 2});
    ASSERT_EQ(page.namespaces.size(), 1u);
    EXPECT_EQ(page.namespaces[0].pending, 1u);
    EXPECT_TRUE(page.complete);
    EXPECT_EQ(shard.ask<Error>(ListNamespacesCommand{"", 0}).code, "out_of_range"_code);
    EXPECT_EQ(shard.ask<Error>(ListNamespacesCommand{"", 1001}).code, "out_of_range"_code);
}

}  // namespace
}  // namespace duewheel::engine_namespaces_test
