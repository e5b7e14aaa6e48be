#include "engine/rules/named_rules.h"

#include <gtest/gtest.h>

#include "engine/rules/schedules.h"
#include "engine/rules/watchdogs.h"
#include "engine/trial/trial_context.h"

namespace duewheel::named_rules_test {
namespace {

struct Trial : TrialContext {
    Trial() { context.run.started = context.run.serving = true; }

    PutWatchdogCommand put() const {
        PutWatchdogCommand command;
        command.name = "backup";
        command.rule.queue = "alerts";
        command.rule.timeout_ms = 1'000;
        command.body = "late";
        return command;
    }
    template <class Add>
    std::vector<Record> batch(Add&& add) {
        return TrialContext::batch([&] { queues.begin_batch(), add(); },
                                   [this](const std::string&, Operation& operation) { apply(operation); });
    }
    template <class Command>
    Verdict decide(Command command, ReplyToken token) {
        return TrialContext::decide([this](auto&& add) { this->batch(add); }, watchdogs, std::move(command), token);
    }
    void apply(Operation& operation) {
        if (const auto* rule = std::get_if<RuleRecord>(&operation.record)) watchdogs.apply(operation, *rule);
    }
    void advance_to(DueMs at_ms) {
        now = at_ms;
        context.wheel.advance_to(
            static_cast<Tick>(at_ms), [this](std::uint64_t cookie, Tick) { watchdogs.wake(cookie & ~kWatchdogCookie); },
            1'000);
    }

    DeadLetters dead_letters{context};
    Queues queues{context, dead_letters};
    Watchdogs watchdogs{context, queues, {}};
};

TEST(NamedRules, a_rule_is_created_once_and_described_with_its_content) {
    Trial trial;
    EXPECT_EQ(trial.decide(trial.put(), 1), Verdict::settled);
    EXPECT_TRUE(trial.take<WatchdogAnswer>(1).created);
    EXPECT_EQ(trial.decide(trial.put(), 2), Verdict::settled);  // the same: nothing is written
    EXPECT_FALSE(trial.take<WatchdogAnswer>(2).created);
    trial.watchdogs.read(DescribeWatchdogCommand{.name = "backup"}, 3, nullptr);
    EXPECT_EQ(trial.take<WatchdogAnswer>(3).body, "late");
    trial.watchdogs.read(DescribeWatchdogCommand{.name = "backups"}, 4, nullptr);
    EXPECT_NE(trial.take<Error>(4).message.find("did you mean `backup`"), std::string::npos);
    EXPECT_EQ(trial.queues.namespaces().at(kDefaultNamespace).watchdogs, 1u);
}

TEST(NamedRules, a_second_command_on_a_rule_waits_for_the_next_batch) {
    Trial trial;
    trial.decide(trial.put(), 1);
    trial.batch([&] {
        PendingCommand first;
        PendingCommand second;
        EXPECT_EQ(trial.watchdogs.decide(first, FeedWatchdogCommand{.name = "backup"}), Verdict::settled);
        EXPECT_EQ(trial.watchdogs.decide(second, FeedWatchdogCommand{.name = "backup"}), Verdict::deferred);
    });
}

TEST(NamedRules, a_watchdog_that_is_not_fed_creates_a_message_with_its_content) {
    Trial trial;
    trial.decide(trial.put(), 1);
    trial.advance_to(trial.now + 999);
    EXPECT_TRUE(trial.watchdogs.is_idle());
    trial.advance_to(trial.now + 1);
    const std::vector<Record> records = trial.batch([&] { trial.watchdogs.add_to_batch(); });
    ASSERT_EQ(records.size(), 2u);  // the message, and the state of the watchdog after it
    EXPECT_EQ(kind_of(records[0]), RecordKind::spawn);
    EXPECT_EQ(as_message(records[0]).state.queue, "alerts");
    EXPECT_EQ(trial.watchdogs.table().find(kDefaultNamespace, "backup")->state.fired, 1u);
    trial.watchdogs.check();
}

TEST(NamedRules, compaction_writes_a_rule_again_only_if_its_record_is_still_the_newest_whole_one) {
    Trial trial;
    trial.decide(trial.put(), 1);
    const Watchdog& watchdog = *trial.watchdogs.table().find(kDefaultNamespace, "backup");
    const Sequence before = watchdog.log_position;
    RelocateRuleCommand command{.subject = Subject::watchdog, .name_space = std::string(kDefaultNamespace)};
    command.name = "backup";
    command.log_position = before;
    command.record_body = *trial.context.cache.find(before);
    PendingCommand pending;
    trial.batch([&] { trial.watchdogs.decide(pending, command); });
    EXPECT_GT(watchdog.log_position, before);
    EXPECT_TRUE(trial.batch([&] { trial.watchdogs.decide(pending, command); }).empty());
}

TEST(NamedRules, a_removed_rule_is_forgotten_and_its_number_finds_nothing) {
    Trial trial;
    trial.decide(trial.put(), 1);
    const RuleNumber number = trial.watchdogs.table().find(kDefaultNamespace, "backup")->number;
    trial.decide(RemoveWatchdogCommand{.name = "backup"}, 2);
    EXPECT_EQ(trial.watchdogs.table().find(kDefaultNamespace, "backup"), nullptr);
    EXPECT_EQ(trial.queues.namespaces().find(kDefaultNamespace), nullptr);
    trial.decide(trial.put(), 3);
    EXPECT_NE(trial.watchdogs.table().find(kDefaultNamespace, "backup")->number, number);
}

}  // namespace
}  // namespace duewheel::named_rules_test
