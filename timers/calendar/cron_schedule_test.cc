// A rule in a zone: the edges where clocks jump, by name; both directions; excluded days; the ends of the calendar.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/instant_text.h"
#include "calendar/slow_cron_fixture.h"
#include "shared/random.h"
#include <duewheel/cron_schedule.h>

namespace duewheel::cron_schedule_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

Instant at(std::string_view text) {
    return Instant(milliseconds(parse_instant(text).value()));
}

std::string text_of(Instant instant) {
    std::string text = format_instant(instant.time_since_epoch().count());
    const std::size_t fraction = text.find(".000Z");
    return fraction == text.npos ? text : text.substr(0, fraction) + "Z";
}

CronSchedule schedule(std::string_view rule, std::string_view zone, DaylightPolicy policy = {}) {
    return {*CronRule::parse(rule), *Zone::load(zone), policy};
}

// The firings of a stretch, found from its begin forward; the walk back from its end must find the same ones.
std::vector<std::string> between(const CronSchedule& schedule, std::string_view begin, std::string_view end) {
    std::vector<std::string> forward;
    for (auto due = schedule.next(at(begin) - 1ms); due && *due < at(end); due = schedule.next(*due)) {
        forward.push_back(text_of(*due));
    }
    std::vector<std::string> backward;
    for (auto due = schedule.previous(at(end)); due && *due >= at(begin); due = schedule.previous(*due)) {
        backward.push_back(text_of(*due));
    }
    std::reverse(backward.begin(), backward.end());
    EXPECT_EQ(forward, backward) << schedule.rule().text();
    return forward;
}

using Times = std::vector<std::string>;
constexpr DaylightPolicy kSkip{SkippedTime::skip, RepeatedTime::first};
constexpr DaylightPolicy kBoth{SkippedTime::shift, RepeatedTime::both};

TEST(CronSchedule, fires_at_local_time_summer_and_winter) {
    const CronSchedule nine = schedule("0 9 * * MON-FRI", "Europe/Oslo");
    EXPECT_EQ(between(nine, "2026-03-27T00:00:00Z", "2026-04-01T00:00:00Z"),
              (Times{"2026-03-27T08:00:00Z", "2026-03-30T07:00:00Z", "2026-03-31T07:00:00Z"}));
}

TEST(CronSchedule, next_is_later_and_previous_is_earlier_to_the_millisecond) {
    const CronSchedule nine = schedule("0 9 * * *", "UTC");
    EXPECT_EQ(nine.next(at("2026-03-27T09:00:00Z")), at("2026-03-28T09:00:00Z"));
    EXPECT_EQ(nine.next(at("2026-03-27T08:59:59.999Z")), at("2026-03-27T09:00:00Z"));
    EXPECT_EQ(nine.next(at("2026-03-27T09:00:00.001Z")), at("2026-03-28T09:00:00Z"));
    EXPECT_EQ(nine.previous(at("2026-03-27T09:00:00Z")), at("2026-03-26T09:00:00Z"));
    EXPECT_EQ(nine.previous(at("2026-03-27T09:00:00.001Z")), at("2026-03-27T09:00:00Z"));
    EXPECT_EQ(nine.previous(at("2026-03-27T08:59:59.999Z")), at("2026-03-26T09:00:00Z"));
}

