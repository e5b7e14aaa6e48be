// Access tokens in the engine, and what a command with limits can see.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_engine.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel::engine_tokens_test {
namespace {

ChangeTokenCommand set(std::string id, AccessToken token, bool keeps_admin = false) {
    return {std::move(id),
            [token = std::move(token)](const AccessToken*, DueMs) -> Result<std::optional<AccessToken>> {
                return std::optional(token);
            },
            keeps_admin};
}
ChangeTokenCommand remove(std::string id, bool keeps_admin = false) {
    return {
        std::move(id),
        [](const AccessToken*, DueMs) -> Result<std::optional<AccessToken>> { return std::optional<AccessToken>(); },
        keeps_admin};
}
AccessToken with(ScopeSet scopes) {
    AccessToken token;
    token.scopes = scopes;
    return token;
}
const AccessToken kAdmin = with({Scope::admin});

SharedLimits limits(std::vector<std::string> namespaces, std::string prefix) {
    return std::make_shared<const AccessLimits>(AccessLimits{std::move(namespaces), std::move(prefix)});
}

TEST(Tokens, are_set_changed_and_removed_and_each_change_is_part_of_the_log) {
    TrialEngine shard;
    EXPECT_EQ(shard.ask<Error>(DescribeTokenCommand{"a"}).code, "unknown_token"_code);
    const TokenAnswer made = shard.ask<TokenAnswer>(set("a", with({Scope::put})));
    EXPECT_TRUE(made.created);
    EXPECT_EQ(made.token.id, "a");
    EXPECT_EQ(made.token.revision, 1u);
    ASSERT_NE(shard.engine().tokens().find("a"), nullptr);
    EXPECT_NE(shard.engine().totals().digest, 0u);
    const Totals before = shard.engine().totals();
    EXPECT_FALSE(shard.ask<TokenAnswer>(set("a", with({Scope::put}))).created);
    EXPECT_EQ(shard.engine().totals().sequence, before.sequence) << "what says nothing new writes nothing";
    EXPECT_EQ(shard.ask<TokenAnswer>(set("a", with({Scope::read}))).token.revision, 2u);
    EXPECT_EQ(shard.ask<TokenAnswer>(DescribeTokenCommand{"a"}).token.scopes, ScopeSet({Scope::read}));
    EXPECT_EQ(shard.ask<TokenAnswer>(remove("a")).removed, true);
    EXPECT_EQ(shard.ask<TokenAnswer>(remove("a")).removed, false);
    EXPECT_EQ(shard.engine().tokens().find("a"), nullptr);
    EXPECT_EQ(shard.engine().totals().digest, 0u);
    EXPECT_EQ(shard.engine().totals().needed_bytes, 0u);
}

TEST(Tokens, survive_a_crash_and_compaction) {
    TrialEngine shard;
    AccessToken token = with({Scope::put, Scope::consume});
    token.limits = limits({"default"}, "orders-");
    token.certificate_names = {"orders.example"};
    shard.ask<TokenAnswer>(set("a", token));
    shard.ask<TokenAnswer>(set("b", kAdmin));
    shard.ask<TokenAnswer>(remove("b"));
    TrialEngine again({}, shard);
    again.turn();
    const TokenTable& tokens = again.engine().tokens();
    ASSERT_NE(tokens.find("a"), nullptr);
    EXPECT_EQ(*tokens.find("a")->limits, *token.limits);
    EXPECT_EQ(tokens.find_by_certificate("orders.example"), tokens.find("a"));
    EXPECT_EQ(tokens.find("b"), nullptr);
    const Sequence log_position = tokens.find_stored("a")->log_position;
    const RelocateSettingsCommand relocate{std::string(kDefaultNamespace), "a", log_position, Subject::token};
    EXPECT_TRUE(again.ask<RelocateAnswer>(relocate).relocated);
    EXPECT_GT(tokens.find_stored("a")->log_position, log_position);
    EXPECT_EQ(*tokens.find("a")->limits, *token.limits);
    EXPECT_FALSE(again.ask<RelocateAnswer>(relocate).relocated) << "a newer record has overtaken it";
}

TEST(Tokens, several_changes_of_one_batch_are_executed_in_order) {
    TrialEngine shard;
    shard.turn();
    const ReplyToken first = shard.submit(set("a", with({Scope::put})));
    const ReplyToken second = shard.submit(set("a", with({Scope::read})));
    const ReplyToken other = shard.submit(set("b", with({Scope::read})));
    const ReplyToken third = shard.submit(remove("a"));
    shard.turn();
    EXPECT_TRUE(shard.take<TokenAnswer>(first).created);
    EXPECT_FALSE(shard.take<TokenAnswer>(second).created);
    EXPECT_TRUE(shard.take<TokenAnswer>(other).created);
    EXPECT_EQ(shard.take<TokenAnswer>(third).removed, true);
    EXPECT_EQ(shard.engine().tokens().size(), 1u);
}

TEST(Tokens, a_name_of_a_certificate_belongs_to_one_token) {
    TrialEngine shard;
    AccessToken token = kAdmin;
    token.certificate_names = {"host.example"};
    shard.turn();
    const ReplyToken first = shard.submit(set("a", token));
    const ReplyToken second = shard.submit(set("b", token));
    shard.turn();
    EXPECT_TRUE(shard.take<TokenAnswer>(first).created);
    EXPECT_EQ(shard.take<Error>(second).code, "certificate_name_taken"_code);
    EXPECT_EQ(shard.ask<TokenAnswer>(set("a", kAdmin)).token.certificate_names.size(), 0u);
    EXPECT_TRUE(shard.ask<TokenAnswer>(set("b", token)).created);
    EXPECT_EQ(shard.engine().tokens().find_by_certificate("host.example")->id, "b");
}

// A URI that spelled another client's DNS name had its rights: the type of a name was lost.
TEST(Tokens, a_name_of_a_certificate_counts_with_its_type) {
    TrialEngine shard;
    AccessToken token = kAdmin;
    token.certificate_names = {"host.example", "spiffe://example/worker", "ann@host.example", "uri:urn:a"};
    shard.ask<TokenAnswer>(set("a", token));
    const TokenTable& tokens = shard.engine().tokens();
    for (const char* name :
         {"dns:host.example", "uri:spiffe://example/worker", "email:ann@host.example", "uri:urn:a", "host.example"}) {
        EXPECT_NE(tokens.find_by_certificate(name), nullptr) << name;
    }
    for (const char* name :
         {"uri:host.example", "email:host.example", "dns:spiffe://example/worker", "dns:ann@host.example", "urn:b"}) {
        EXPECT_EQ(tokens.find_by_certificate(name), nullptr) << name;
    }
    token.certificate_names = {"dns:host.example"};
    shard.turn();
    const ReplyToken other = shard.submit(set("b", token));
    shard.turn();
    EXPECT_EQ(shard.take<Error>(other).code, "certificate_name_taken"_code)
        << "with and without its type it is one name";
}

TEST(Tokens, the_last_one_that_may_change_all_tokens_is_kept) {
    TrialEngine shard;
    shard.ask<TokenAnswer>(set("a", kAdmin));
    AccessToken of_one = kAdmin;
    of_one.limits = limits({"default"}, "");
    shard.ask<TokenAnswer>(set("b", of_one));
    AccessToken expired = kAdmin;
    expired.expires_ms = kStart - 1;
    shard.ask<TokenAnswer>(set("c", expired));
    EXPECT_EQ(shard.ask<Error>(remove("a", true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<Error>(set("a", with({Scope::read}), true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<Error>(set("a", of_one, true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<Error>(set("a", expired, true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<TokenAnswer>(remove("b", true)).removed, true);
    // Nor one that lasts longer than all others: after them no token could change tokens.
    AccessToken brief = kAdmin;
    brief.expires_ms = kStart + 60'000;
    shard.ask<TokenAnswer>(set("e", brief));
    EXPECT_EQ(shard.ask<Error>(remove("a", true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<Error>(set("a", brief, true)).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<TokenAnswer>(remove("e", true)).removed, true);
    shard.ask<TokenAnswer>(set("d", kAdmin));
    // Each sees the other one there: only one of the two may go.
    const ReplyToken first = shard.submit(remove("a", true));
    const ReplyToken second = shard.submit(remove("d", true));
    shard.turn();
    EXPECT_EQ(shard.take<TokenAnswer>(first).removed, true);
    EXPECT_EQ(shard.take<Error>(second).code, "last_admin"_code);
    EXPECT_EQ(shard.ask<TokenAnswer>(remove("d")).removed, true) << "where no token is needed";
}

TEST(Tokens, are_listed_in_pages_by_id) {
    TrialEngine shard;
    for (const char* id : {"c", "a", "b"}) shard.ask<TokenAnswer>(set(id, kAdmin));
    const auto page = [&](std::string after, std::uint32_t size) {
        const TokenListAnswer answer = shard.ask<TokenListAnswer>(ListTokensCommand{std::move(after), size});
        std::string ids;
        for (const TokenAnswer& each : answer.tokens) ids += each.token.id;
        return ids + (answer.complete ? "." : "+");
    };
    EXPECT_EQ(page("", 2), "ab+");
    EXPECT_EQ(page("b", 2), "c.");
    EXPECT_EQ(page("", 3), "abc.");
    EXPECT_EQ(page("c", 3), ".");
    EXPECT_EQ(shard.ask<Error>(ListTokensCommand{"", 0}).code, "out_of_range"_code);
}

// ---- what a command with limits sees

class Limited : public testing::Test {
  protected:
    TrialEngine shard;
    const SharedLimits orders = limits({"default"}, "orders-");
};

TEST(LimitedAnywhere, a_message_of_another_queue_is_unknown_in_memory_and_index) {
    EngineOptions options;
    options.segment_bytes = 16 * 1024;
    TrialEngine shard(options);
    const SharedLimits orders = limits({"default"}, "orders-");
    const MessageId own = shard.put(86'400'000, "body", "orders-eu");
    const MessageId foreign = shard.put(86'400'000, "body", "mail");
    for (const bool is_in_index : {false, true}) {
        if (is_in_index) shard.move_to_index();
        EXPECT_EQ(shard.ask<MessageAnswer>(GetCommand{"default", own}, orders).row.id, own);
        const Error unknown = shard.ask<Error>(GetCommand{"default", 999'999'999}, orders);
        const auto same = [&](Command command) {
            const Error error = shard.ask<Error>(std::move(command), orders);
            return error.code == "unknown_id"_code && error.field == unknown.field;
        };
        EXPECT_TRUE(same(GetCommand{"default", foreign}));
        EXPECT_TRUE(same(CancelCommand{"default", foreign}));
        EXPECT_TRUE(same(RescheduleCommand{"default", foreign, {{}, 5}}));
        EXPECT_TRUE(same(FireCommand{"default", foreign}));
        EXPECT_TRUE(same(HoldCommand{"default", foreign}));
        EXPECT_TRUE(same(KickCommand{"default", foreign}));
        EXPECT_TRUE(same(DiscardCommand{"default", foreign}));
        EXPECT_TRUE(same(SettleCommand{"default", foreign, true}));
    }
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", own}, orders).outcome, ChangeOutcome::cancelled);
    EXPECT_EQ(shard.ask<Error>(GetCommand{"default", foreign}, limits({"other"}, "")).code, "forbidden"_code);
    EXPECT_EQ(shard.ask<ChangeAnswer>(CancelCommand{"default", foreign}).outcome, ChangeOutcome::cancelled)
        << "without limits it is there, and nothing has happened to it";
    EXPECT_EQ(shard.ask<Error>(GetCommand{"default", foreign}, orders).code, "unknown_id"_code) << "nor its end";
}

TEST_F(Limited, a_lease_of_another_queue_has_ended) {
    shard.put(0, "body", "mail");
    const auto leased = shard.ask<LeaseAnswer>(LeaseCommand{.queue = "mail", .max = 1, .lease_ms = 30'000});
    ASSERT_EQ(leased.messages.size(), 1u);
    const LeaseToken lease = leased.messages.front().lease;
    for (const SharedLimits& other : {orders, limits({"other"}, "")}) {
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{lease}, other).outcome, LeaseOutcome::expired);
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(FailCommand{lease, "no", {}}, other).outcome, LeaseOutcome::expired);
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(ExtendCommand{lease, {}}, other).outcome, LeaseOutcome::expired);
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(ReleaseCommand{lease}, other).outcome, LeaseOutcome::expired);
        EXPECT_EQ(shard.ask<LeaseEndAnswer>(HoldLeaseCommand{lease}, other).outcome, LeaseOutcome::expired);
    }
    EXPECT_EQ(shard.ask<LeaseEndAnswer>(AckCommand{lease}, limits({"default"}, "ma")).outcome, LeaseOutcome::done);
}

TEST_F(Limited, queues_outside_of_the_limits_are_refused) {
    const auto is_refused = [&](Command command, std::string_view field) {
        const Error error = shard.ask<Error>(std::move(command), orders);
        return error.code == "forbidden"_code && error.field == field;
    };
    PutCommand put{.queue = "mail"};
    EXPECT_TRUE(is_refused(put, "queue"));
    PutBatchCommand batch;
    batch.puts = {PutCommand{.queue = "orders-eu"}, put};
    EXPECT_TRUE(is_refused(batch, "queue"));
    PutCommand prepared{.queue = "orders-eu"};
    prepared.transaction = TransactionRule{"mail", 1'000, 1, false};
    EXPECT_TRUE(is_refused(prepared, "transaction.check_back.queue"));
    EXPECT_TRUE(is_refused(LeaseCommand{.queue = "mail"}, "queue"));
    EXPECT_TRUE(is_refused(ListCommand{.queue = "mail"}, "queue"));
    EXPECT_TRUE(is_refused(HistoryCommand{.queue = "mail"}, "queue"));
    EXPECT_TRUE(is_refused(ForecastCommand{.queue = "mail"}, "queue"));
    EXPECT_TRUE(is_refused(ForecastCommand{}, "queue")) << "of all queues";
    EXPECT_TRUE(is_refused(DescribeQueueCommand{"default", "mail"}, "queue"));
    EXPECT_TRUE(is_refused(RedriveCommand{"default", "mail", {}}, "queue"));
    EXPECT_TRUE(is_refused(ConfigureQueueCommand{.queue = "mail"}, "queue"));
    EXPECT_TRUE(is_refused(GetCommand{"default", 0, {"mail", "key"}}, "queue"));
    EXPECT_TRUE(is_refused(CancelCommand{"default", 0, {"mail", "key"}}, "queue"));
    EXPECT_TRUE(is_refused(PutCommand{.name_space = "other", .queue = "orders-eu"}, "namespace"));
    prepared.transaction->check_queue = "orders-checks";
    EXPECT_NE(shard.ask<PutAnswer>(prepared, orders).id, 0u);
}

PutScheduleCommand hourly(std::string name, std::string queue) {
    const TimesRule times{.kind = TimesKind::every, .every_ms = 3'600'000};
    ScheduleRule rule;
    rule.times = times;
    rule.queue = std::move(queue);
    return {.name = std::move(name), .rule = rule, .times = *ScheduleTimes::make(times, &Zone::load)};
}

TEST_F(Limited, a_schedule_of_another_queue_is_unknown_and_none_can_be_set_for_one) {
    using Control = ControlScheduleCommand::What;
    EXPECT_EQ(shard.ask<Error>(hourly("mails", "mail"), orders).code, "forbidden"_code);
    shard.ask<ScheduleAnswer>(hourly("mails", "mail"));
    EXPECT_EQ(shard.ask<Error>(hourly("mails", "orders-eu"), orders).code, "unknown_schedule"_code);
    const Error error = shard.ask<Error>(DescribeScheduleCommand{"default", "mailss"}, orders);
    EXPECT_EQ(error.code, "unknown_schedule"_code);
    EXPECT_EQ(error.message.find("mails`"), std::string::npos) << error.message;
    EXPECT_EQ(shard.ask<Error>(DescribeScheduleCommand{"default", "mails"}, orders).message, error.message);
    EXPECT_EQ(shard.ask<Error>(PreviewScheduleCommand{"default", "mails"}, orders).message, error.message);
    for (const Control what : {Control::pause, Control::resume, Control::fire}) {
        EXPECT_EQ(shard.ask<Error>(ControlScheduleCommand{"default", "mails", what}, orders).message, error.message);
    }
    EXPECT_EQ(shard.ask<ScheduleAnswer>(ControlScheduleCommand{"default", "mails", Control::remove}, orders).removed,
              false);
    const PatchScheduleCommand patch{"default", "mails",
                                     [](const ScheduleRule&, const MessageContent&) -> Result<PutScheduleCommand> {
                                         return hourly("mails", "orders-eu");
                                     }};
    EXPECT_EQ(shard.ask<Error>(patch, orders).message, error.message);
    // A patch may not move one of its own to another queue either.
    shard.ask<ScheduleAnswer>(hourly("orders", "orders-eu"), orders);
    const PatchScheduleCommand moves{"default", "orders",
                                     [](const ScheduleRule&, const MessageContent&) -> Result<PutScheduleCommand> {
                                         return hourly("orders", "mail");
                                     }};
    EXPECT_EQ(shard.ask<Error>(moves, orders).code, "forbidden"_code);
    EXPECT_EQ(shard.ask<ScheduleAnswer>(DescribeScheduleCommand{"default", "orders"}, orders).state.rule.queue,
              "orders-eu");
}

TEST_F(Limited, a_watchdog_of_another_queue_is_unknown_and_none_can_be_set_for_one) {
    PutWatchdogCommand put{.name = "mails"};
    put.rule.queue = "mail";
    put.rule.timeout_ms = 1'000;
    EXPECT_EQ(shard.ask<Error>(put, orders).code, "forbidden"_code);
    shard.ask<WatchdogAnswer>(put);
    const Error error = shard.ask<Error>(FeedWatchdogCommand{"default", "nothing"}, orders);
    EXPECT_EQ(error.code, "unknown_watchdog"_code);
    EXPECT_EQ(shard.ask<Error>(FeedWatchdogCommand{"default", "mails"}, orders).message, error.message);
    EXPECT_EQ(shard.ask<Error>(DescribeWatchdogCommand{"default", "mails"}, orders).message, error.message);
    EXPECT_EQ(shard.ask<WatchdogAnswer>(RemoveWatchdogCommand{"default", "mails"}, orders).removed, false);
    put.rule.queue = "orders-eu";
    EXPECT_EQ(shard.ask<Error>(put, orders).message, error.message);
    const PatchWatchdogCommand patch{
        "default", "mails",
        [&](const WatchdogRule&, const MessageContent&) -> Result<PutWatchdogCommand> { return put; }};
    EXPECT_EQ(shard.ask<Error>(patch, orders).message, error.message);
}

TEST_F(Limited, lists_omit_what_is_outside_and_their_pages_are_full) {
    PutWatchdogCommand watchdog{.name = "w"};
    watchdog.rule.timeout_ms = 1'000;
    for (const char* queue : {"a", "orders-1", "orders-2", "orders-3", "z"}) {
        shard.put(86'400'000, "body", queue);
        shard.ask<ScheduleAnswer>(hourly(std::string("of-") + queue, queue));
        watchdog.name = std::string("of-") + queue;
        watchdog.rule.queue = queue;
        shard.ask<WatchdogAnswer>(watchdog);
    }
    const auto queues = shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "", 2}, orders);
    ASSERT_EQ(queues.queues.size(), 2u);
    EXPECT_EQ(queues.queues.front().queue, "orders-1");
    EXPECT_FALSE(queues.complete);
    const auto rest = shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "orders-2", 2}, orders);
    ASSERT_EQ(rest.queues.size(), 1u);
    EXPECT_TRUE(rest.complete) << "what follows is outside";
    EXPECT_TRUE(shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "x", 2}, orders).queues.empty());
    EXPECT_EQ(shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "", 9, "ord"}, orders).queues.size(), 3u);
    EXPECT_EQ(shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "", 9, "orders-3"}, orders).queues.size(), 1u);
    EXPECT_TRUE(shard.ask<QueueListAnswer>(ListQueuesCommand{"default", "", 9, "z"}, orders).queues.empty());
    const auto schedules = shard.ask<ScheduleListAnswer>(ListSchedulesCommand{"default", "", 3}, orders);
    ASSERT_EQ(schedules.schedules.size(), 3u);
    EXPECT_EQ(schedules.schedules.back().name, "of-orders-3");
    EXPECT_TRUE(schedules.complete);
    const auto watchdogs = shard.ask<WatchdogListAnswer>(ListWatchdogsCommand{"default", "of-orders-1", 1}, orders);
    ASSERT_EQ(watchdogs.watchdogs.size(), 1u);
    EXPECT_EQ(watchdogs.watchdogs.front().name, "of-orders-2");
    EXPECT_FALSE(watchdogs.complete);
    shard.ask<PutAnswer>(PutCommand{.name_space = "other", .queue = "q"});
    const auto spaces = shard.ask<NamespaceListAnswer>(ListNamespacesCommand{"", 1}, limits({"other"}, ""));
    ASSERT_EQ(spaces.namespaces.size(), 1u);
    EXPECT_EQ(spaces.namespaces.front().name_space, "other");
    EXPECT_TRUE(spaces.complete);
}

}  // namespace
}  // namespace duewheel::engine_tokens_test
