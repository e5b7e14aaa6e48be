// Patches: two concurrent commands that change different settings both take effect.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "engine/trial/trial_schedules.h"

namespace duewheel::engine_patches_test {
namespace {

PatchQueueCommand patch(std::function<void(QueueSettings&)> change) {
    return {"default", "q",
            [change = std::move(change)](QueueSettings& settings) { return change(settings), Status(); }, 100};
}

PatchNamespaceCommand patch_namespace(std::function<void(NamespaceSettings&)> change) {
    return {"team", [change = std::move(change)](NamespaceSettings& settings) { return change(settings), Status(); },
            100};
}

// Changes the rule and, where it is given, the body.
PatchScheduleCommand patch_schedule(std::function<void(ScheduleRule&)> change,
                                    std::optional<std::string> new_body = std::nullopt) {
    const auto merge = [change = std::move(change), new_body = std::move(new_body)](
                           const ScheduleRule& rule, const MessageContent& content) -> Result<PutScheduleCommand> {
        if (rule.queue.empty()) return Error{"missing_member"_code, "say which queue", "queue"};
        ScheduleRule next = rule;
        change(next);
        PutScheduleCommand put{.rule = next, .times = *ScheduleTimes::make(next.times, &Zone::load)};
        put.body = new_body ? *new_body : std::string(content.body);
        put.headers = content.headers;
        put.rule.content_hash = std::hash<std::string>{}(put.body);
        return put;
    };
    return {"default", "s", merge, 100};
}

PatchWatchdogCommand patch_watchdog(std::function<void(WatchdogRule&)> change,
                                    std::optional<std::string> new_body = std::nullopt) {
    const auto merge = [change = std::move(change), new_body = std::move(new_body)](
                           const WatchdogRule& rule, const MessageContent& content) -> Result<PutWatchdogCommand> {
        if (rule.queue.empty()) return Error{"missing_member"_code, "say which queue", "queue"};
        PutWatchdogCommand put;
        put.rule = rule;
        change(put.rule);
        put.body = new_body ? *new_body : std::string(content.body);
        put.rule.content_hash = std::hash<std::string>{}(put.body);
        return put;
    };
    return {"default", "w", merge, 100};
}

PutWatchdogCommand watchdog() {
    PutWatchdogCommand put{.name = "w"};
    put.rule.queue = "q";
    put.rule.timeout_ms = 60'000;
    put.body = "bark";
    return put;
}

WatchdogAnswer look_at_watchdog(TrialEngine& shard) {
    return shard.ask<WatchdogAnswer>(DescribeWatchdogCommand{"default", "w"});
}

TEST(EnginePatches, two_at_the_same_time_are_both_kept) {
    TrialEngine shard;
    shard.submit(patch([](QueueSettings& settings) { settings.lease_ms = 60'000; }));
    shard.submit(patch([](QueueSettings& settings) { settings.pending_max = 7; }));
    shard.submit(patch_namespace([](NamespaceSettings& settings) { settings.queues_max = 5; }));
    shard.submit(patch_namespace([](NamespaceSettings& settings) { settings.weight = 3; }));
    shard.turn();
    const QueueSettings settings = shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"}).settings;
    EXPECT_EQ(settings.lease_ms, 60'000);
    EXPECT_EQ(settings.pending_max, 7u);
    const NamespaceSettings limits = shard.ask<NamespaceAnswer>(DescribeNamespaceCommand{"team"}).settings;
    EXPECT_EQ(limits.queues_max, 5u);
    EXPECT_EQ(limits.weight, 3u);
}

TEST(EnginePatches, a_patch_keeps_what_was_set_while_it_waited) {
    TrialEngine shard;
    shard.hold_commits = true;
    QueueSettings all;
    all.lease_ms = 9'000;
    shard.submit(ConfigureQueueCommand{"default", "q", ConfigureQueueCommand::What::set, all});
    shard.submit(patch([](QueueSettings& settings) { settings.pending_max = 7; }));
    shard.turn();
    shard.hold_commits = false;
    shard.turn();
    const QueueSettings settings = shard.ask<QueueAnswer>(DescribeQueueCommand{"default", "q"}).settings;
    EXPECT_EQ(settings.lease_ms, 9'000);
    EXPECT_EQ(settings.pending_max, 7u);
}

TEST(EnginePatches, a_refused_patch_changes_nothing_and_creates_no_queue) {
    TrialEngine shard;
    const PatchQueueCommand refused{"default", "q", [](QueueSettings&) {
                                        return Status(Error{"bad_policy"_code, "no", "x"});
                                    }};
    EXPECT_EQ(shard.ask<Error>(refused).code, "bad_policy"_code);
    EXPECT_EQ(shard.ask<Error>(DescribeQueueCommand{"default", "q"}).code, "unknown_queue"_code);
    // What the engine itself refuses, as of a command that sets all.
    EXPECT_EQ(shard.ask<Error>(patch([](QueueSettings& settings) { settings.lease_ms = 1; })).code,
              "lease_too_short"_code);
    EXPECT_EQ(shard.ask<Error>(DescribeQueueCommand{"default", "q"}).code, "unknown_queue"_code);
}

TEST(EnginePatches, of_schedules_and_watchdogs_keep_the_content_of_their_messages) {
    TrialEngine first;
    first.ask<ScheduleAnswer>(every(10'000));
    first.ask<WatchdogAnswer>(watchdog());
    TrialEngine shard(EngineOptions(), first);  // what they hold has to be read from the log now
    shard.submit(patch_schedule([](ScheduleRule& rule) { rule.priority = 5; }));
    shard.submit(patch_schedule([](ScheduleRule& rule) { rule.jitter_ms = 7; }));
    shard.submit(patch_watchdog([](WatchdogRule& rule) { rule.priority = 5; }));
    shard.submit(patch_watchdog([](WatchdogRule& rule) { rule.repeat_every_ms = 7; }));
    shard.turn();
    const ScheduleAnswer schedule = look_at(shard);
    EXPECT_EQ(schedule.state.rule.priority, 5);
    EXPECT_EQ(schedule.state.rule.jitter_ms, 7);
    EXPECT_EQ(schedule.state.rule.times.every_ms, 10'000);
    EXPECT_EQ(schedule.body, "again");
    EXPECT_EQ(schedule.headers, R"({"a":"b"})");
    const WatchdogAnswer dog = look_at_watchdog(shard);
    EXPECT_EQ(dog.state.rule.priority, 5);
    EXPECT_EQ(dog.state.rule.repeat_every_ms, 7);
    EXPECT_EQ(dog.body, "bark");
    EXPECT_EQ(dog.state.feeds, 1u) << "a patch feeds nothing";
}

// The content that a patch keeps is that of the moment at which it is executed, however long the read took.
TEST(EnginePatches, a_patch_keeps_content_that_was_set_while_the_log_was_read) {
    TrialEngine first;
    first.ask<ScheduleAnswer>(every(10'000));
    TrialEngine shard(EngineOptions(), first);
    shard.hold_lookups = true;
    const ReplyToken patched = shard.submit(patch_schedule([](ScheduleRule& rule) { rule.priority = 5; }));
    shard.turn();
    PutScheduleCommand replaced = every(10'000);
    replaced.body = "newer";
    replaced.rule.content_hash = 99;
    shard.ask<ScheduleAnswer>(replaced);
    shard.hold_lookups = false;
    shard.answer_lookups();
    shard.turn();
    EXPECT_EQ(shard.take<ScheduleAnswer>(patched).state.rule.priority, 5);
    EXPECT_EQ(look_at(shard).body, "newer");
}

TEST(EnginePatches, a_patch_without_required_members_of_a_missing_schedule_is_unknown_schedule) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<Error>(patch_schedule([](ScheduleRule&) {})).code, "unknown_schedule"_code);
    EXPECT_EQ(shard.ask<Error>(patch_watchdog([](WatchdogRule&) {})).code, "unknown_watchdog"_code);
    PatchScheduleCommand whole{"default", "s", [](const ScheduleRule&, const MessageContent&) {
                                   return Result<PutScheduleCommand>(every(10'000));
                               }};
    EXPECT_TRUE(shard.ask<ScheduleAnswer>(whole).created);
    EXPECT_FALSE(shard.ask<ScheduleAnswer>(whole).created);
}

// Its content counts where a batch and a segment have to hold it, like that of a put.
TEST(EnginePatches, large_contents_are_kept_through_small_segments) {
    EngineOptions options;
    options.batch_bytes_max = 100'000;
    TrialEngine shard(options);
    PutScheduleCommand large = every(10'000);
    large.body = std::string(80'000, 'x');
    shard.ask<ScheduleAnswer>(large);
    std::vector<ReplyToken> tokens;
    for (int i = 1; i <= 20; ++i) {
        tokens.push_back(shard.submit(patch_schedule([i](ScheduleRule& rule) { rule.jitter_ms += i; })));
    }
    shard.turn();
    for (const ReplyToken token : tokens) shard.take<ScheduleAnswer>(token);
    EXPECT_EQ(look_at(shard).state.rule.jitter_ms, 210);
    EXPECT_EQ(look_at(shard).body, large.body);
}

}  // namespace
}  // namespace duewheel::engine_patches_test
