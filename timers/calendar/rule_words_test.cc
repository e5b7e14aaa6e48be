#include "calendar/rule_words.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <duewheel/zone.h>

namespace duewheel::rule_words_test {
namespace {

using namespace std::chrono_literals;

struct Case {
    std::string_view rule;
    std::string_view en;
    std::string_view zh;
};

constexpr Case kCases[] = {
    // Times of day.
    {"0 9 * * MON-FRI", "At 09:00, Monday to Friday", "周一至周五 09:00"},
    {"30 2 * * *", "At 02:30, every day", "每天 02:30"},
    {"@daily", "At 00:00, every day", "每天 00:00"},
    {"0 9,18 * * *", "At 09:00 and 18:00, every day", "每天 09:00 和 18:00"},
    {"*/20 30 9 * * *", "At 09:30:00, 09:30:20 and 09:30:40, every day", "每天 09:30:00、09:30:20 和 09:30:40"},
    {"0 22-2/2 * * *", "At 00:00, 02:00 and 22:00, every day", "每天 00:00、02:00 和 22:00"},
    {"5 0 9 * * *", "At 09:00:05, every day", "每天 09:00:05"},
    // Frequencies.
    {"* * * * *", "Every minute", "每分钟"},
    {"* * * * * *", "Every second", "每秒"},
    {"*/20 * * * * *", "Every 20 seconds", "每 20 秒"},
    {"30 * * * * *", "At second 30 of every minute", "每分钟，第 30 秒"},
    {"*/15 * * * *", "Every 15 minutes", "每 15 分钟"},
    {"0,15,30,45 * * * *", "Every 15 minutes", "每 15 分钟"},
    {"*/7 * * * *", "At minutes 0 to 56 in steps of 7 of every hour", "每小时，第 0 至 56（步长 7）分"},
    {"1,2,3,9,20 * * * *", "At minutes 1 to 3, 9 and 20 of every hour", "每小时，第 1 至 3、9 和 20 分"},
    {"@hourly", "At minute 0 of every hour", "每小时，第 0 分"},
    {"30 * * * *", "At minute 30 of every hour", "每小时，第 30 分"},
    {"0 */2 * * *", "At minute 0 every 2 hours", "每 2 小时，第 0 分"},
    {"*/5 */2 * * *", "Every 5 minutes in every 2nd hour", "每 2 小时，每 5 分钟"},
    {"*/15 8-17 * * *", "Every 15 minutes from 08:00 to 17:59", "08:00 至 17:59，每 15 分钟"},
    {"*/15 22-2 * * *", "Every 15 minutes from 22:00 to 02:59", "22:00 至 02:59，每 15 分钟"},
    {"0 9-17 * * *", "At minute 0 of every hour from 09:00 to 17:59", "09:00 至 17:59，第 0 分"},
    {"*/10 8-11,14-17 * * *", "Every 10 minutes from 08:00 to 11:59 and from 14:00 to 17:59",
     "08:00 至 11:59 和 14:00 至 17:59，每 10 分钟"},
    {"0,7 8-18/3 * * *", "At minutes 0 and 7 of hours 8, 11, 14 and 17", "第 8、11、14 和 17 时，第 0 和 7 分"},
    {"*/20 */5 * * * *", "Every 20 seconds of every 5th minute", "每 5 分钟，每 20 秒"},
    {"* 30 9-17 * * *", "Every second of minute 30 of every hour from 09:00 to 17:59",
     "09:00 至 17:59，第 30 分，每秒"},
    // Days of the month.
    {"0 0 1,15,L * *", "At 00:00 on the 1st, the 15th and the last day of the month",
     "每月 1 日、15 日和最后一天 00:00"},
    {"0 0 2-4,22 * *", "At 00:00 on the 2nd to the 4th and the 22nd of the month", "每月 2 日至 4 日和 22 日 00:00"},
    {"0 0 11-13 * *", "At 00:00 on the 11th to the 13th of the month", "每月 11 日至 13 日 00:00"},
    {"0 0 */2 * *", "At 00:00 on every 2nd day from the 1st to the 31st of the month",
     "每月 1 日至 31 日每 2 天 00:00"},
    {"0 0 1-31 * FRI", "At 00:00, every day", "每天 00:00"},
    {"0 12 15W * *", "At 12:00 on the working day nearest to the 15th of the month", "每月离 15 日最近的工作日 12:00"},
    {"0 12 LW * *", "At 12:00 on the last working day of the month", "每月最后一个工作日 12:00"},
    {"0 12 L-3W * *", "At 12:00 on the working day nearest to the 4th last day of the month",
     "每月离倒数第 4 天最近的工作日 12:00"},
    {"0 0 12 L-2 * ?", "At 12:00 on the 3rd last day of the month", "每月倒数第 3 天 12:00"},
    {"@monthly", "At 00:00 on the 1st of the month", "每月 1 日 00:00"},
    {"@yearly", "At 00:00 on the 1st of January", "1 月 1 日 00:00"},
    // Weekdays.
    {"0 0 * * SAT,SUN", "At 00:00 on Saturday and Sunday", "周六和周日 00:00"},
    {"0 0 * * FRI-MON", "At 00:00, Friday to Monday", "周五至周一 00:00"},
    {"0 0 * * 7", "At 00:00 on Sunday", "周日 00:00"},
    {"0 0 * * MON-SUN", "At 00:00, every day", "每天 00:00"},
    {"0 0 9 ? * 2", "At 09:00 on Monday", "周一 09:00"},
    {"0 0 9 ? * L", "At 09:00 on Saturday", "周六 09:00"},
    {"0 8 * * FRIL", "At 08:00 on the last Friday of the month", "每月最后一个周五 08:00"},
    {"30 18 * * TUE#2", "At 18:30 on the second Tuesday of the month", "每月第二个周二 18:30"},
    {"0 8 * * MON-TUE#L", "At 08:00 on the last Monday and the last Tuesday of the month",
     "每月最后一个周一和最后一个周二 08:00"},
    // Both.
    {"0 0 13 * FRI", "At 00:00 on the 13th of the month and on Friday", "每月 13 日以及周五 00:00"},
    {"0 0 13 1 FRI", "At 00:00 on the 13th of the month and on Friday in January", "1 月 13 日以及周五 00:00"},
    {"0 0 */10 * SUN", "At 00:00 on the 1st, the 11th, the 21st and the 31st of the month, if it is a Sunday",
     "每月 1 日、11 日、21 日和 31 日且为周日 00:00"},
    {"0 0 1,2 * */3", "At 00:00 on the 1st and the 2nd of the month, if it is a Wednesday, a Saturday or a Sunday",
     "每月 1 日和 2 日且为周三、周六或周日 00:00"},
    {"0 0 */10 5 FRI#2", "At 00:00 on the 1st, the 11th, the 21st and the 31st of May, if it is the second Friday",
     "5 月 1 日、11 日、21 日和 31 日且为第二个周五 00:00"},
    // Months and years.
    {"0 6 1 JAN,APR,JUL,OCT *", "At 06:00 on the 1st of January, April, July and October",
     "1 月、4 月、7 月和 10 月 1 日 06:00"},
    {"0 6 * NOV-FEB *", "At 06:00, in November to February", "11 月至 2 月 06:00"},
    {"0 6 * 3 MON", "At 06:00 on Monday in March", "3 月周一 06:00"},
    {"0 0 0 1 1 ? 2027-2028", "At 00:00 on the 1st of January 2027 and 2028", "2027 和 2028 年 1 月 1 日 00:00"},
    {"0 0 0 ? * 6L 2027", "At 00:00 on the last Friday of the month in 2027", "2027 年每月最后一个周五 00:00"},
    {"0 0 0 1 * ? 2030/20", "At 00:00 on the 1st of the month in 2030 to 2190 in steps of 20",
     "2030 至 2190（步长 20）年每月 1 日 00:00"},
};

TEST(RuleWords, cron_rules_in_both_languages) {
    for (const Case& each : kCases) {
        const Result<CronRule> rule = CronRule::parse(each.rule);
        ASSERT_TRUE(rule) << each.rule << ": " << rule.error().message;
        EXPECT_EQ(words_of(*rule, Language::en), each.en) << each.rule;
        EXPECT_EQ(words_of(*rule, Language::zh), each.zh) << each.rule;
    }
}

std::string repeating(std::string_view text, Language language) {
    const Result<RepeatingInterval> interval = RepeatingInterval::parse(text, Zone::utc());
    return interval ? words_of(*interval, text, language) : interval.error().message;
}

TEST(RuleWords, fixed_intervals) {
    EXPECT_EQ(words_of(10s, Language::en), "Every 10 seconds");
    EXPECT_EQ(words_of(10s, Language::zh), "每 10 秒");
    EXPECT_EQ(words_of(1h, Language::en), "Every hour");
    EXPECT_EQ(words_of(1h, Language::zh), "每小时");
    EXPECT_EQ(words_of(90min, Language::en), "Every 1 hour 30 minutes");
    EXPECT_EQ(words_of(90min, Language::zh), "每 1 小时 30 分钟");
    EXPECT_EQ(words_of(48h, Language::en), "Every 2 days");
    EXPECT_EQ(words_of(1500ms, Language::en), "Every 1 second 500 milliseconds");
}

TEST(RuleWords, repeating_intervals_and_single_times) {
    EXPECT_EQ(repeating("R/2026-01-31T09:00:00/P1M", Language::en), "Every month from 2026-01-31 09:00:00");
    EXPECT_EQ(repeating("R/2026-01-31T09:00:00/P1M", Language::zh), "每月，从 2026-01-31 09:00:00 起");
    EXPECT_EQ(repeating("R/2026-01-31T09:00:00/P3M", Language::zh), "每 3 个月，从 2026-01-31 09:00:00 起");
    EXPECT_EQ(repeating("R5/2026-01-01T00:00:00Z/PT1H", Language::en), "Every hour from 2026-01-01 00:00:00Z, 5 times");
    EXPECT_EQ(repeating("R5/2026-01-01T00:00:00Z/PT1H", Language::zh), "每小时，从 2026-01-01 00:00:00Z 起，共 5 次");
    EXPECT_EQ(repeating("R/2026-01-01T00:00:00Z/2026-01-01T00:00:20Z", Language::en),
              "Every 20 seconds from 2026-01-01 00:00:00Z");
    EXPECT_EQ(repeating("R/2026-01-01T00:00:00/P1Y2M10DT2H", Language::en),
              "Every 1 year 2 months 10 days 2 hours from 2026-01-01 00:00:00");
    EXPECT_EQ(repeating("R1/2026-01-01T00:00:00Z/PT1H", Language::en), "Once, at 2026-01-01 00:00:00Z");
    EXPECT_EQ(words_of_one("2027-01-01T06:00:00", Language::en), "Once, at 2027-01-01 06:00:00");
    EXPECT_EQ(words_of_one("2027-01-01T06:00:00", Language::zh), "一次，2027-01-01 06:00:00");
}

}  // namespace
}  // namespace duewheel::rule_words_test
