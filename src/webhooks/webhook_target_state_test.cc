#include "webhooks/webhook_target_state.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::webhook_target_state_test {
namespace {

struct Trial {
    Status set(const std::string& url, bool paused = false, std::uint32_t concurrency = 4) {
        TargetQueue queue;
        queue.name = {"default", "q"};
        queue.paused = paused;
        queue.webhook = WebhookTarget{url, {}, 0, concurrency, 0};
        return state.configure(queue, secrets, cipher);
    }
    void open_breaker(DueMs now) {
        for (std::uint32_t i = 0; i < TargetBreaker::kFailuresToOpen; ++i) {
            state.failed(state.breaker.openings(), now);
        }
    }

    WebhookOptions options;
    WebhookSecrets secrets;
    HeaderCipher cipher;
    WebhookTargetState state;
};

TEST(WebhookTargetState, another_url_is_another_target) {
    Trial trial;
    ASSERT_TRUE(trial.set("http://a.example/"));
    trial.open_breaker(0);
    trial.state.backoff_until_ms = 500;
    trial.state.trying = 1;
    ASSERT_TRUE(trial.set("http://a.example/", false, 8));
    EXPECT_TRUE(trial.state.breaker.is_open()) << "only its concurrency has changed";
    EXPECT_EQ(trial.state.concurrency(trial.options), 8u);
    ASSERT_TRUE(trial.set("http://b.example/"));
    EXPECT_FALSE(trial.state.breaker.is_open());
    EXPECT_EQ(trial.state.backs_off_until(), 0);
    EXPECT_EQ(trial.state.trying, 0u);
    EXPECT_FALSE(trial.state.has_url("http://a.example/"));
}

TEST(WebhookTargetState, a_resume_ends_the_backoff_and_a_pause_does_not) {
    Trial trial;
    ASSERT_TRUE(trial.set("http://a.example/"));
    trial.state.backoff_until_ms = 500;
    ASSERT_TRUE(trial.set("http://a.example/", true));
    EXPECT_EQ(trial.state.backs_off_until(), 500);
    EXPECT_FALSE(trial.state.may_post());
    ASSERT_TRUE(trial.set("http://a.example/", false));
    EXPECT_EQ(trial.state.backs_off_until(), 0);
    EXPECT_TRUE(trial.state.may_post());
}

TEST(WebhookTargetState, a_target_that_is_gone_stays_paused_until_the_pause_is_answered) {
    Trial trial;
    ASSERT_TRUE(trial.set("http://a.example/"));
    trial.state.gone_url = "http://a.example/";
    ASSERT_TRUE(trial.set("http://a.example/", false, 8));
    EXPECT_FALSE(trial.state.may_post());
    ASSERT_TRUE(trial.set("http://b.example/"));
    EXPECT_TRUE(trial.state.may_post());
}

TEST(WebhookTargetState, a_webhook_that_cannot_be_used_is_not_posted_to) {
    Trial trial;
    TargetQueue queue;
    queue.name = {"default", "q"};
    queue.webhook = WebhookTarget{"http://a.example/", {"missing"}, 0, 0, 0};
    const Status fit = trial.state.configure(queue, trial.secrets, trial.cipher);
    ASSERT_FALSE(fit);
    EXPECT_FALSE(trial.state.may_post());
    EXPECT_EQ(trial.state.status(0, 0).state, TargetStatus::State::unfit);
    ASSERT_TRUE(trial.set("http://a.example/"));
    EXPECT_EQ(trial.state.status(3, 0).state, TargetStatus::State::works);
    EXPECT_EQ(trial.state.status(3, 0).in_flight, 3u);
}

TEST(WebhookTargetState, an_open_breaker_lets_one_post_test_the_target) {
    Trial trial;
    ASSERT_TRUE(trial.set("http://a.example/"));
    EXPECT_EQ(trial.state.wanted(1, 1, trial.options, 0), 3u);
    EXPECT_EQ(trial.state.wanted(5, 1, trial.options, 0), 0u);
    trial.state.trying = 4;
    trial.open_breaker(0);
    EXPECT_EQ(trial.state.trying, 0u) << "posts from before it opened do not count";
    EXPECT_EQ(trial.state.status(0, 0).state, TargetStatus::State::failed);
    EXPECT_EQ(trial.state.status(0, 1'000).state, TargetStatus::State::trying);
    EXPECT_EQ(trial.state.wanted(4, 4, trial.options, 1'000), 1u);
    EXPECT_FALSE(trial.state.is_being_tested());
    ++trial.state.trying;
    EXPECT_TRUE(trial.state.is_being_tested());
    EXPECT_EQ(trial.state.wanted(5, 5, trial.options, 1'000), 0u);
    trial.state.backoff_until_ms = 5'000;
    EXPECT_EQ(trial.state.status(0, 1'000).state, TargetStatus::State::retry_after);
    EXPECT_EQ(trial.state.status(0, 1'000).backoff_until_ms, 5'000);
}

}  // namespace
}  // namespace duewheel::webhook_target_state_test
