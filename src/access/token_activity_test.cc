#include "access/token_activity.h"

#include <gtest/gtest.h>

namespace duewheel::token_activity_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

AccessToken limited(std::uint64_t requests, std::uint64_t bytes) {
    AccessToken token;
    token.id = "t";
    token.requests_per_second = requests;
    token.bytes_per_second = bytes;
    return token;
}

TEST(TokenActivity, a_rate_allows_a_burst_of_one_second_and_then_its_rate) {
    TokenActivity activity;
    const AccessToken token = limited(10, 0);
    const std::int64_t now = 5'000 * kMs;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(activity.admit(token, 1'000'000, now), 0) << i;
    EXPECT_EQ(activity.admit(token, 0, now), 100);
    EXPECT_EQ(activity.admit(token, 0, now + 99 * kMs), 1) << "what was refused was not counted";
    EXPECT_EQ(activity.admit(token, 0, now + 100 * kMs), 0);
    EXPECT_EQ(activity.admit(token, 0, now + 100 * kMs), 100);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(activity.admit(token, 0, now + 60'000 * kMs), 0) << i;
    EXPECT_EQ(activity.admit(token, 0, now + 60'000 * kMs), 100) << "a long pause gives no more than a second's worth";
}

TEST(TokenActivity, bytes_count_and_one_request_larger_than_a_second_passes_a_full_bucket) {
    TokenActivity activity;
    const AccessToken token = limited(0, 1'000);
    EXPECT_EQ(activity.admit(token, 600, 0), 0);
    EXPECT_EQ(activity.admit(token, 600, 0), 200);
    EXPECT_EQ(activity.admit(token, 400, 0), 0);
    EXPECT_EQ(activity.admit(token, 3'000, 500 * kMs), 500) << "it waits until the bucket is full";
    EXPECT_EQ(activity.admit(token, 3'000, 1'000 * kMs), 0);
    EXPECT_EQ(activity.admit(token, 1'000, 2'000 * kMs), 2'000) << "and is paid for afterwards";
    EXPECT_EQ(activity.admit(token, 1'000, 4'000 * kMs), 0);
}

TEST(TokenActivity, one_exceeded_rate_does_not_use_the_other) {
    TokenActivity activity;
    const AccessToken token = limited(2, 100);
    EXPECT_EQ(activity.admit(token, 100, 0), 0);
    for (int i = 0; i < 5; ++i) EXPECT_GT(activity.admit(token, 100, 0), 0);
    EXPECT_EQ(activity.admit(token, 0, 0), 0) << "the second request of this second";
}

TEST(TokenActivity, tokens_have_rates_of_their_own_and_none_without_one) {
    TokenActivity activity;
    AccessToken one = limited(1, 0);
    AccessToken other = limited(1, 0);
    other.id = "u";
    EXPECT_EQ(activity.admit(one, 0, 0), 0);
    EXPECT_EQ(activity.admit(other, 0, 0), 0);
    EXPECT_GT(activity.admit(one, 0, 0), 0);
    one.requests_per_second = 0;
    EXPECT_EQ(activity.admit(one, 0, 0), 0);
}

TEST(TokenActivity, keeps_the_last_use_until_the_token_is_removed) {
    TokenActivity activity;
    EXPECT_EQ(activity.last_used_ms("t"), 0);
    activity.note_use("t", 7);
    EXPECT_EQ(activity.last_used_ms("t"), 7);
    EXPECT_EQ(activity.last_used_ms("u"), 0);
    activity.forget("t");
    EXPECT_EQ(activity.last_used_ms("t"), 0);
}

}  // namespace
}  // namespace duewheel::token_activity_test
