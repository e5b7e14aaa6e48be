#include "access/failed_token_limit.h"

#include <string>

#include <gtest/gtest.h>

namespace duewheel::failed_token_limit_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kNow = 5'000 * kMs;

TEST(FailedTokenLimit, an_address_has_a_burst_and_then_one_failure_per_second) {
    FailedTokenLimit limit;
    for (int i = 0; i < FailedTokenLimit::kBurst; ++i) EXPECT_EQ(limit.admit("10.0.0.7", kNow), 0) << i;
    EXPECT_EQ(limit.admit("10.0.0.7", kNow), 1'000);
    EXPECT_EQ(limit.admit("10.0.0.7", kNow + 999 * kMs), 1) << "what was refused is not counted";
    EXPECT_EQ(limit.admit("10.0.0.7", kNow + 1'000 * kMs), 0);
    EXPECT_EQ(limit.admit("10.0.0.7", kNow + 1'000 * kMs), 1'000);
    EXPECT_EQ(limit.admit("10.0.0.8", kNow), 0) << "another address";
}

TEST(FailedTokenLimit, an_address_that_was_quiet_has_its_burst_again_and_no_more) {
    FailedTokenLimit limit;
    for (int i = 0; i < FailedTokenLimit::kBurst; ++i) limit.admit("10.0.0.7", kNow);
    const std::int64_t later = kNow + 3'600'000 * kMs;
    for (int i = 0; i < FailedTokenLimit::kBurst; ++i) EXPECT_EQ(limit.admit("10.0.0.7", later), 0) << i;
    EXPECT_EQ(limit.admit("10.0.0.7", later), 1'000);
}

TEST(FailedTokenLimit, any_number_of_addresses_has_the_failures_of_all_buckets) {
    FailedTokenLimit limit;
    std::size_t admitted = 0;
    for (int i = 0; i < 200'000; ++i) admitted += limit.admit("fd00::" + std::to_string(i), kNow) == 0 ? 1 : 0;
    EXPECT_LE(admitted, FailedTokenLimit::kBuckets * FailedTokenLimit::kBurst);
    EXPECT_GT(admitted, FailedTokenLimit::kBuckets * FailedTokenLimit::kBurst / 2);
}

}  // namespace
}  // namespace duewheel::failed_token_limit_test
