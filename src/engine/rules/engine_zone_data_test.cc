// The effect of new zone data on schedules at a start.
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "engine/trial/trial_schedules.h"

namespace duewheel::engine_zone_data_test {
namespace {

// A zone is moved by its government: the times that are yet to come follow, and what was made is not made again.
TEST(Schedules, other_zone_data_move_future_times_and_repeat_none) {
    const auto shifted = [](std::string_view name) { return Zone::load(name == "Europe/Oslo" ? "Etc/GMT-3" : name); };
    TrialEngine first;
    const TimesRule times{.kind = TimesKind::cron, .text = "*/5 1 * * *", .zone = "Europe/Oslo"};
    first.ask<ScheduleAnswer>(schedule(times));  // local clocks show 01:16:40, an hour ahead of UTC
    first.turn(200'000);                         // 01:20
    EXPECT_EQ(look_at(first).state.made, 1u);
    TrialEngine same(EngineOptions{}, first);
    EXPECT_EQ(look_at(same).state.next_ms, kStart + 500'000) << "the same data: nothing moves";
    TrialEngine second(EngineOptions{}, first, shifted, "9999z");
    const ScheduleAnswer moved = look_at(second);
    EXPECT_EQ(moved.zone_data, "9999z");
    EXPECT_EQ(moved.state.next_ms, 22LL * 3600 * 1000) << "01:00 of the next day, three hours ahead of UTC";
    second.turn(10'000'000);
    EXPECT_EQ(look_at(second).state.made, 1u);
}

// Zone data were mended by hand, or on a system that names no version: the old next time stayed, the preview showed the
// new one, and the same local hour came a second time behind it.
TEST(Schedules, other_zone_data_of_the_same_version_are_detected) {
    const auto shifted = [](std::string_view name) { return Zone::load(name == "Europe/Oslo" ? "Etc/GMT-3" : name); };
    TrialEngine first;
    first.ask<ScheduleAnswer>(schedule({.kind = TimesKind::cron, .text = "20 1 * * *", .zone = "Europe/Oslo"}));
    first.turn(200'000);  // 01:20, an hour ahead of UTC
    EXPECT_EQ(look_at(first).state.made, 1u);
    TrialEngine second(EngineOptions{}, first, shifted);
    const DueMs next = 22LL * 3600 * 1000 + 20 * 60'000;  // 01:20 of the next day, three hours ahead of UTC
    EXPECT_EQ(look_at(second).state.next_ms, next);
    EXPECT_EQ(second.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s"}).times.at(0).nominal_ms, next);
    second.turn(next - kStart - 200'000 - 1);
    EXPECT_EQ(look_at(second).state.made, 1u);
    second.turn(1);
    EXPECT_EQ(look_at(second).state.made, 2u);
}

// With the data it had, the second pass of a repeated hour is none that was decided.
TEST(Schedules, a_start_between_two_passes_of_an_hour_keeps_the_second) {
    constexpr DueMs kDay = 297LL * 24 * 3600 * 1000;  // 1970-10-25
    constexpr DueMs kHalfHour = 30 * 60'000;
    TrialEngine first;
    first.turn(kDay - kStart);
    first.ask<ScheduleAnswer>(
        schedule({.kind = TimesKind::cron, .text = "30 1 * * *", .zone = "America/New_York", .repeats_folds = true}));
    first.turn(11 * kHalfHour);
    EXPECT_EQ(look_at(first).state.made, 1u);
    EXPECT_EQ(look_at(first).state.next_ms, kDay + 13 * kHalfHour);
    TrialEngine second(EngineOptions{}, first);
    EXPECT_EQ(look_at(second).state.next_ms, kDay + 13 * kHalfHour);
}

TEST(Schedules, one_with_an_unknown_zone_stops_until_it_is_set_again) {
    const auto none = [](std::string_view) -> Result<Zone> { return Error{"bad_zone"_code, "gone", "zone"}; };
    TrialEngine first;
    first.ask<ScheduleAnswer>(schedule({.kind = TimesKind::cron, .text = "* * * * *", .zone = "Europe/Oslo"}));
    TrialEngine second(EngineOptions{}, first, none);
    EXPECT_TRUE(look_at(second).invalid_zone);
    second.turn(600'000);
    EXPECT_EQ(look_at(second).state.made, 0u);
    EXPECT_TRUE(second.ask<PreviewAnswer>(PreviewScheduleCommand{"default", "s"}).times.empty());
    const ScheduleAnswer mended =
        second.ask<ScheduleAnswer>(schedule({.kind = TimesKind::cron, .text = "* * * * *", .zone = "UTC"}));
    EXPECT_FALSE(mended.invalid_zone);
    second.turn(60'000);
    EXPECT_EQ(look_at(second).state.made, 1u);
}

}  // namespace
}  // namespace duewheel::engine_zone_data_test
