// A limit of the whole server is shared by its namespaces: one that uses all that it can leaves some for another. One
// namespace could use up the leases, queues, schedules, watchdogs, listings and redrives of a server, and no other got
// any. The cases follow the table of limits, so a shared limit without a case fails, and so does a case of a limit that
// is not shared.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "engine/trial/trial_engine.h"
#include "server/limits/limit.h"

namespace duewheel::limit_shares_test {
namespace {

constexpr int kMax = 20;

// How to use one of a limit.
struct Case {
    void (*set)(EngineOptions& options);
    // Whether `name_space` could use one more; `number` differs in each call.
    bool (*use)(TrialEngine& shard, const std::string& name_space, int number);
};

bool is_accepted(TrialEngine& shard, Command command) {
    const ReplyToken token = shard.submit(std::move(command));
    shard.turn();
    return !std::holds_alternative<Error>(shard.replies.at(token));
}

// Whether the request, which gets no reply while disk or index are held, was not refused.
bool is_held(TrialEngine& shard, Command command) {
    const ReplyToken token = shard.submit(std::move(command));
    shard.turn();
    return !shard.replies.contains(token);
}

PutCommand put(const std::string& name_space, int number, std::string queue = "q") {
    PutCommand command{.name_space = name_space, .queue = std::move(queue)};
    command.body = std::string(100, static_cast<char>('a' + number % 26));
    return command;
}

bool use_queue(TrialEngine& shard, const std::string& name_space, int number) {
    return is_accepted(shard, put(name_space, number, "q" + std::to_string(number)));
}

bool use_schedule(TrialEngine& shard, const std::string& name_space, int number) {
    ScheduleRule rule;
    rule.times = {.kind = TimesKind::every, .every_ms = 3'600'000};
    rule.queue = "q";
    PutScheduleCommand command{.name_space = name_space,
                               .name = "s" + std::to_string(number),
                               .rule = rule,
                               .times = *ScheduleTimes::make(rule.times, &Zone::load)};
    return is_accepted(shard, std::move(command));
}

bool use_watchdog(TrialEngine& shard, const std::string& name_space, int number) {
    PutWatchdogCommand command{.name_space = name_space, .name = "w" + std::to_string(number)};
    command.rule.queue = "q";
    command.rule.timeout_ms = 3'600'000;
    return is_accepted(shard, std::move(command));
}

bool use_lease(TrialEngine& shard, const std::string& name_space, int number) {
    shard.ask<PutAnswer>(put(name_space, number));
    return !shard.ask<LeaseAnswer>(LeaseCommand{name_space, "q", 1, 30'000, 0}).messages.empty();
}

bool use_listing(TrialEngine& shard, const std::string& name_space, int number) {
    if (number == 0) shard.ask<PutAnswer>(put(name_space, number));
    shard.hold_lookups = true;
    const bool held = is_held(shard, ListCommand{.name_space = name_space, .queue = "q"});
    return held;
}

bool use_redrive(TrialEngine& shard, const std::string& name_space, int number) {
    if (number == 0) shard.ask<PutAnswer>(put(name_space, number));
    shard.hold_lookups = true;
    const bool held = is_held(shard, RedriveCommand{.name_space = name_space, .queue = "q"});
    return held;
}

bool use_waiting(TrialEngine& shard, const std::string& name_space, int number) {
    shard.hold_commits = true;
    return is_held(shard, put(name_space, number));
}

bool use_wait(TrialEngine& shard, const std::string& name_space, int number) {
    const auto id = shard.ask<PutAnswer>(put(name_space, number)).id;
    return is_held(shard, GetCommand{.name_space = name_space, .id = id, .wait_ms = 60'000});
}

const std::map<std::string_view, Case>& cases() {
    static const std::map<std::string_view, Case> all{
        {"limits.commands_waiting_max", {[](EngineOptions& of) { of.commands_waiting_max = kMax; }, &use_waiting}},
        {"limits.waiting_max", {[](EngineOptions& of) { of.waiting_bytes_max = kMax * 100; }, &use_waiting}},
        {"limits.queues_max", {[](EngineOptions& of) { of.queues_max = kMax; }, &use_queue}},
        {"limits.schedules_max", {[](EngineOptions& of) { of.schedules_max = kMax; }, &use_schedule}},
        {"limits.watchdogs_max", {[](EngineOptions& of) { of.watchdogs_max = kMax; }, &use_watchdog}},
        {"limits.leased_max", {[](EngineOptions& of) { of.leased_max = kMax; }, &use_lease}},
        {"limits.message_waits_max", {[](EngineOptions& of) { of.message_waits_max = kMax; }, &use_wait}},
        {"limits.listings_max", {[](EngineOptions& of) { of.listings_max = kMax; }, &use_listing}},
        {"limits.redrives_max", {[](EngineOptions& of) { of.redrives_max = kMax; }, &use_redrive}},
    };
    return all;
}

TEST(LimitShares, each_shared_limit_of_the_engine_has_a_case) {
    for (const Limit& limit : limits()) {
        if (limit.section() != "limits") continue;  // webhook_shares_test has those of webhooks
        EXPECT_EQ(limit.is_shared, cases().contains(limit.name)) << limit.name;
    }
}

TEST(LimitShares, each_limit_of_which_the_server_counts_the_use_is_shared_or_says_why_not) {
    static const std::map<std::string_view, std::string_view> kNot{
        {"limits.namespaces_max", "only administrators of the server set it"},
        {"limits.reading_max", "is held only while the disk is read"},
        {"http.connections_max", "is shared by address"},
        {"http.event_streams_max", "is shared by token"},
        {"http.unfinished_max", "is shared by address"},
        {"http.unsent_max", "slow readers are closed"},
    };
    for (const Limit& limit : limits()) {
        if (limit.use == nullptr || limit.section() == "store" || limit.section() == "memory") continue;
        EXPECT_NE(limit.is_shared, kNot.contains(limit.name)) << limit.name;
    }
}

TEST(LimitShares, a_namespace_that_uses_all_it_can_leaves_some_for_another) {
    for (const auto& [name, how] : cases()) {
        SCOPED_TRACE(name);
        EngineOptions options;
        how.set(options);
        TrialEngine shard(options);
        int first = 0;
        while (first < 3 * kMax && how.use(shard, "greedy", first)) ++first;
        int second = 0;
        while (second < 3 * kMax && how.use(shard, "other", second)) ++second;
        EXPECT_GE(first, kMax / 2);
        EXPECT_LE(first, kMax * 18 / 20);
        EXPECT_GE(second, 1);
    }
}

TEST(LimitShares, the_default_namespace_alone_uses_everything) {
    for (const char* name :
         {"limits.queues_max", "limits.schedules_max", "limits.watchdogs_max", "limits.leased_max"}) {
        SCOPED_TRACE(name);
        const Case& how = cases().at(name);
        EngineOptions options;
        how.set(options);
        TrialEngine shard(options);
        int used = 0;
        while (used < 3 * kMax && how.use(shard, "default", used)) ++used;
        EXPECT_EQ(used, kMax);
    }
}

}  // namespace
}  // namespace duewheel::limit_shares_test
