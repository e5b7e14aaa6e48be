#include "kafka/out/kafka_settled_messages.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::kafka_settled_messages_test {
namespace {

constexpr DueMs kNever = INT64_MAX;

struct Trial {
    // The token of a lookup is its number among them, from 1.
    std::vector<MessageId> asked;
    KafkaSettledMessages settled{[this](Command command) {
        asked.push_back(std::get<GetCommand>(command).id);
        return ReplyToken{asked.size()};
    }};

    void reply(ReplyToken token, State state) {
        MessageAnswer answer;
        answer.row.state.state = state;
        settled.reply(token, answer);
    }
};

TEST(KafkaSettledMessages, what_has_ended_is_taken_once) {
    Trial trial;
    trial.settled.add(1);
    trial.settled.look_up({{"default", 2}, {"default", 3}, {"default", 4}, {"default", 5}, {"default", 6}}, 10);
    EXPECT_EQ(trial.settled.next_wakeup(kNever), 10);
    trial.settled.run_due(10);
    EXPECT_EQ(trial.asked, (std::vector<MessageId>{2, 3, 4, 5, 6}));
    EXPECT_TRUE(trial.settled.is_of(1));
    trial.reply(1, State::done);
    trial.reply(2, State::scheduled);
    trial.reply(3, State::dead);
    trial.settled.reply(4, Error{"unknown_id"_code, "", ""});
    trial.settled.reply(5, Error{"too_busy"_code, "", ""});
    EXPECT_FALSE(trial.settled.is_of(1));
    EXPECT_EQ(trial.settled.take(), (std::vector<MessageId>{1, 2, 5}));
    EXPECT_TRUE(trial.settled.take().empty());
}

TEST(KafkaSettledMessages, what_has_not_ended_is_looked_up_again_after_a_minute) {
    Trial trial;
    EXPECT_EQ(trial.settled.next_wakeup(kNever), kNever);
    trial.settled.look_up({{"default", 7}}, 0);
    trial.settled.run_due(0);
    EXPECT_EQ(trial.settled.next_wakeup(kNever), kNever) << "it waits for the reply";
    trial.reply(1, State::leased);
    EXPECT_EQ(trial.settled.next_wakeup(kNever), 60'000);
    trial.settled.run_due(59'999);
    EXPECT_EQ(trial.asked.size(), 1u);
    trial.settled.run_due(60'000);
    EXPECT_EQ(trial.asked.size(), 2u);
    trial.reply(2, State::cancelled);
    EXPECT_EQ(trial.settled.take(), (std::vector<MessageId>{7}));
    EXPECT_EQ(trial.settled.next_wakeup(kNever), kNever);
}

TEST(KafkaSettledMessages, a_hundred_are_looked_up_at_a_time) {
    Trial trial;
    std::vector<KafkaMessageName> names;
    for (MessageId id = 1; id <= 150; ++id) names.push_back({"default", id});
    trial.settled.look_up(names, 0);
    trial.settled.run_due(0);
    EXPECT_EQ(trial.asked.size(), 100u);
    trial.settled.run_due(0);
    EXPECT_EQ(trial.asked.size(), 100u) << "until all have replies";
    for (ReplyToken token = 1; token <= 100; ++token) trial.reply(token, State::done);
    EXPECT_EQ(trial.settled.next_wakeup(kNever), 0);
    trial.settled.run_due(0);
    EXPECT_EQ(trial.asked.size(), 150u);
}

}  // namespace
}  // namespace duewheel::kafka_settled_messages_test
