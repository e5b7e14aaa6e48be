// Which days and times a rule matches: cases by hand, and random rules compared with a slow interpretation.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/slow_cron_fixture.h"
#include "shared/random.h"
#include <duewheel/cron_rule.h>

namespace duewheel::cron_rule_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::local_days;
using std::chrono::year;
using std::chrono::year_month_day;

LocalSecond midnight(int y, unsigned m, unsigned d) {
    return local_days{year(y) / std::chrono::month(m) / std::chrono::day(d)};
}

// The days of one year on which a rule fires, as "02-28".
std::vector<std::string> days_of(std::string_view rule, int in_year) {
    const Result<CronRule> parsed = CronRule::parse(rule);
    EXPECT_TRUE(parsed.ok()) << rule;
    std::vector<std::string> found;
    for (auto at = parsed->at_or_after(midnight(in_year, 1, 1)); at && *at < midnight(in_year + 1, 1, 1);
         at = parsed->at_or_after(std::chrono::floor<days>(*at) + 24h)) {
        const year_month_day date(std::chrono::floor<days>(*at));
        std::array<char, 16> text{};
        std::snprintf(text.data(), text.size(), "%02u-%02u", static_cast<unsigned>(date.month()),
                      static_cast<unsigned>(date.day()));
        found.emplace_back(text.data());
    }
    return found;
}

using Days = std::vector<std::string>;

TEST(CronRule, counts_days_from_the_end_of_the_month) {
    EXPECT_EQ(days_of("0 0 L 1-4 *", 2026), (Days{"01-31", "02-28", "03-31", "04-30"}));
    EXPECT_EQ(days_of("0 0 L 2 *", 2028), (Days{"02-29"}));
    EXPECT_EQ(days_of("0 0 L-3 2,4 *", 2026), (Days{"02-25", "04-27"}));
    EXPECT_EQ(days_of("0 0 L-30 1-4 *", 2026), (Days{"01-01", "03-01"}));
    EXPECT_EQ(days_of("0 0 1,15,L 2 *", 2026), (Days{"02-01", "02-15", "02-28"}));
}

TEST(CronRule, moves_to_the_nearest_working_day_inside_the_month) {
    // 2026: the 1st of August is a Saturday, the 1st of November and the 31st of May are Sundays.
    EXPECT_EQ(days_of("0 0 1W 8,11 *", 2026), (Days{"08-03", "11-02"}));
    EXPECT_EQ(days_of("0 0 31W 1,5,10 *", 2026), (Days{"01-30", "05-29", "10-30"}));
    EXPECT_EQ(days_of("0 0 31W 4 *", 2026), Days{});
    EXPECT_EQ(days_of("0 0 LW 1,2,5 *", 2026), (Days{"01-30", "02-27", "05-29"}));
    EXPECT_EQ(days_of("0 0 L-1W 5 *", 2026), (Days{"05-29"}));
    EXPECT_EQ(days_of("0 0 15w 11 *", 2026), (Days{"11-16"}));
}

TEST(CronRule, counts_weekdays_in_the_month) {
    EXPECT_EQ(days_of("0 0 * 11 FRI#1", 2026), (Days{"11-06"}));
    EXPECT_EQ(days_of("0 0 * 9-11 FRI#5", 2026), (Days{"10-30"}));
    EXPECT_EQ(days_of("0 0 * 11 FRIL,MON#2", 2026), (Days{"11-09", "11-27"}));
    EXPECT_EQ(days_of("0 0 * 2 6L", 2026), (Days{"02-28"}));
}

TEST(CronRule, of_day_and_weekday_one_is_enough_where_both_are_restricted) {
    EXPECT_EQ(days_of("0 0 13 11 FRI", 2026), (Days{"11-06", "11-13", "11-20", "11-27"}));
    EXPECT_EQ(days_of("0 0 10 11 FRI#1", 2026), (Days{"11-06", "11-10"}));
    // A field that begins with a star restricts nothing, as in cron: both must hold.
    EXPECT_EQ(days_of("0 0 */10 11 SUN", 2026), (Days{"11-01"}));
    EXPECT_EQ(days_of("0 0 1-10 11 */6", 2026), (Days{"11-01", "11-07", "11-08"}));
}

