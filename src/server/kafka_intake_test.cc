#include "server/kafka_intake.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::kafka_intake_test {
namespace {

TakeRecordsCommand records_for(const std::vector<std::string>& queues) {
    TakeRecordsCommand take;
    take.input = "payments.later/0";
    for (const std::string& queue : queues) {
        PutCommand put;
        put.name_space = "kafka";
        put.queue = queue;
        take.puts.push_back(put);
        take.offsets.push_back(take.next++);
    }
    return take;
}

// An intake with an engine that the test plays.
struct Trial {
    std::vector<std::pair<Command, ReplyToken>> submitted;
    std::vector<Reply> replies;
    KafkaIntake intake{[this](Command command, ReplyToken token) { submitted.emplace_back(std::move(command), token); },
                       ReplyTokens(1)};

    void take(Command command) {
        intake.accept(std::move(command), [this](Reply reply) { replies.push_back(std::move(reply)); });
    }
    bool is_patch_of(std::size_t number, const std::string& queue) const {
        const auto* patch = std::get_if<PatchQueueCommand>(&submitted.at(number).first);
        return patch != nullptr && patch->name_space == "kafka" && patch->queue == queue;
    }
    bool is_take(std::size_t number) const {
        return std::holds_alternative<TakeRecordsCommand>(submitted.at(number).first);
    }
};

TEST(KafkaIntake, gives_queues_their_topics_before_the_first_messages) {
    Trial trial;
    trial.take(records_for({"payments", "mail", "payments"}));
    ASSERT_EQ(trial.submitted.size(), 2u);
    EXPECT_TRUE(trial.is_patch_of(0, "mail") && trial.is_patch_of(1, "payments"));
    trial.intake.reply(trial.submitted[1].second, QueueAnswer{});
    EXPECT_EQ(trial.submitted.size(), 2u) << "the other target is not durable yet";
    trial.intake.reply(trial.submitted[0].second, QueueAnswer{});
    ASSERT_EQ(trial.submitted.size(), 3u);
    ASSERT_TRUE(trial.is_take(2));
    EXPECT_EQ(std::get<TakeRecordsCommand>(trial.submitted[2].first).puts.size(), 3u);
    EXPECT_TRUE(trial.replies.empty());
    trial.intake.reply(trial.submitted[2].second, TakeRecordsAnswer{.position = 3, .taken = 3, .refused = {}});
    ASSERT_EQ(trial.replies.size(), 1u);
    EXPECT_EQ(std::get<TakeRecordsAnswer>(trial.replies[0]).position, 3);

    trial.take(records_for({"mail"}));
    ASSERT_EQ(trial.submitted.size(), 4u);
    EXPECT_TRUE(trial.is_take(3)) << "once a run";
}

TEST(KafkaIntake, leaves_a_target_that_a_queue_has) {
    Trial trial;
    trial.take(records_for({"payments"}));
    const auto changed = [&](QueueSettings settings) {
        EXPECT_TRUE(std::get<PatchQueueCommand>(trial.submitted[0].first).change(settings));
        return settings;
    };
    QueueSettings settings;
    settings.pending_max = 5;
    EXPECT_EQ(changed(settings).kafka, KafkaTarget{.topic = "payments"});
    EXPECT_EQ(changed(settings).pending_max, 5u);
    settings.kafka = KafkaTarget{.topic = "elsewhere", .exactly_once = false};
    EXPECT_EQ(changed(settings), settings);
    settings.kafka.reset();
    settings.webhook = WebhookTarget{"https://receiver.example/in", {}, 0, 0, 0};
    EXPECT_EQ(changed(settings), settings);
}

// Someone removes the settings of a queue: its later messages would stay there until the next start.
TEST(KafkaIntake, gives_a_queue_its_topic_again_after_it_was_removed) {
    Trial trial;
    trial.take(records_for({"mail"}));
    trial.intake.reply(trial.submitted[0].second, QueueAnswer{});
    trial.intake.target_removed({"kafka", "mail"});
    trial.take(records_for({"mail"}));
    ASSERT_EQ(trial.submitted.size(), 3u);
    EXPECT_TRUE(trial.is_patch_of(2, "mail"));
}

TEST(KafkaIntake, refuses_messages_of_a_queue_that_cannot_get_its_target) {
    Trial trial;
    trial.take(records_for({"a", "b"}));
    trial.intake.reply(trial.submitted[0].second, Error{"queue_limit"_code, "x"});
    ASSERT_EQ(trial.replies.size(), 1u);
    EXPECT_EQ(std::get<Error>(trial.replies[0]).code, "queue_limit"_code);
    trial.intake.reply(trial.submitted[1].second, Error{"queue_limit"_code, "x"});
    EXPECT_EQ(trial.replies.size(), 1u) << "it was answered";
    trial.take(records_for({"a"}));
    EXPECT_TRUE(trial.is_patch_of(2, "a")) << "it is tried again";
}

TEST(KafkaIntake, passes_other_commands_on_at_once) {
    Trial trial;
    trial.take(CancelCommand{});
    ScheduleRule rule;
    rule.queue = "reports";
    rule.times.kind = TimesKind::cron;
    rule.times.text = "0 9 * * *";
    const Result<ScheduleTimes> times = ScheduleTimes::make(rule.times, &Zone::load);
    ASSERT_TRUE(times.ok());
    trial.take(PutScheduleCommand{.name_space = "kafka", .name = "daily", .rule = rule, .times = *times});
    ASSERT_EQ(trial.submitted.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<CancelCommand>(trial.submitted[0].first));
    EXPECT_TRUE(trial.is_patch_of(1, "reports")) << "the runs of a schedule are messages too";
    trial.intake.reply(trial.submitted[0].second, Error{"unknown_id"_code, "x"});
    EXPECT_EQ(trial.replies.size(), 1u);
}

}  // namespace
}  // namespace duewheel::kafka_intake_test
