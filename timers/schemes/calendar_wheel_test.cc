// The calendar wheel on civil dates: the examples by which such wheels are explained, the seams between units that do
// not nest, and the counts of units against the standard library's calendar.
#include "schemes/calendar_wheel.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "schemes/calendar_units.h"
#include "schemes/fired_timers.h"

namespace duewheel {
namespace {

enum Ring : std::size_t { kSeconds, kMinutes, kHours, kDays, kWeeks, kMonths, kYears };

Tick at(int year, unsigned month, unsigned day, unsigned hour = 0, unsigned minute = 0, unsigned second = 0) {
    const std::chrono::sys_days days{std::chrono::year{year} / static_cast<int>(month) / static_cast<int>(day)};
    return static_cast<Tick>(days.time_since_epoch().count()) * 86'400 + hour * 3600 + minute * 60 + second;
}

TEST(CalendarWheel, keeps_the_1st_of_each_month_at_6_on_the_months_and_moves_it_down_to_the_hours) {
    CalendarWheel wheel(at(2027, 1, 10, 9, 30));
    const TimerHandle task = wheel.schedule(at(2027, 2, 1, 6), 1);
    std::vector<Tick> runs;
    const auto rent_is_due = [&](std::uint64_t, Tick deadline) {
        runs.push_back(deadline);
        const unsigned next_month = static_cast<unsigned>(runs.size()) + 2;
        if (next_month <= 12) {
            EXPECT_TRUE(wheel.reschedule(task, at(2027, next_month, 1, 6)));
        }
    };
    for (unsigned month = 2; month <= 12; ++month) {
        const Tick first = at(2027, month, 1);
        EXPECT_EQ(wheel.place_of(task), (Place{kMonths, month - 1})) << month;
        wheel.advance_to(first - 1, rent_is_due);
        EXPECT_EQ(wheel.place_of(task), (Place{kMonths, month - 1})) << "until the month begins";
        wheel.advance_to(first, rent_is_due);
        EXPECT_EQ(wheel.place_of(task), (Place{kHours, 6})) << "past the rings between, as six hours remain";
        wheel.check();
        wheel.advance_to(first + 6 * 3600 - 1, rent_is_due);
        EXPECT_EQ(runs.size(), month - 2);
        wheel.advance_to(first + 6 * 3600, rent_is_due);
        ASSERT_EQ(runs.size(), month - 1);
        EXPECT_EQ(runs.back(), first + 6 * 3600);
        wheel.check();
    }
}

TEST(CalendarWheel, keeps_a_daily_task_at_18_on_its_slot) {
    CalendarWheel wheel(at(2027, 2, 25, 12));
    const TimerHandle task = wheel.schedule(at(2027, 2, 25, 18), 1);
    std::size_t runs = 0;
    const auto close_the_shop = [&](std::uint64_t, Tick deadline) {
        ++runs;
        EXPECT_TRUE(wheel.reschedule(task, deadline + 86'400));
    };
    // Over the end of a week, of February and of a day, minute by minute.
    for (Tick now = wheel.now(); now < at(2027, 3, 5, 12); now += 60) {
        wheel.advance_to(now, close_the_shop);
        ASSERT_EQ(wheel.place_of(task), (Place{kHours, 18}));
    }
    EXPECT_EQ(runs, 8U);
    wheel.check();
}

TEST(CalendarWheel, files_each_deadline_on_the_first_ring_that_reaches_so_far) {
    CalendarWheel wheel(at(2027, 6, 2, 10, 20, 30));  // a Wednesday
    const auto place_of = [&](Tick deadline) { return *wheel.place_of(wheel.schedule(deadline, 0)); };
    EXPECT_EQ(place_of(at(2027, 6, 2, 10, 21, 30)), (Place{kSeconds, 30})) << "60 s ahead, the hand's own slot";
    EXPECT_EQ(place_of(at(2027, 6, 2, 10, 21, 31)), (Place{kMinutes, 21}));
    EXPECT_EQ(place_of(at(2027, 6, 2, 11, 20, 59)), (Place{kMinutes, 20}));
    EXPECT_EQ(place_of(at(2027, 6, 2, 11, 21, 0)), (Place{kHours, 11}));
    EXPECT_EQ(place_of(at(2027, 6, 3, 10, 59, 59)), (Place{kHours, 10}));
    EXPECT_EQ(place_of(at(2027, 6, 3, 11)), (Place{kDays, 3})) << "Thursday";
    EXPECT_EQ(place_of(at(2027, 6, 9, 23, 59, 59)), (Place{kDays, 2})) << "Wednesday next";
    EXPECT_EQ(place_of(at(2027, 6, 10)).row, kWeeks);
    EXPECT_EQ(place_of(at(2027, 6, 30, 23, 59, 59)).row, kWeeks);
    EXPECT_EQ(place_of(at(2027, 7, 1)), (Place{kMonths, 6})) << "July";
    EXPECT_EQ(place_of(at(2028, 6, 30)), (Place{kMonths, 5})) << "June next, the hand's own slot";
    EXPECT_EQ(place_of(at(2028, 7, 1)), (Place{kYears, 28}));
    EXPECT_EQ(place_of(at(2127, 7, 1)), (Place{kYears, 27}));
    EXPECT_EQ(place_of(at(2128, 7, 1)), (Place{kYears, 28, 1}));
    wheel.check();
}

TEST(CalendarWheel, crosses_weeks_months_leap_days_and_centuries) {
    const std::vector<Tick> deadlines = {at(2027, 12, 31, 23, 59, 59),
                                         at(2028, 1, 1),
                                         at(2028, 2, 28, 23, 59, 59),
                                         at(2028, 2, 29),
                                         at(2028, 3, 1),
                                         at(2030, 8, 31),
                                         at(2099, 12, 31, 12),
                                         at(2100, 2, 28, 12),
                                         at(2100, 3, 1),
                                         at(2226, 7, 4),
                                         at(2400, 2, 29),
                                         at(2400, 12, 31, 23, 59, 59)};
    for (const Tick start : {at(2027, 2, 27), at(2027, 5, 31, 23, 59, 59), at(2027, 8, 1, 0, 0, 1)}) {
        CalendarWheel wheel(start);
        for (const Tick deadline : deadlines) wheel.schedule(deadline, 1);
        for (const Tick deadline : deadlines) {
            EXPECT_EQ(wheel.next_expiry(), deadline);
            EXPECT_EQ(advance_checked(wheel, deadline - 1), FiredTimers{});
            EXPECT_EQ(advance_checked(wheel, deadline), (FiredTimers{{1, deadline}}));
        }
    }
}

TEST(CalendarUnits, agree_with_the_calendar_of_the_standard_library) {
    const std::chrono::sys_days monday{std::chrono::year{1969} / 12 / 29};
    for (std::int64_t day = 0; day < 365 * 1500; day += 13) {
        const std::chrono::sys_days days{std::chrono::days{day}};
        const std::chrono::year_month_day date{days};
        const CalendarCounts counts = calendar_counts(static_cast<Tick>(day) * 86'400 + 4711);
        const auto year = static_cast<Tick>(static_cast<int>(date.year()));
        ASSERT_EQ(counts[kYears], year);
        ASSERT_EQ(counts[kMonths], year * 12 + static_cast<unsigned>(date.month()) - 1);
        ASSERT_EQ(counts[kWeeks], static_cast<Tick>((days - monday).count() / 7));
        ASSERT_EQ(counts[kDays] % 7, std::chrono::weekday{days}.iso_encoding() - 1);
    }
}

}  // namespace
}  // namespace duewheel