TEST(CronRule, reports_never_without_a_search) {
    for (const char* rule : {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 29 2 ? 2100", "0 0 L-30 2 *", "0 0 30W 2 *",
                             "0 0 0 ? 2 MON#5 2026", "0 0 0 1 1 ? 1970"}) {
        const Result<CronRule> parsed = CronRule::parse(rule);
        ASSERT_TRUE(parsed.ok()) << rule;
        EXPECT_EQ(parsed->at_or_after(midnight(2026, 11, 21)), std::nullopt) << rule;
    }
    EXPECT_EQ(CronRule::parse("0 0 30 2 *")->at_or_before(midnight(2026, 11, 21)), std::nullopt);
}

TEST(CronRule, waits_for_rare_days) {
    const auto leap = CronRule::parse("0 0 29 2 *");
    EXPECT_EQ(leap->at_or_after(midnight(2096, 3, 1)), midnight(2104, 2, 29));
    EXPECT_EQ(leap->at_or_before(midnight(2104, 2, 28)), midnight(2096, 2, 29));
    // The fifth Monday of February, which is a 29th; next to a century without a leap day.
    EXPECT_EQ(CronRule::parse("0 0 * 2 MON#5")->at_or_after(midnight(2092, 1, 1)), midnight(2112, 2, 29));
    EXPECT_EQ(CronRule::parse("0 0 0 29 2 ? 2196")->at_or_after(midnight(2026, 1, 1)), midnight(2196, 2, 29));
}

TEST(CronRule, ends_with_the_calendar) {
    const auto daily = CronRule::parse("0 12 * * *");
    EXPECT_EQ(daily->at_or_after(midnight(2400, 1, 31) + 13h), std::nullopt);
    EXPECT_EQ(daily->at_or_after(midnight(2400, 2, 1)), std::nullopt);
    EXPECT_EQ(daily->at_or_before(midnight(2600, 1, 1)), midnight(2400, 1, 31) + 12h);
    EXPECT_EQ(daily->at_or_before(midnight(1969, 11, 30)), std::nullopt);
    EXPECT_EQ(daily->at_or_after(midnight(1900, 1, 1)), midnight(1969, 12, 1) + 12h);
}

TEST(CronRule, excluded_days_are_skipped) {
    const auto closed = ExclusionCalendar::parse("SAT SUN 12-25 2026-12-28..2026-12-31");
    ASSERT_TRUE(closed.ok());
    const auto daily = CronRule::parse("0 9 * * *");
    EXPECT_EQ(daily->at_or_after(midnight(2026, 12, 24) + 10h, *closed), midnight(2027, 1, 1) + 9h);
    EXPECT_EQ(daily->at_or_before(midnight(2027, 1, 1), *closed), midnight(2026, 12, 24) + 9h);
    EXPECT_EQ(CronRule::parse("0 9 * * SUN")->at_or_after(midnight(2026, 1, 1), *closed), std::nullopt);
    EXPECT_EQ(CronRule::parse("0 9 25 12 *")->at_or_before(midnight(2399, 1, 1), *closed), std::nullopt);
}

// Up to the first fatal failure.
template <class Check>
void for_random_rules(std::uint64_t seeds, Check check) {
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFatalFailure(); ++seed) {
        Random random(seed);
        const std::string text = random_rule(random);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
        const Result<CronRule> rule = CronRule::parse(text);
        ASSERT_TRUE(rule.ok()) << rule.error().message;
        check(random, SlowCron(text), *rule);
    }
}

