#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/instant_text.h"
#include "calendar/text_cases_fixture.h"
#include "shared/random.h"
#include <duewheel/repeating_interval.h>

namespace duewheel::repeating_interval_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::months;
using Times = std::vector<std::string>;

Instant at(std::string_view text) {
    return Instant(milliseconds(parse_instant(text).value()));
}

Times texts(const std::vector<Instant>& instants) {
    Times times;
    for (const Instant instant : instants) {
        const std::string text = format_instant(instant.time_since_epoch().count());
        const std::size_t fraction = text.find(".000Z");
        times.push_back(fraction == text.npos ? text : text.substr(0, fraction) + "Z");
    }
    return times;
}

RepeatingInterval interval(std::string_view text, std::string_view zone = "UTC") {
    Result<RepeatingInterval> parsed = RepeatingInterval::parse(text, *Zone::load(zone));
    EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
    return *parsed;
}

Times first_of(std::string_view text, std::string_view zone, std::size_t count) {
    return texts(interval(text, zone).upcoming(kCalendarBegin - 1ms, count));
}

TEST(Period, reads_years_to_milliseconds) {
    expect_read<Period>(parse_period, {
                                          {"P1Y2M3W4DT5H6M7.89S", {months(14), days(25), 5h + 6min + 7s + 890ms}},
                                          {"P1M", {months(1), days(0), 0ms}},
                                          {"PT1M", {months(0), days(0), 1min}},
                                          {"P2W", {months(0), days(14), 0ms}},
                                          {"PT0,5S", {months(0), days(0), 500ms}},
                                          {"PT0.250000S", {months(0), days(0), 250ms}},
                                          {"P0D", {}},
                                          {"PT36H", {months(0), days(0), 36h}},
                                      });
}

TEST(Period, refuses_with_a_column) {
    expect_refused(parse_period, ErrorCode::bad_duration, "",
                   {
                       {"", 1, "must begin with P"},
                       {"1D", 1, "must begin with P"},
                       {"P", 2, "number"},
                       {"PT", 3, "number"},
                       {"P1DT", 5, "number"},
                       {"PTT1H", 3, "T may appear once"},
                       {"P-1D", 2, "no sign"},
                       {"P1", 3, "a unit"},
                       {"P1H", 3, "a unit"},
                       {"PT1D", 4, "a unit"},
                       {"P1D1M", 5, "a unit"},
                       {"P1D1D", 5, "a unit"},
                       {"P1.5D", 3, "only seconds"},
                       {"PT1.5H", 4, "only seconds"},
                       {"PT1.S", 4, "one to three"},
                       {"PT1.0001S", 4, "one to three"},
                       {"P431Y", 2, "longer than the calendar"},
                       {"P430Y1M", 6, "longer than the calendar"},
                       {"PT99999999999999999999S", 3, "longer than the calendar"},
                       {"P1D ", 4, "a number"},
                   });
}

// One that began in a gap went on at the gap's end for ever.
TEST(RepeatingInterval, a_start_that_clocks_skip_keeps_its_time_of_day) {
    EXPECT_EQ(first_of("R/2027-03-28T02:30:00/P1D", "Europe/Oslo", 3),
              (Times{"2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z", "2027-03-30T00:30:00Z"}));
}

TEST(RepeatingInterval, knows_what_clocks_have_shifted) {
    const auto shifted = [](std::string_view text, std::string_view at) {
        const Result<RepeatingInterval> interval = RepeatingInterval::parse(text, *Zone::load("Europe/Oslo"));
        return interval->is_shifted(Instant(std::chrono::milliseconds(*parse_instant(at))));
    };
    EXPECT_TRUE(shifted("R/2027-03-27T02:30:00/P1D", "2027-03-28T01:00:00Z"));
    EXPECT_TRUE(shifted("R/2027-03-28T02:30:00/P1D", "2027-03-28T01:00:00Z"));
    EXPECT_TRUE(shifted("R1/2027-03-28T02:30:00/PT1H", "2027-03-28T01:00:00Z"));
    EXPECT_FALSE(shifted("R/2027-03-27T02:30:00/P1D", "2027-03-27T01:30:00Z"));
    EXPECT_FALSE(shifted("R/2027-03-27T03:00:00/P1D", "2027-03-28T01:00:00Z")) << "three o'clock is the gap's end";
    EXPECT_FALSE(shifted("R/2027-03-27T02:30:00/PT1H", "2027-03-28T01:30:00Z")) << "hours are stretches of time";
    EXPECT_FALSE(shifted("R/2027-03-27T02:30:00/P1D", "2027-03-28T01:00:00.001Z")) << "no occurrence";
    EXPECT_FALSE(shifted("R/2026-10-24T02:30:00/P1D", "2026-10-25T00:30:00Z")) << "one that is repeated";
}

