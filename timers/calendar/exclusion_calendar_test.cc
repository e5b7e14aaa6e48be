#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include <duewheel/exclusion_calendar.h>

namespace duewheel::exclusion_calendar_test {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

year_month_day date(int y, unsigned m, unsigned d) {
    return year(y) / std::chrono::month(m) / std::chrono::day(d);
}

TEST(ExclusionCalendar, reads_weekdays_yearly_days_dates_and_ranges) {
    const auto closed = ExclusionCalendar::parse(
        "# closed\n"
        "SAT sun  # weekends\r\n"
        "\n"
        "12-25\t02-29\n"
        "2026-05-01\n"
        "2026-12-28..2027-01-02");
    ASSERT_TRUE(closed.ok()) << closed.error().message;
    for (const year_month_day day : {date(2026, 11, 21), date(2026, 11, 22), date(2030, 12, 25), date(2028, 2, 29),
                                     date(2026, 5, 1), date(2026, 12, 28), date(2026, 12, 31), date(2027, 1, 1)}) {
        EXPECT_TRUE(closed->excludes(day)) << static_cast<int>(day.year()) << static_cast<unsigned>(day.month());
    }
    for (const year_month_day day : {date(2026, 11, 20), date(2027, 5, 4), date(2027, 1, 4), date(2026, 2, 27)}) {
        EXPECT_FALSE(closed->excludes(day));
    }
    EXPECT_FALSE(closed->empty());
    EXPECT_TRUE(ExclusionCalendar::parse("")->empty());
    EXPECT_TRUE(ExclusionCalendar::parse(" # SAT\n\n#")->empty());
    EXPECT_EQ(ExclusionCalendar().days_in(year(2026) / 2), 0u);
}

TEST(ExclusionCalendar, a_refusal_names_line_and_column) {
    struct Case {
        std::string text;
        std::string place;
        std::string says;
    };
    for (const Case& c : std::vector<Case>{
             {"SATURDAY", "line 1, column 1: ", "not an entry"},
             {"SAT\n\n  12-32", "line 3, column 3: ", "this day does not exist in any year"},
             {"02-30", "line 1, column 1: ", "this day does not exist in any year"},
             {"12-251", "line 1, column 1: ", "not an entry"},
             {"SAT 2026-02-29", "line 1, column 5: ", "this date does not exist"},
             {"2026-13-01", "line 1, column 1: ", "this date does not exist"},
             {"2026-12-28/2026-12-31", "line 1, column 11: ", "next entry"},
             {"2026-12-28..", "line 1, column 13: ", "a date is expected"},
             {"2026-12-28..12-31", "line 1, column 13: ", "a date is expected"},
             {"2026-12-28..2026-12-32", "line 1, column 13: ", "this date does not exist"},
             {"2026-12-28..2026-12-27", "line 1, column 13: ", "ends before"},
             {"2026-12-28..2500-12-27", "line 1, column 13: ", "400 years"},
             {"2026-12-28...2026-12-29", "line 1, column 13: ", "a date is expected"},
             {"2026-12-28 .. 2026-12-29", "line 1, column 12: ", "not an entry"},
             {"20261228", "line 1, column 1: ", "not an entry"},
             {"09:00", "line 1, column 1: ", "not an entry"},
         }) {
        const auto parsed = ExclusionCalendar::parse(c.text);
        ASSERT_FALSE(parsed.ok()) << c.text;
        EXPECT_EQ(parsed.error().code, ErrorCode::bad_exclusion);
        EXPECT_TRUE(parsed.error().message.starts_with(c.place)) << c.text << ": " << parsed.error().message;
        EXPECT_NE(parsed.error().message.find(c.says), std::string::npos) << c.text << ": " << parsed.error().message;
    }
}

// Ranges that touch, overlap, hold each other, in any order, against a set of days.
TEST(ExclusionCalendar, ranges_in_any_order_are_the_days_they_name) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        ExclusionCalendar calendar;
        std::set<sys_days> excluded;
        const sys_days begin = sys_days(date(2027, 11, 1));
        for (std::uint64_t i = random.between(1, 25); i > 0; --i) {
            const sys_days first = begin + days(random.below(400));
            const sys_days last = first + days(random.below(random.chance(100'000) ? 200 : 9));
            calendar.exclude(year_month_day(first), year_month_day(last));
            for (sys_days day = first; day <= last; day += days(1)) excluded.insert(day);
        }
        calendar.exclude(date(2028, 3, 9), date(2028, 3, 8));
        for (sys_days day = begin - days(40); day < begin + days(700); day += days(1)) {
            ASSERT_EQ(calendar.excludes(year_month_day(day)), excluded.contains(day)) << day.time_since_epoch().count();
        }
    }
}

}  // namespace
}  // namespace duewheel::exclusion_calendar_test
