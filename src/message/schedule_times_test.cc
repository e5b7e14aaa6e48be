// The nominal times of a schedule, and the effect of clock changes and closed days.
#include "message/schedule_times.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "message/zone_cache.h"

namespace duewheel::schedule_times_test {
namespace {

DueMs at(std::string_view text) {
    const Result<InstantMs> read = parse_instant(text);
    EXPECT_TRUE(read) << text;
    return *read;
}

ScheduleTimes times_of(const TimesRule& rule) {
    ZoneCache zones;
    Result<ScheduleTimes> times = ScheduleTimes::make(rule, [&](std::string_view name) { return zones.find(name); });
    EXPECT_TRUE(times) << times.error().message;
    return *std::move(times);
}

TimesRule cron(std::string text, std::string zone = "") {
    return {.kind = TimesKind::cron, .text = std::move(text), .zone = std::move(zone)};
}

std::vector<std::string> texts(const ScheduleTimes& times, DueMs after, int count, DueMs from = 0) {
    std::vector<std::string> all;
    for (std::optional<DueMs> next = times.next(after, from); next && count-- > 0; next = times.next(*next, from)) {
        all.push_back(format_instant(*next));
    }
    return all;
}

TEST(ScheduleTimes, an_interval_counts_from_its_start_or_from_when_it_was_set) {
    const TimesRule plain{.kind = TimesKind::every, .every_ms = 1'000};
    EXPECT_EQ(times_of(plain).next(5'000, 5'000), 6'000);
    EXPECT_EQ(times_of(plain).next(6'000, 5'000), 7'000);
    EXPECT_EQ(times_of(plain).next(6'999, 5'000), 7'000);
    const TimesRule begun{.kind = TimesKind::every, .every_ms = 1'000, .start_ms = 2'500, .end_ms = 4'500};
    EXPECT_EQ(times_of(begun).next(1, 0), 2'500);
    EXPECT_EQ(times_of(begun).next(2'500, 0), 3'500);
    EXPECT_EQ(times_of(begun).next(3'500, 0), 4'500);
    EXPECT_EQ(times_of(begun).next(4'500, 0), std::nullopt);
}

TEST(ScheduleTimes, cron_keeps_to_start_and_end) {
    TimesRule rule = cron("0 9 * * *", "Europe/Oslo");
    rule.start_ms = at("2026-11-23T08:00:00Z");
    rule.end_ms = at("2026-11-24T08:00:00Z");
    const std::vector<std::string> both{"2026-11-23T08:00:00.000Z", "2026-11-24T08:00:00.000Z"};
    EXPECT_EQ(texts(times_of(rule), at("2026-11-01T00:00:00Z"), 5), both);
}

TEST(ScheduleTimes, a_time_that_never_occurs_is_reported) {
    EXPECT_EQ(times_of(cron("0 0 30 2 *")).next(1, 0), std::nullopt);
    TimesRule closed{.kind = TimesKind::every, .every_ms = 1'000, .closed = "MON TUE WED THU FRI SAT SUN"};
    EXPECT_EQ(times_of(closed).next(1'000, 0), std::nullopt);
}

TEST(ScheduleTimes, closed_days_hold_for_every_kind) {
    const DueMs friday = at("2026-11-20T12:00:00Z");
    TimesRule rule{.kind = TimesKind::every, .every_ms = 3'600'000, .zone = "Europe/Oslo", .closed = "SAT SUN"};
    rule.start_ms = at("2026-11-20T21:30:00Z");
    const std::vector<std::string> hours{"2026-11-20T21:30:00.000Z", "2026-11-20T22:30:00.000Z",
                                         "2026-11-22T23:30:00.000Z"};
    EXPECT_EQ(texts(times_of(rule), friday, 3), hours) << "days are those of Oslo";
    TimesRule iso{.kind = TimesKind::iso, .text = "R/2026-11-20T09:00:00Z/P1D", .closed = "SAT SUN"};
    const std::vector<std::string> days{"2026-11-23T09:00:00.000Z", "2026-11-24T09:00:00.000Z"};
    EXPECT_EQ(texts(times_of(iso), friday, 2), days);
}

TEST(ScheduleTimes, one_instant_may_be_local) {
    TimesRule rule{.kind = TimesKind::at, .text = "2027-06-01T06:00:00", .zone = "Europe/Oslo"};
    EXPECT_EQ(texts(times_of(rule), 1, 3), std::vector<std::string>{"2027-06-01T04:00:00.000Z"});
    rule.text = "2027-06-01T06:00:00Z";
    EXPECT_EQ(texts(times_of(rule), 1, 3), std::vector<std::string>{"2027-06-01T06:00:00.000Z"});
}

TEST(ScheduleTimes, what_cannot_be_read_names_its_member) {
    const auto refused = [](const TimesRule& rule) {
        const Result<ScheduleTimes> times = ScheduleTimes::make(rule, &Zone::load);
        EXPECT_FALSE(times);
        return std::pair(std::string(name_of(times.error().code)), times.error().field);
    };
    using Refusal = std::pair<std::string, std::string>;
    EXPECT_EQ(refused(cron("0 24 * * *")), Refusal("bad_cron", "cron"));
    EXPECT_EQ(refused(cron("0 9 * * *", "Europe/Olso")), Refusal("bad_zone", "zone"));
    EXPECT_EQ(refused({.kind = TimesKind::iso, .text = "R0/2026-01-01T00:00:00Z/PT1H"}),
              Refusal("bad_interval", "iso"));
    EXPECT_EQ(refused({.kind = TimesKind::at, .text = "tomorrow"}), Refusal("bad_instant", "at"));
    EXPECT_EQ(refused({.kind = TimesKind::at, .text = "2027-01-01T06:00:00Z/P1D"}), Refusal("bad_instant", "at"));
    EXPECT_EQ(refused({.kind = TimesKind::every, .every_ms = 0}), Refusal("out_of_range", "every"));
    TimesRule closed = cron("0 9 * * *");
    closed.closed = "SOMEDAY";
    EXPECT_EQ(refused(closed), Refusal("bad_exclusion", "closed"));
}

TEST(ScheduleTimes, changes_of_clocks_are_recorded) {
    const ScheduleTimes nightly = times_of(cron("30 2 * * *", "Europe/Oslo"));
    const DueMs spring = *nightly.next(at("2026-03-28T12:00:00Z"), 0);
    EXPECT_EQ(nightly.note(spring), ClockNote::shifted);
    EXPECT_EQ(nightly.local_text(spring), "2026-03-29T03:00:00.000+02:00");
    EXPECT_EQ(nightly.note(*nightly.next(spring, 0)), ClockNote::none);
    TimesRule twice = cron("30 2 * * *", "Europe/Oslo");
    twice.repeats_folds = true;
    const ScheduleTimes both = times_of(twice);
    const DueMs first = *both.next(at("2026-10-24T12:00:00Z"), 0);
    const DueMs second = *both.next(first, 0);
    EXPECT_EQ(both.note(first), ClockNote::first_pass);
    EXPECT_EQ(both.note(second), ClockNote::second_pass);
    EXPECT_EQ(second - first, 3'600'000);
    const ScheduleTimes daily =
        times_of({.kind = TimesKind::iso, .text = "R/2026-03-28T02:30:00/P1D", .zone = "Europe/Oslo"});
    EXPECT_EQ(daily.note(at("2026-03-28T01:30:00Z")), ClockNote::none);
    EXPECT_EQ(daily.note(at("2026-03-29T01:00:00Z")), ClockNote::shifted);
    const ScheduleTimes once = times_of({.kind = TimesKind::at, .text = "2026-03-29T02:30:00", .zone = "Europe/Oslo"});
    EXPECT_EQ(once.note(at("2026-03-29T01:00:00Z")), ClockNote::shifted);
    const ScheduleTimes lord_howe = times_of(cron("45 1 * * *", "Australia/Lord_Howe"));
    const DueMs half = *lord_howe.next(at("2026-04-03T15:30:00Z"), 0);
    EXPECT_EQ(lord_howe.note(half), ClockNote::first_pass) << lord_howe.local_text(half);
}

TEST(ScheduleTimes, excluded_times_have_their_reason) {
    TimesRule rule = cron("30 2 * * *", "Europe/Oslo");
    rule.skips_gaps = true;
    rule.closed = "12-25";
    const ScheduleTimes times = times_of(rule);
    const std::optional<ScheduleTimes> all = times.without_policies();
    ASSERT_TRUE(all);
    const DueMs gap = *all->next(at("2026-03-28T12:00:00Z"), 0);
    EXPECT_NE(times.next(at("2026-03-28T12:00:00Z"), 0), gap);
    EXPECT_EQ(times.why_excluded(gap), "skipped_time");
    EXPECT_EQ(times.why_excluded(at("2026-12-25T01:30:00Z")), "closed_day");
    EXPECT_EQ(times.why_excluded(at("2026-10-25T01:30:00Z")), "repeated_time");
    // A gap that ends at midnight: the day that is closed is the one before it.
    TimesRule late = cron("30 23 * * *", "America/Nuuk");
    late.closed = "03-27";
    const DueMs midnight = at("2027-03-28T01:00:00Z");
    EXPECT_EQ(times_of(late).without_policies()->next(midnight - 1, 0), midnight);
    EXPECT_EQ(times_of(late).why_excluded(midnight), "closed_day");
    late.skips_gaps = true;
    EXPECT_EQ(times_of(late).why_excluded(midnight), "skipped_time");
    TimesRule most = cron("30 2 * * *");
    most.repeats_folds = true;
    EXPECT_FALSE(times_of(most).without_policies());
}

// A government moves a zone by an hour: what was decided at nine o'clock does not come at nine o'clock again.
TEST(ScheduleTimes, other_zone_data_repeat_no_local_time) {
    const ScheduleTimes new_data = times_of(cron("0 9 * * *", "UTC"));
    const DueMs decided = at("2026-11-23T08:00:00Z");  // nine o'clock, an hour ahead of UTC, by the old data
    EXPECT_EQ(new_data.next(decided, 0), at("2026-11-23T09:00:00Z"));
    EXPECT_EQ(new_data.next_after_change(decided, 3'600, 0), at("2026-11-24T09:00:00Z"));
    EXPECT_EQ(new_data.next_after_change(decided, 0, 0), at("2026-11-23T09:00:00Z")) << "it was eight o'clock";
    const DueMs late = at("2026-11-23T10:00:00Z");
    EXPECT_EQ(new_data.next_after_change(late, -3'600, 0), at("2026-11-24T09:00:00Z")) << "never before what was";
}

// Whatever came by another clock within an hour of the last time was skipped, without a word and in no count: an
// hour of a rule of every second, and the second pass of an hour where only the version of the data was another.
TEST(ScheduleTimes, other_zone_data_skip_no_time) {
    const DueMs decided = at("2026-11-23T08:00:00Z");
    const auto after_change = [&](const TimesRule& rule) {
        return format_instant(*times_of(rule).next_after_change(decided, 3'600, 0));
    };
    const auto iso = [](std::string text) {
        return TimesRule{.kind = TimesKind::iso, .text = std::move(text), .zone = "UTC"};
    };
    EXPECT_EQ(after_change(cron("* * * * * *", "UTC")), "2026-11-23T08:00:01.000Z");
    EXPECT_EQ(after_change(cron("*/10 * * * *", "UTC")), "2026-11-23T08:10:00.000Z");
    EXPECT_EQ(after_change(cron("*/10 0-22 * * *", "UTC")), "2026-11-23T09:10:00.000Z") << "it says times of day";
    EXPECT_EQ(after_change(iso("R/2026-11-23T00:00:00Z/PT10M")), "2026-11-23T08:10:00.000Z");
    EXPECT_EQ(after_change(iso("R/2026-11-23T00:00:00/PT10M")), "2026-11-23T09:10:00.000Z") << "clocks say its start";
    EXPECT_EQ(after_change(iso("R/2026-11-22T09:00:00Z/P1D")), "2026-11-24T09:00:00.000Z");
    EXPECT_EQ(after_change({.kind = TimesKind::every, .every_ms = 1'000, .zone = "UTC", .closed = "12-25"}),
              "2026-11-23T08:00:01.000Z");
    EXPECT_FALSE(times_of(iso("R/2026-11-23T00:00:00Z/PT10M")).depends_on_zone());
    EXPECT_TRUE(times_of(iso("R/2026-11-23T00:00:00/PT10M")).depends_on_zone());

    TimesRule both = cron("50 2 * * *", "Europe/Oslo");
    both.repeats_folds = true;
    EXPECT_EQ(times_of(both).next_after_change(at("2027-10-31T00:50:00Z"), 7'200, 0), at("2027-10-31T01:50:00Z"))
        << "clocks show now what they showed then: its second pass is to come";
}

// Clocks in Nuuk skip the last hour of a Saturday: what it says for that hour is of the Saturday, and comes on Sunday.
TEST(ScheduleTimes, a_skipped_time_is_closed_with_its_own_day) {
    TimesRule daily{.kind = TimesKind::iso, .text = "R3/2027-03-26T23:30:00/P1D", .zone = "America/Nuuk"};
    const std::vector<std::string> all = texts(times_of(daily), 0, 9);
    ASSERT_EQ(all.size(), 3u);
    daily.closed = "SAT";
    EXPECT_EQ(texts(times_of(daily), 0, 9), (std::vector<std::string>{all[0], all[2]}));
    EXPECT_EQ(times_of(daily).why_excluded(at(all[1])), "closed_day");
    daily.closed = "SUN";
    EXPECT_EQ(texts(times_of(daily), 0, 9), (std::vector<std::string>{all[0], all[1]}));
    TimesRule once{.kind = TimesKind::at, .text = "2027-03-27T23:30:00", .zone = "America/Nuuk", .closed = "SAT"};
    EXPECT_EQ(times_of(once).next(0, 0), std::nullopt);
    once.closed = "SUN";
    EXPECT_EQ(times_of(once).next(0, 0), at(all[1]));
}

}  // namespace
}  // namespace duewheel::schedule_times_test