TEST(RepeatingInterval, counts_all_occurrences_from_the_start) {
    EXPECT_EQ(first_of("R5/2026-01-01T00:00:00Z/PT1H", "UTC", 9),
              (Times{"2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z",
                     "2026-01-01T04:00:00Z"}));
    EXPECT_EQ(first_of("R1/2026-01-01T00:00:00Z/PT1H", "UTC", 9), (Times{"2026-01-01T00:00:00Z"}));
    EXPECT_EQ(first_of("R/2026-01-01T00:00:00Z/2026-01-01T00:00:20Z", "UTC", 3),
              (Times{"2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z", "2026-01-01T00:00:40Z"}));
    EXPECT_EQ(first_of("R-1/2026-01-01T00:00:00.500+01:00/PT0.25S", "UTC", 2),
              (Times{"2025-12-31T23:00:00.500Z", "2025-12-31T23:00:00.750Z"}));
}

TEST(RepeatingInterval, months_are_counted_from_the_start_each_time) {
    EXPECT_EQ(first_of("R/2026-01-31T09:00:00Z/P1M", "UTC", 5),
              (Times{"2026-01-31T09:00:00Z", "2026-02-28T09:00:00Z", "2026-03-31T09:00:00Z", "2026-04-30T09:00:00Z",
                     "2026-05-31T09:00:00Z"}));
    EXPECT_EQ(first_of("R/2024-02-29T00:00:00Z/P1Y", "UTC", 5),
              (Times{"2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z", "2026-02-28T00:00:00Z", "2027-02-28T00:00:00Z",
                     "2028-02-29T00:00:00Z"}));
}

TEST(RepeatingInterval, days_follow_local_clocks_and_hours_do_not) {
    EXPECT_EQ(first_of("R3/2026-03-28T09:00:00/P1D", "Europe/Oslo", 9),
              (Times{"2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"}));
    EXPECT_EQ(first_of("R3/2026-03-28T09:00:00/PT24H", "Europe/Oslo", 9),
              (Times{"2026-03-28T08:00:00Z", "2026-03-29T08:00:00Z", "2026-03-30T08:00:00Z"}));
    EXPECT_EQ(first_of("R3/2026-03-28T09:00:00/P1DT1H", "Europe/Oslo", 9),
              (Times{"2026-03-28T08:00:00Z", "2026-03-29T08:00:00Z", "2026-03-30T09:00:00Z"}));
}

