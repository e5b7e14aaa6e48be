#include "message/retry_rule.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::retry_rule_test {
namespace {

constexpr RetryRule kBase{10, 1'000, 2'000, 3'600'000, 200};

std::string refused_member(const RetryChoice& choice) {
    const Result<RetryRule> rule = chosen_rule(choice, kBase);
    if (rule) return "";
    EXPECT_EQ(rule.error().code, "out_of_range"_code);
    return rule.error().field;
}

TEST(RetryRule, backoffs_grow_by_the_factor_up_to_the_maximum) {
    const RetryRule rule{5, 1'000, 2'000, 5'000, 0};
    EXPECT_EQ(backoff_after_failure_ms(rule, 1, 1024), 1'000);
    EXPECT_EQ(backoff_after_failure_ms(rule, 2, 1024), 2'000);
    EXPECT_EQ(backoff_after_failure_ms(rule, 3, 1024), 4'000);
    EXPECT_EQ(backoff_after_failure_ms(rule, 4, 1024), 5'000);
    EXPECT_EQ(backoff_after_failure_ms(rule, 1'000'000, 1024), 5'000);
}

TEST(RetryRule, a_factor_of_one_never_grows) {
    const RetryRule rule{1'000'000, 700, 1'000, 3'600'000, 0};
    for (const std::uint32_t failure : {1u, 2u, 50u, 999'999u}) {
        EXPECT_EQ(backoff_after_failure_ms(rule, failure, 7), 700);
    }
}

TEST(RetryRule, a_backoff_of_a_millisecond_grows_by_a_small_factor_too) {
    const RetryRule rule{1'000'000, 1, 1'010, 1'000, 0};
    EXPECT_GT(backoff_after_failure_ms(rule, 200, 7), 5);
    EXPECT_EQ(backoff_after_failure_ms(rule, 5'000, 7), 1'000);
}

TEST(RetryRule, the_greatest_rule_does_not_overflow) {
    const RetryRule rule{1'000'000, kRetryBackoffMaxMs - 1, kRetryFactorMax, kRetryBackoffMaxMs, kRetryJitterMax};
    for (std::uint32_t failure = 1; failure < 50; ++failure) {
        const std::int64_t rest = backoff_after_failure_ms(rule, failure, failure * 1024);
        EXPECT_GE(rest, 0);
        EXPECT_LE(rest, 2 * kRetryBackoffMaxMs);
    }
}

TEST(RetryRule, jitter_stays_within_its_share_and_is_the_same_each_time) {
    const RetryRule rule{10, 10'000, 1'000, 10'000, 200};
    std::set<std::int64_t> seen;
    std::int64_t least = 10'000;
    std::int64_t greatest = 10'000;
    for (std::uint64_t id = 1; id <= 2'000; ++id) {
        const std::int64_t rest = backoff_after_failure_ms(rule, 1, id * 1024);
        EXPECT_EQ(rest, backoff_after_failure_ms(rule, 1, id * 1024));
        seen.insert(rest);
        least = std::min(least, rest);
        greatest = std::max(greatest, rest);
    }
    EXPECT_EQ(least, 8'000) << "of 2,000 messages some come as early as they may";
    EXPECT_EQ(greatest, 12'000);
    EXPECT_GT(seen.size(), 300u);
    EXPECT_NE(backoff_after_failure_ms(rule, 1, 1024), backoff_after_failure_ms(rule, 2, 1024));
}

TEST(RetryRule, unset_members_are_those_of_the_base) {
    EXPECT_EQ(*chosen_rule({}, kBase), kBase);
    RetryChoice choice;
    choice.attempts = 3;
    EXPECT_EQ(*chosen_rule(choice, kBase), (RetryRule{3, 1'000, 2'000, 3'600'000, 200}));
    choice = {};
    choice.first_ms = 7'200'000;
    EXPECT_EQ(chosen_rule(choice, kBase)->max_ms, 7'200'000) << "a first rest beyond the base's longest";
    choice = {};
    choice.max_ms = 500;
    EXPECT_EQ(chosen_rule(choice, kBase)->first_ms, 500) << "a longest rest below the base's first";
}

TEST(RetryRule, each_member_has_its_bounds) {
    const auto with = [](std::optional<std::int64_t> RetryChoice::*member, std::int64_t value) {
        RetryChoice choice;
        choice.*member = value;
        return refused_member(choice);
    };
    EXPECT_EQ(with(&RetryChoice::attempts, 0), "retry.attempts");
    EXPECT_EQ(with(&RetryChoice::attempts, 1), "");
    EXPECT_EQ(with(&RetryChoice::attempts, kRetryAttemptsMax), "");
    EXPECT_EQ(with(&RetryChoice::attempts, kRetryAttemptsMax + 1), "retry.attempts");
    EXPECT_EQ(with(&RetryChoice::first_ms, -1), "retry.first");
    EXPECT_EQ(with(&RetryChoice::first_ms, 0), "");
    EXPECT_EQ(with(&RetryChoice::first_ms, kRetryBackoffMaxMs), "");
    EXPECT_EQ(with(&RetryChoice::first_ms, kRetryBackoffMaxMs + 1), "retry.first");
    EXPECT_EQ(with(&RetryChoice::factor_permille, 999), "retry.factor");
    EXPECT_EQ(with(&RetryChoice::factor_permille, 1'000), "");
    EXPECT_EQ(with(&RetryChoice::factor_permille, 100'000), "");
    EXPECT_EQ(with(&RetryChoice::factor_permille, 100'001), "retry.factor");
    EXPECT_EQ(with(&RetryChoice::max_ms, kRetryBackoffMaxMs), "");
    EXPECT_EQ(with(&RetryChoice::max_ms, kRetryBackoffMaxMs + 1), "retry.max");
    EXPECT_EQ(with(&RetryChoice::jitter_permille, 1'000), "");
    EXPECT_EQ(with(&RetryChoice::jitter_permille, 1'001), "retry.jitter");
    RetryChoice crossed;
    crossed.first_ms = 2'000;
    crossed.max_ms = 1'999;
    EXPECT_EQ(refused_member(crossed), "retry.max");
}

}  // namespace
}  // namespace duewheel::retry_rule_test
