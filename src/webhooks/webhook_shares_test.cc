#include "webhooks/webhook_shares.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::webhook_shares_test {
namespace {

constexpr std::size_t kBytes = 100;

struct Trial {
    explicit Trial(std::size_t connections, std::size_t bytes = 1u << 20) {
        options.connections_max = connections;
        options.bytes_in_flight_max = bytes;
    }
    TargetNumber join(const std::string& name_space) {
        uses.emplace_back();
        shares.join(uses.back(), uses.size(), name_space);
        return uses.size();
    }
    WebhookShares::Use& use(TargetNumber number) { return uses.at(number - 1); }
    // As a pusher does for a target that always has due messages.
    void lease_and_post(TargetNumber number) {
        for (std::size_t room = shares.room_or_wait(use(number)); room > 0; --room) shares.add(use(number), kBytes);
        post();
    }
    void post() {
        shares.take_turns([&](TargetNumber number, bool may_begin) {
            if (!may_begin) return false;
            shares.post_begun(use(number));
            posted.push_back(number);
            return true;
        });
    }
    void end_post(TargetNumber number) {
        shares.post_ended(use(number));
        shares.remove(use(number), kBytes);
    }
    std::vector<TargetNumber> fed() {
        std::vector<TargetNumber> all;
        shares.feed_starved([&](TargetNumber number) { all.push_back(number); });
        return all;
    }

    WebhookOptions options;
    WebhookShares shares{options};
    std::deque<WebhookShares::Use> uses;
    std::vector<TargetNumber> posted;
};

TEST(WebhookShares, a_namespace_leaves_a_fifth_to_the_next_one) {
    Trial trial(100);
    for (int i = 0; i < 50; ++i) trial.join("greedy");
    for (int round = 0; round < 20; ++round) {
        for (TargetNumber number = 1; number <= 50; ++number) trial.lease_and_post(number);
    }
    EXPECT_EQ(trial.shares.in_flight(), 80u);
    const TargetNumber other = trial.join("other");
    trial.lease_and_post(other);
    EXPECT_EQ(trial.posted.back(), other);
}

TEST(WebhookShares, a_target_waits_and_is_fed_when_its_share_is_free_again) {
    Trial trial(5);
    for (int i = 0; i < 6; ++i) trial.join("default");
    for (TargetNumber number = 1; number <= 6; ++number) trial.lease_and_post(number);
    EXPECT_EQ(trial.posted, (std::vector<TargetNumber>{1, 2, 3, 4}));
    EXPECT_TRUE(trial.use(5).starved);
    EXPECT_TRUE(trial.use(6).starved);
    EXPECT_FALSE(trial.shares.may_feed());
    EXPECT_TRUE(trial.fed().empty());

    trial.end_post(1);
    EXPECT_TRUE(trial.shares.may_feed());
    trial.lease_and_post(1);
    EXPECT_EQ(trial.posted.size(), 4u) << "those that wait are first";
    EXPECT_EQ(trial.fed(), (std::vector<TargetNumber>{5, 6}));
    trial.lease_and_post(5);
    EXPECT_EQ(trial.posted.back(), 5u);
}

TEST(WebhookShares, a_large_message_is_posted_alone) {
    Trial trial(100, 1'000);
    const TargetNumber number = trial.join("default");
    ASSERT_GT(trial.shares.room_or_wait(trial.use(number)), 0u);
    trial.shares.add(trial.use(number), 5'000);
    EXPECT_EQ(trial.shares.bytes(), 5'000u);
    EXPECT_EQ(trial.shares.room_or_wait(trial.use(number)), 0u);
    EXPECT_FALSE(trial.use(number).starved) << "its post will end";
    const TargetNumber other = trial.join("other");
    EXPECT_EQ(trial.shares.room_or_wait(trial.use(other)), 0u);
    EXPECT_TRUE(trial.use(other).starved);
    trial.shares.remove(trial.use(number), 5'000);
    EXPECT_TRUE(trial.shares.may_feed());
}

TEST(WebhookShares, queued_messages_take_turns_by_namespace_and_target) {
    Trial trial(100);
    const TargetNumber first = trial.join("a");
    const TargetNumber second = trial.join("a");
    const TargetNumber other = trial.join("b");
    for (const TargetNumber number : {first, first, first, second, other, other}) {
        trial.shares.add(trial.use(number), kBytes);
    }
    EXPECT_TRUE(trial.shares.has_queued());
    trial.post();
    EXPECT_EQ(trial.posted, (std::vector<TargetNumber>{first, other, second, other, first, first}));
    EXPECT_FALSE(trial.shares.has_queued());
}

TEST(WebhookShares, what_is_queued_at_the_stop_has_its_turn_and_what_waits_is_not_fed) {
    Trial trial(1);
    const TargetNumber number = trial.join("default");
    trial.lease_and_post(number);
    trial.shares.add(trial.use(number), kBytes);
    trial.post();
    EXPECT_EQ(trial.posted.size(), 1u);
    EXPECT_TRUE(trial.shares.has_queued());
    const TargetNumber waits = trial.join("default");
    EXPECT_EQ(trial.shares.room_or_wait(trial.use(waits)), 0u);
    EXPECT_TRUE(trial.use(waits).starved);
    trial.shares.stop();
    trial.post();
    EXPECT_EQ(trial.posted.size(), 2u);
    trial.end_post(number);
    trial.end_post(number);
    EXPECT_EQ(trial.shares.in_flight(), 0u);
    EXPECT_FALSE(trial.shares.may_feed());
    EXPECT_TRUE(trial.fed().empty());
}

}  // namespace
}  // namespace duewheel::webhook_shares_test