TEST(RepeatingInterval, a_skipped_time_is_late_and_a_repeated_one_is_the_first) {
    EXPECT_EQ(first_of("R3/2026-03-28T02:30:00/P1D", "Europe/Oslo", 9),
              (Times{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}));
    EXPECT_EQ(first_of("R3/2026-10-24T02:30:00/P1D", "Europe/Oslo", 9),
              (Times{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}));
    // A start that says which of the two it is stays itself.
    EXPECT_EQ(first_of("R2/2026-10-25T02:30:00+01:00/P1D", "Europe/Oslo", 9),
              (Times{"2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}));
}

TEST(RepeatingInterval, next_and_previous_are_strict) {
    const RepeatingInterval hourly = interval("R3/2026-01-01T00:00:00Z/PT1H");
    EXPECT_EQ(hourly.next(at("2026-01-01T00:00:00Z")), at("2026-01-01T01:00:00Z"));
    EXPECT_EQ(hourly.next(at("2025-01-01T00:00:00Z")), at("2026-01-01T00:00:00Z"));
    EXPECT_EQ(hourly.next(at("2026-01-01T01:59:59.999Z")), at("2026-01-01T02:00:00Z"));
    EXPECT_EQ(hourly.next(at("2026-01-01T02:00:00Z")), std::nullopt);
    EXPECT_EQ(hourly.previous(at("2026-01-01T00:00:00Z")), std::nullopt);
    EXPECT_EQ(hourly.previous(at("2026-01-01T00:00:00.001Z")), at("2026-01-01T00:00:00Z"));
    EXPECT_EQ(hourly.previous(at("2030-01-01T00:00:00Z")), at("2026-01-01T02:00:00Z"));
    EXPECT_EQ(hourly.next(Instant::min()), hourly.start());
    EXPECT_EQ(hourly.next(Instant::max()), std::nullopt);
    EXPECT_EQ(hourly.previous(Instant::min()), std::nullopt);
    EXPECT_EQ(hourly.previous(Instant::max()), at("2026-01-01T02:00:00Z"));
    EXPECT_EQ(hourly.occurrence(2), at("2026-01-01T02:00:00Z"));
    EXPECT_EQ(hourly.occurrence(3), std::nullopt);
    EXPECT_TRUE(hourly.upcoming(at("2026-01-01T00:00:00Z"), 0).empty());
}

TEST(RepeatingInterval, ends_with_the_calendar) {
    for (const char* text :
         {"R/2026-01-01T00:00:00Z/PT0.001S", "R/2026-01-01T00:00:00Z/P1D", "R/2399-12-31T23:59:59Z/P430Y",
          "R/1970-01-01T00:00:00Z/P1M", "R9223372036854775807/1970-01-01T00:00:00Z/P1MT1S",
          "R/1970-01-01T00:00:00Z/P429Y365DT23H59M59.999S"}) {
        const RepeatingInterval endless = interval(text, "Pacific/Kiritimati");
        const auto last = endless.previous(Instant::max());
        ASSERT_TRUE(last) << text;
        EXPECT_LT(*last, kCalendarEnd) << text;
        EXPECT_EQ(endless.next(*last), std::nullopt) << text;
    }
    EXPECT_EQ(interval("R/2026-01-01T00:00:00Z/PT0.001S").previous(Instant::max()), kCalendarEnd - 1ms);
    EXPECT_EQ(interval("R/1970-01-01T00:00:00Z/P1M").previous(Instant::max()), at("2399-12-01T00:00:00Z"));
}

TEST(RepeatingInterval, a_refusal_points_at_its_part) {
    const auto parse = [](std::string_view text) { return RepeatingInterval::parse(text, *Zone::load("Asia/Tokyo")); };
    expect_refused(parse, ErrorCode::bad_interval, "",
                   {
                       {"", 1, "must begin with R"},
                       {"2026-01-01T00:00:00Z/PT1H", 1, "must begin with R"},
                       {"R0/2026-01-01T00:00:00Z/PT1H", 2, "never"},
                       {"R99999999999999999999/2026-01-01T00:00:00Z/PT1H", 2, "too large"},
                       {"Rx/2026-01-01T00:00:00Z/PT1H", 2, "expected after R"},
                       {"R5", 3, "expected after R"},
                       {"R5/", 4, "period is missing"},
                       {"R5/2026-01-01T00:00:00Z", 24, "period is missing"},
                       {"R5/PT1H/2026-01-01T00:00:00Z", 4, "give the start"},
                       {"R5/2026-02-30T00:00:00Z/PT1H", 4, "in the start, column 9: the month has no such day"},
                       {"R5/2026-01-01/PT1H", 4, "in the start"},
                       {"R5/2500-01-01T00:00:00Z/PT1H", 4, "1970 to 2399"},
                       {"R5/1970-01-01T00:00:00/PT1H", 4, "1970 to 2399"},
                       {"R5/2026-01-01T00:00:00Z/PT0S", 25, "is empty"},
                       {"R5/2026-01-01T00:00:00Z/PT", 25, "in the period, column 3"},
                       {"R5/2026-01-01T00:00:00Z/P-1D", 25, "no sign"},
                       {"R5/2026-01-01T00:00:00Z/2026-01-01T00:00:00Z", 25, "before it begins"},
                       {"R5/2026-01-01T00:00:00Z/tomorrow", 25, "in the end of the first period"},
                   });
}

// Numbered one after the other, occurrences only rise, and from any instant the neighbours are found.
TEST(RepeatingInterval, random_periods_rise_and_are_found_from_anywhere) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        const char* zones[] = {"Europe/Oslo", "Australia/Lord_Howe", "Pacific/Apia", "America/Caracas",
                               "Africa/Casablanca"};
        Period period;
        if (random.chance(500'000)) period.months = months(random.between(1, 30));
        if (random.chance(500'000)) period.days = days(random.between(1, 60));
        if (random.chance(500'000) || period == Period{}) period.time = milliseconds(random.between(1, 200'000'000));
        const Instant start = Instant(milliseconds(random.between(0, 2'000'000'000'000)));
        const RepeatingInterval any(start, period, std::nullopt, *Zone::load(zones[random.below(5)]));
        Instant before = start;
        for (std::uint64_t n = 1; n < 200; ++n) {
            const auto instant = any.occurrence(n);
            if (!instant) break;
            ASSERT_GT(*instant, before);
            ASSERT_EQ(any.next(before), instant);
            ASSERT_EQ(any.next(*instant - 1ms), instant);
            ASSERT_EQ(any.previous(*instant), before);
            ASSERT_EQ(any.previous(*instant + 1ms), instant);
            before = *instant;
        }
    }
}

}  // namespace
}  // namespace duewheel::repeating_interval_test