TEST(CronSchedule, a_skipped_time_fires_at_the_first_instant_there_is) {
    const Times expected{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"};
    EXPECT_EQ(between(schedule("30 2 * * *", "Europe/Oslo"), "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"), expected);
    EXPECT_EQ(between(schedule("30 2 * * *", "Europe/Oslo", kSkip), "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"),
              (Times{expected[0], expected[2]}));
    // Several skipped times are one firing, also together with what is due then.
    EXPECT_EQ(between(schedule("*/10 2 * * *", "Europe/Oslo"), "2026-03-29T00:00:00Z", "2026-03-29T22:00:00Z"),
              (Times{"2026-03-29T01:00:00Z"}));
    EXPECT_EQ(between(schedule("0,30 2-3 * * *", "Europe/Oslo"), "2026-03-29T00:00:00Z", "2026-03-29T22:00:00Z"),
              (Times{"2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}));
}

TEST(CronSchedule, next_finds_what_fires_at_the_very_end_of_a_gap) {
    const CronSchedule nightly = schedule("30 2 * * *", "Europe/Oslo");
    EXPECT_EQ(nightly.next(at("2026-03-29T00:59:59.999Z")), at("2026-03-29T01:00:00Z"));
    EXPECT_EQ(nightly.next(at("2026-03-29T00:59:59Z")), at("2026-03-29T01:00:00Z"));
    EXPECT_EQ(nightly.next(at("2026-03-29T01:00:00Z")), at("2026-03-30T00:30:00Z"));
    EXPECT_EQ(nightly.previous(at("2026-03-29T01:00:00.001Z")), at("2026-03-29T01:00:00Z"));
    EXPECT_EQ(nightly.previous(at("2026-03-29T01:00:00Z")), at("2026-03-28T01:30:00Z"));
}

TEST(CronSchedule, a_repeated_time_fires_in_its_first_pass) {
    const Times first{"2026-10-25T00:30:00Z"};
    const Times both{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"};
    EXPECT_EQ(between(schedule("30 2 * * *", "Europe/Oslo"), "2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z"), first);
    EXPECT_EQ(between(schedule("30 2 * * *", "Europe/Oslo", kBoth), "2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z"),
              both);
    // PendingLookup in the middle of the second pass.
    const CronSchedule nightly = schedule("30 2 * * *", "Europe/Oslo");
    EXPECT_EQ(nightly.next(at("2026-10-25T01:15:00Z")), at("2026-10-26T01:30:00Z"));
    EXPECT_EQ(nightly.previous(at("2026-10-25T01:45:00Z")), at("2026-10-25T00:30:00Z"));
    // The last minute of the first pass, and the first after the second.
    EXPECT_EQ(between(schedule("0,59 2-3 * * *", "Europe/Oslo"), "2026-10-24T22:00:00Z", "2026-10-25T22:00:00Z"),
              (Times{"2026-10-25T00:00:00Z", "2026-10-25T00:59:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:59:00Z"}));
}

TEST(CronSchedule, a_rule_of_every_hour_goes_by_the_hour) {
    for (const DaylightPolicy policy : {DaylightPolicy{}, kSkip, kBoth}) {
        const CronSchedule half = schedule("30 * * * *", "Europe/Oslo", policy);
        EXPECT_EQ(between(half, "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z"),
                  (Times{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"}));
        EXPECT_EQ(between(half, "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z"),
                  (Times{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}));
    }
    EXPECT_EQ(schedule("* * * * * *", "America/New_York").next(at("2026-11-01T05:59:59Z")), at("2026-11-01T06:00:00Z"));
}

TEST(CronSchedule, a_jump_of_half_an_hour_is_one_also_to_a_rule_of_every_hour) {
    // Lord Howe: 02:00 -> 02:30 on the 4th of October, 02:00 -> 01:30 on the 5th of April.
    const CronSchedule quarter = schedule("15 * * * *", "Australia/Lord_Howe");
    EXPECT_EQ(between(quarter, "2026-10-03T14:40:00Z", "2026-10-03T17:00:00Z"),
              (Times{"2026-10-03T14:45:00Z", "2026-10-03T15:30:00Z", "2026-10-03T16:15:00Z"}));
    const CronSchedule three_quarters = schedule("45 * * * *", "Australia/Lord_Howe");
    EXPECT_EQ(between(three_quarters, "2026-04-04T14:00:00Z", "2026-04-04T17:00:00Z"),
              (Times{"2026-04-04T14:45:00Z", "2026-04-04T16:15:00Z"}));
}

TEST(CronSchedule, a_day_without_midnight_has_a_first_instant) {
    // Beirut puts its clocks forward at midnight.
    EXPECT_EQ(between(schedule("0 0 * * *", "Asia/Beirut"), "2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z"),
              (Times{"2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"}));
    EXPECT_EQ(between(schedule("0 0 29 3 *", "Asia/Beirut"), "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
              (Times{"2026-03-28T22:00:00Z"}));
}

TEST(CronSchedule, a_missing_day_fires_when_the_next_begins) {
    // Samoa went from the 29th to the 31st of December 2011.
    const CronSchedule daily = schedule("0 9 * * *", "Pacific/Apia");
    EXPECT_EQ(between(daily, "2011-12-29T00:00:00Z", "2011-12-31T12:00:00Z"),
              (Times{"2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"}));
    EXPECT_EQ(schedule("0 9 30 12 *", "Pacific/Apia", kSkip).next(at("2011-01-01T00:00:00Z")),
              at("2012-12-29T19:00:00Z"));
    // A whole day is a jump also to a rule of every hour.
    EXPECT_EQ(between(schedule("30 * 30 12 *", "Pacific/Apia"), "2011-12-30T00:00:00Z", "2011-12-31T12:00:00Z"),
              (Times{"2011-12-30T10:00:00Z"}));
}

TEST(CronSchedule, an_excluded_date_is_the_nominal_one) {
    const auto closed = ExclusionCalendar::parse("2026-03-29");
    const CronSchedule nightly(*CronRule::parse("30 2 * * *"), *Zone::load("Europe/Oslo"), {}, *closed);
    EXPECT_EQ(between(nightly, "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"),
              (Times{"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}));
    // 30 December is closed: what it would have fired late, on the 31st, does not fire.
    const CronSchedule samoa(*CronRule::parse("0 9 * * *"), *Zone::load("Pacific/Apia"), {},
                             *ExclusionCalendar::parse("2011-12-30"));
    EXPECT_EQ(between(samoa, "2011-12-29T00:00:00Z", "2011-12-31T12:00:00Z"),
              (Times{"2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z"}));
}

TEST(CronSchedule, never_is_answered_in_both_directions) {
    for (const char* zone : {"UTC", "Europe/Oslo", "America/New_York"}) {
        EXPECT_EQ(schedule("0 0 30 2 *", zone).next(at("2026-01-01T00:00:00Z")), std::nullopt);
        EXPECT_EQ(schedule("0 0 30 2 *", zone).previous(at("2026-01-01T00:00:00Z")), std::nullopt);
        EXPECT_TRUE(schedule("0 0 30 2 *", zone).upcoming(at("2026-01-01T00:00:00Z"), 5).empty());
    }
    // Its only times are skipped: 02:30 on the last Sunday of March.
    EXPECT_EQ(schedule("0 30 2 ? 3 SUNL", "Europe/Oslo", kSkip).next(at("2026-01-01T00:00:00Z")), std::nullopt);
    EXPECT_EQ(schedule("0 30 2 ? 3 SUNL", "Europe/Oslo").next(at("2026-01-01T00:00:00Z")), at("2026-03-29T01:00:00Z"));
}

TEST(CronSchedule, upcoming_stops_where_the_rule_ends) {
    const CronSchedule twice = schedule("0 0 12 1 1 ? 2027-2028", "UTC");
    EXPECT_EQ(twice.upcoming(at("2026-01-01T00:00:00Z"), 5),
              (std::vector<Instant>{at("2027-01-01T12:00:00Z"), at("2028-01-01T12:00:00Z")}));
    EXPECT_EQ(twice.upcoming(at("2026-01-01T00:00:00Z"), 1), std::vector<Instant>{at("2027-01-01T12:00:00Z")});
    EXPECT_TRUE(twice.upcoming(at("2026-01-01T00:00:00Z"), 0).empty());
}

TEST(CronSchedule, the_calendar_has_a_begin_and_an_end) {
    for (const char* zone : {"UTC", "Pacific/Kiritimati", "Pacific/Niue"}) {
        const CronSchedule minutely = schedule("* * * * *", zone);
        EXPECT_EQ(minutely.next(kCalendarBegin - 1ms), kCalendarBegin) << zone;
        EXPECT_EQ(minutely.next(Instant::min()), kCalendarBegin) << zone;
        EXPECT_EQ(minutely.previous(kCalendarBegin), std::nullopt) << zone;
        EXPECT_EQ(minutely.previous(kCalendarBegin + 1ms), kCalendarBegin) << zone;
        EXPECT_EQ(minutely.next(kCalendarEnd - 61s), kCalendarEnd - 60s) << zone;
        EXPECT_EQ(minutely.next(kCalendarEnd - 60s), std::nullopt) << zone;
        EXPECT_EQ(minutely.next(Instant::max()), std::nullopt) << zone;
        EXPECT_EQ(minutely.previous(Instant::max()), kCalendarEnd - 60s) << zone;
        EXPECT_EQ(minutely.previous(Instant::min()), std::nullopt) << zone;
    }
}

// From any instant, asked in both directions: nothing lies between what is found and where it was asked from.
TEST(CronSchedule, next_and_previous_agree_from_anywhere) {
    std::uint64_t found = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        const std::string text = random_rule(random);
        const char* zones[] = {"Europe/Oslo", "Australia/Lord_Howe", "Pacific/Apia", "America/Caracas",
                               "Africa/Casablanca"};
        const char* zone = zones[random.below(5)];
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text + " in " + zone);
        const DaylightPolicy policy{random.chance(500'000) ? SkippedTime::shift : SkippedTime::skip,
                                    random.chance(500'000) ? RepeatedTime::first : RepeatedTime::both};
        const CronSchedule any = schedule(text, zone, policy);
        for (int i = 0; i < 20; ++i) {
            const Instant from{milliseconds(random.between(0, at("2037-01-01T00:00:00Z").time_since_epoch().count()))};
            const auto next = any.next(from);
            if (!next) continue;
            ++found;
            ASSERT_GT(*next, from);
            ASSERT_EQ(any.next(*next - 1ms), next);
            ASSERT_EQ(any.previous(*next + 1ms), next);
            const auto before = any.previous(*next);
            if (before) {
                ASSERT_LE(*before, from);
                ASSERT_EQ(any.next(*before), next);
            }
        }
    }
    EXPECT_GT(found, 5'000u);
}

TEST(CronSchedule, starts_and_ends_as_set_both_included) {
    const Instant begin = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
    const auto hourly = [](CronWindow window) {
        return CronSchedule(*CronRule::parse("@hourly"), Zone::utc(), {}, {}, window);
    };
    const CronSchedule both = hourly({.start = begin + 1h, .end = begin + 3h});
    EXPECT_EQ(both.upcoming(begin - 24h, 10), (std::vector<Instant>{begin + 1h, begin + 2h, begin + 3h}));
    EXPECT_EQ(both.next(begin + 1h), begin + 2h);
    EXPECT_EQ(both.next(begin + 3h), std::nullopt);
    EXPECT_EQ(both.previous(begin + 24h), begin + 3h);
    EXPECT_EQ(both.previous(begin + 2h), begin + 1h);
    EXPECT_EQ(both.previous(begin + 1h), std::nullopt);
    const CronSchedule between = hourly({.start = begin + 1h + 1ms, .end = begin + 3h - 1ms});
    EXPECT_EQ(between.upcoming(begin, 10), std::vector<Instant>{begin + 2h});
    EXPECT_EQ(between.previous(begin + 24h), begin + 2h);
    EXPECT_EQ(hourly({.start = begin + 2h}).next(Instant::min()), begin + 2h);
    EXPECT_EQ(hourly({.end = begin}).previous(Instant::max()), begin);
    EXPECT_EQ(hourly({.start = begin + 2h, .end = begin + 1h}).next(begin), std::nullopt);
}

}  // namespace
}  // namespace duewheel::cron_schedule_test