// Day by day over years that hold every shape of a month, a leap day and a century.
TEST(CronRule, random_rules_mean_the_days_that_a_slow_reading_means) {
    std::uint64_t matched = 0;
    for_random_rules(150, [&](Random& random, const SlowCron& slow, const CronRule& rule) {
        const LocalSecond begin = midnight(random.chance(500'000) ? 2026 : 2098, 1, 1);
        for (LocalSecond at = begin; at < begin + days(4 * 366); at += days(1)) {
            const bool expected = slow.matches_day(year_month_day(std::chrono::floor<days>(at)));
            const auto found = rule.at_or_after(at);
            ASSERT_EQ(found && *found < at + days(1), expected) << at.time_since_epoch().count();
            const auto before = rule.at_or_before(at + days(1) - 1s);
            ASSERT_EQ(before && *before >= at, expected) << at.time_since_epoch().count();
            matched += expected ? 1 : 0;
        }
    });
    EXPECT_GT(matched, 20'000u);
}

TEST(CronRule, random_rules_mean_the_minutes_that_a_slow_reading_means) {
    std::uint64_t matched = 0;
    for_random_rules(60, [&](Random&, const SlowCron& slow, const CronRule& rule) {
        const auto first = rule.at_or_after(midnight(2026, 2, 1));
        if (!first) return;
        const auto begin = std::chrono::local_time<std::chrono::minutes>(std::chrono::floor<days>(*first) - 24h);
        auto expected_next = begin;
        for (auto at = begin; at < begin + 72h; at += 1min) {
            ASSERT_EQ(rule.matches(at), slow.matches(at));
            ASSERT_FALSE(rule.matches(at + 1s));
            if (expected_next < at) expected_next = at;
            while (expected_next < begin + 96h && !slow.matches(expected_next)) expected_next += 1min;
            if (expected_next < begin + 96h) {
                ASSERT_EQ(rule.at_or_after(at - 59s), LocalSecond(expected_next));
            }
            matched += slow.matches(at) ? 1 : 0;
        }
    });
    EXPECT_GT(matched, 1'000u);
}

// Second by second around firings, with the seconds of the rule as a list.
TEST(CronRule, random_seconds_are_found_from_every_second_near_them) {
    std::uint64_t matched = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const std::string minutes = random_rule(random);
        std::set<std::int64_t> seconds;
        std::string text;
        for (std::uint64_t i = random.between(1, 4); i > 0; --i) {
            const auto [second, fresh] = seconds.insert(random.between(0, 59));
            if (fresh) text += (text.empty() ? "" : ",") + std::to_string(*second);
        }
        text += " " + minutes;
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
        const Result<CronRule> rule = CronRule::parse(text);
        ASSERT_TRUE(rule.ok()) << rule.error().message;
        const auto first = rule->at_or_after(midnight(2026, 2, 1));
        if (!first) continue;
        const SlowCron slow(minutes);
        const auto means = [&](LocalSecond at) {
            const auto minute = std::chrono::floor<std::chrono::minutes>(at);
            return seconds.contains((at - minute).count()) && slow.matches(minute);
        };
        std::optional<LocalSecond> last;
        for (LocalSecond at = *first; at < *first + 5min; at += 1s) {
            const bool expected = means(at);
            if (expected) {
                ASSERT_EQ(last ? rule->at_or_after(*last + 1s) : rule->at_or_after(at - 1s), at);
                last = at;
                ++matched;
            }
            ASSERT_EQ(rule->matches(at), expected);
            ASSERT_EQ(rule->at_or_before(at), last);
        }
    }
    EXPECT_GT(matched, 100u);
}

TEST(CronRule, seconds_go_forward_and_back) {
    const auto rule = CronRule::parse("*/20,59 30 12 * * *");
    const LocalSecond noon = midnight(2026, 11, 21) + 12h + 30min;
    std::vector<LocalSecond> forward;
    for (auto at = rule->at_or_after(noon); forward.size() < 5; at = rule->at_or_after(*at + 1s))
        forward.push_back(*at);
    EXPECT_EQ(forward, (std::vector<LocalSecond>{noon, noon + 20s, noon + 40s, noon + 59s, noon + 24h}));
    std::vector<LocalSecond> backward;
    for (auto at = rule->at_or_before(noon + 24h); backward.size() < 5; at = rule->at_or_before(*at - 1s)) {
        backward.push_back(*at);
    }
    std::reverse(backward.begin(), backward.end());
    EXPECT_EQ(forward, backward);
}

}  // namespace
}  // namespace duewheel::cron_rule_test
