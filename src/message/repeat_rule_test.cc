#include "message/repeat_rule.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::repeat_rule_test {
namespace {

constexpr std::uint64_t kTimesMax = 1'000;

std::string refused_member(const RepeatChoice& choice) {
    const Result<RepeatRule> rule = chosen_repeat(choice, 5'000, kTimesMax);
    if (rule) return "";
    EXPECT_EQ(rule.error().code, "out_of_range"_code);
    return rule.error().field;
}

std::vector<std::int64_t> times_of(const RepeatRule& rule, std::size_t most = 20) {
    std::vector<std::int64_t> times{rule.start_ms};
    while (times.size() < most) {
        const std::optional<std::int64_t> next = next_occurrence_ms(rule, times.size(), times.back());
        if (!next) break;
        times.push_back(*next);
    }
    return times;
}

TEST(RepeatRule, a_fixed_interval_stays) {
    const Result<RepeatRule> rule = chosen_repeat({.every_ms = 10'000, .times = 4}, 5'000, kTimesMax);
    ASSERT_TRUE(rule);
    EXPECT_EQ(times_of(*rule), (std::vector<std::int64_t>{5'000, 15'000, 25'000, 35'000}));
}

TEST(RepeatRule, a_growing_interval_grows_up_to_its_maximum) {
    const Result<RepeatRule> rule =
        chosen_repeat({.every_ms = 1'000, .times = 5, .factor_permille = 2'000, .max_ms = 5'000}, 0, kTimesMax);
    ASSERT_TRUE(rule);
    EXPECT_EQ(times_of(*rule), (std::vector<std::int64_t>{0, 1'000, 3'000, 7'000, 12'000}));
}

TEST(RepeatRule, an_end_takes_its_own_instant_in) {
    Result<RepeatRule> rule = chosen_repeat({.every_ms = 10, .until_ms = 30}, 10, kTimesMax);
    ASSERT_TRUE(rule);
    EXPECT_EQ(times_of(*rule), (std::vector<std::int64_t>{10, 20, 30}));
    rule = chosen_repeat({.every_ms = 10, .until_ms = 29}, 10, kTimesMax);
    EXPECT_EQ(times_of(*rule), (std::vector<std::int64_t>{10, 20}));
    rule = chosen_repeat({.every_ms = 10, .until_ms = 10}, 10, kTimesMax);
    EXPECT_EQ(times_of(*rule), (std::vector<std::int64_t>{10}));
}

TEST(RepeatRule, without_an_end_it_goes_on) {
    const Result<RepeatRule> rule = chosen_repeat({.every_ms = 1}, 1, kTimesMax);
    EXPECT_EQ(times_of(*rule, 5'000).size(), 5'000u);
    EXPECT_EQ(next_occurrence_ms(*rule, ~std::uint64_t{0} - 1, 7), 8);
}

TEST(RepeatRule, an_interval_of_a_millisecond_grows_by_the_smallest_factor_too) {
    const Result<RepeatRule> rule = chosen_repeat({.every_ms = 1, .factor_permille = 1'001}, 0, kTimesMax);
    EXPECT_EQ(interval_after_occurrence_ms(*rule, 1), 1);
    EXPECT_GT(interval_after_occurrence_ms(*rule, 2'000), 1);
    EXPECT_EQ(interval_after_occurrence_ms(*rule, 1'000'000'000), kRepeatEveryMaxMs);
}

TEST(RepeatRule, the_greatest_rule_does_not_overflow) {
    const Result<RepeatRule> rule =
        chosen_repeat({.every_ms = kRepeatEveryMaxMs - 1, .factor_permille = kRepeatFactorMax}, 0, kTimesMax);
    for (std::uint64_t number = 2; number < 50; ++number) {
        EXPECT_EQ(interval_after_occurrence_ms(*rule, number), kRepeatEveryMaxMs);
    }
}

TEST(RepeatRule, each_member_has_its_range) {
    EXPECT_EQ(refused_member({.every_ms = 1}), "");
    EXPECT_EQ(refused_member({.every_ms = 0}), "repeat.every");
    EXPECT_EQ(refused_member({.every_ms = kRepeatEveryMaxMs}), "");
    EXPECT_EQ(refused_member({.every_ms = kRepeatEveryMaxMs + 1}), "repeat.every");
    EXPECT_EQ(refused_member({.every_ms = 1, .times = 0}), "repeat.times");
    EXPECT_EQ(refused_member({.every_ms = 1, .times = kTimesMax}), "");
    EXPECT_EQ(refused_member({.every_ms = 1, .times = kTimesMax + 1}), "repeat.times");
    EXPECT_EQ(refused_member({.every_ms = 1, .factor_permille = 999}), "repeat.factor");
    EXPECT_EQ(refused_member({.every_ms = 1, .factor_permille = kRepeatFactorMax + 1}), "repeat.factor");
    EXPECT_EQ(refused_member({.every_ms = 1, .max_ms = 5}), "repeat.max") << "nothing grows";
    EXPECT_EQ(refused_member({.every_ms = 7, .factor_permille = 2'000, .max_ms = 6}), "repeat.max");
    EXPECT_EQ(refused_member({.every_ms = 7, .factor_permille = 2'000, .max_ms = 7}), "");
    EXPECT_EQ(refused_member({.every_ms = 7, .until_ms = 4'999}), "repeat.until");
    EXPECT_EQ(refused_member({.every_ms = 7, .until_ms = 5'000}), "");
}

}  // namespace
}  // namespace duewheel::repeat_rule_test
