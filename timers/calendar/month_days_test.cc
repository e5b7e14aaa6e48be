// The bits of a month compared with std::chrono, for every month of the calendar.
#include "calendar/month_days.h"

#include <gtest/gtest.h>

namespace duewheel::month_days_test {
namespace {

using std::chrono::year_month_day;

TEST(MonthDays, every_month_has_its_length_and_weekdays) {
    std::chrono::year_month month = std::chrono::year(1969) / 12;
    for (; month <= std::chrono::year(2400) / 1; month += std::chrono::months(1)) {
        const MonthShape shape = shape_of(month);
        for (unsigned day = 1; day <= 31; ++day) {
            const year_month_day date = month / std::chrono::day(day);
            ASSERT_EQ(shape.all() >> day & 1, date.ok() ? 1u : 0u);
            if (!date.ok()) continue;
            const unsigned weekday = std::chrono::weekday(std::chrono::sys_days(date)).c_encoding();
            ASSERT_EQ(shape.weekday_of(day), weekday);
            for (unsigned set = 0; set < 128; set += 9) {
                ASSERT_EQ(shape.days_on(static_cast<std::uint8_t>(set)) >> day & 1, set >> weekday & 1);
            }
        }
        ASSERT_EQ(shape.all() & 1, 0u);
        ASSERT_EQ(shape.days_on(0x7f), shape.all());
    }
}

// The nearest working day, found by looking left and right from the day.
TEST(MonthDays, the_nearest_working_day_stays_in_its_month) {
    for (std::chrono::year_month month = std::chrono::year(2020) / 1; month < std::chrono::year(2048) / 1;
         month += std::chrono::months(1)) {
        const MonthShape shape = shape_of(month);
        for (unsigned day = 1; day <= shape.length; ++day) {
            unsigned nearest = 0;
            for (unsigned distance = 0; nearest == 0; ++distance) {
                for (const unsigned candidate : {day - distance, day + distance}) {
                    const bool inside = candidate >= 1 && candidate <= shape.length;
                    const bool works = inside && shape.weekday_of(candidate) != 0 && shape.weekday_of(candidate) != 6;
                    if (works && nearest == 0) nearest = candidate;
                }
            }
            ASSERT_EQ(shape.nearest_working_day(day), nearest) << static_cast<int>(month.year()) << " " << day;
        }
    }
}

TEST(MonthDays, names_are_read_in_either_case) {
    EXPECT_EQ(weekday_of_name("sun"), 0u);
    EXPECT_EQ(weekday_of_name("SaT"), 6u);
    EXPECT_EQ(weekday_of_name("SUND"), std::nullopt);
    EXPECT_EQ(weekday_of_name(""), std::nullopt);
    EXPECT_EQ(position_of_name("dec", kMonthNames), 11u);
}

}  // namespace
}  // namespace duewheel::month_days_test
