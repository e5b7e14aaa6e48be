// Schedules compared with a walk over every minute around clock changes, which uses no spans, sets or jumps.
//
// The C library gives the local time of each minute of a range (it reads the same zone files with its own code); a slow
// interpretation of the rule gives the local minutes that it matches. The policies are applied to these two lists as
// documented, and next() and previous() must return the result.
#include <array>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calendar/slow_cron_fixture.h"
#include "calendar/zone_rules.h"
#include "shared/random.h"
#include <duewheel/cron_schedule.h>

namespace duewheel::cron_minute_walk_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::minutes;
using Minute = std::int64_t;  // since 1970, of UTC or of local clocks

constexpr Minute kDay = 24 * 60;

// What clocks show in each minute of a stretch.
struct Stretch {
    Minute begin;
    std::vector<Minute> local;

    Stretch(const std::string& zone, Minute from, Minute to) : begin(from) {
        ::setenv("TZ", zone.c_str(), 1);
        ::tzset();
        for (Minute minute = from; minute < to; ++minute) {
            const std::time_t second = minute * 60;
            tm parts{};
            ::localtime_r(&second, &parts);
            local.push_back(minute + parts.tm_gmtoff / 60);
        }
        ::unsetenv("TZ");
        ::tzset();
    }
};

struct Walked {
    std::set<Minute> firings;
    int skipped = 0;
    int repeated = 0;
};

// A rule of every hour does not notice a jump of whole hours below a day.
bool notices(const SlowCron& rule, Minute jump) {
    return !rule.every_hour() || jump % 60 != 0 || jump >= kDay;
}

Walked walk(const SlowCron& rule, const Stretch& stretch, DaylightPolicy policy) {
    Walked walked;
    const auto named = [&](Minute local) { return rule.matches(std::chrono::local_time<minutes>(minutes(local))); };
    std::map<Minute, Minute> seen;  // local minute -> the minute it was first shown in
    for (std::size_t i = 0; i < stretch.local.size(); ++i) {
        const Minute minute = stretch.begin + static_cast<Minute>(i);
        const Minute shown = stretch.local[i];
        const Minute before = i == 0 ? shown - 1 : stretch.local[i - 1];
        for (Minute skipped = before + 1; skipped < shown; ++skipped) {
            if (!named(skipped) || !notices(rule, shown - before - 1)) continue;
            ++walked.skipped;
            if (policy.skipped == SkippedTime::shift) walked.firings.insert(minute);
        }
        const auto [first, is_first] = seen.emplace(shown, minute);
        if (!named(shown)) continue;
        if (!is_first && notices(rule, minute - first->second)) {
            ++walked.repeated;
            if (policy.repeated == RepeatedTime::first) continue;
        }
        walked.firings.insert(minute);
    }
    return walked;
}

std::set<Minute> forward(const CronSchedule& schedule, Minute begin, Minute end) {
    std::set<Minute> found;
    for (auto due = schedule.next(Instant(minutes(begin)) - 1ms); due && *due < Instant(minutes(end));
         due = schedule.next(*due)) {
        EXPECT_EQ(due->time_since_epoch() % 1min, 0ms);
        found.insert(std::chrono::floor<minutes>(due->time_since_epoch()).count());
    }
    return found;
}

std::set<Minute> backward(const CronSchedule& schedule, Minute begin, Minute end) {
    std::set<Minute> found;
    for (auto due = schedule.previous(Instant(minutes(end))); due && *due >= Instant(minutes(begin));
         due = schedule.previous(*due)) {
        found.insert(std::chrono::floor<minutes>(due->time_since_epoch()).count());
    }
    return found;
}

// The rule of the table that the edges are about, and random ones.
std::string rule_for(Random& random) {
    static constexpr const char* kRules[] = {"30 2 * * *",   "0 0 * * *",   "*/15 * * * *",    "5,35 1-3 * * *",
                                             "*/10 2 * * *", "0 */2 * * *", "30 0,12 * * SUN", "15 * L * *",
                                             "45 1 * * *",   "59 23 * * *"};
    return random.chance(500'000) ? kRules[random.below(std::size(kRules))] : random_rule(random);
}

TEST(CronMinuteWalk, schedules_fire_at_the_minutes_that_a_walk_finds) {
    // Jumps of half an hour and of two hours, at midnight, of a whole day, standing changes, clocks put back in spring.
    const char* zones[] = {"Europe/Oslo",       "America/New_York",     "Australia/Lord_Howe", "Pacific/Apia",
                           "Africa/Casablanca", "America/Caracas",      "Asia/Pyongyang",      "Antarctica/Troll",
                           "Asia/Beirut",       "America/Havana",       "Asia/Tehran",         "Pacific/Chatham",
                           "Europe/Dublin",     "America/Sao_Paulo",    "Asia/Gaza",           "Antarctica/Casey",
                           "Africa/Juba",       "America/Scoresbysund", "Europe/Lisbon",       "Pacific/Norfolk"};
    int skipped = 0;
    int repeated = 0;
    std::uint64_t firings = 0;
    for (const char* name : zones) {
        const Zone zone = *Zone::load(name);
        // All changes since 1975, when the last clock began to show whole minutes.
        std::vector<Minute> changes;
        for (const ZoneRules::Span& span : zone.rules().spans) {
            if (span.begin > 5 * 365 * kDaySeconds + 2 * kDaySeconds && span.begin < 68 * 365 * kDaySeconds) {
                changes.push_back(span.begin / 60);
            }
        }
        ASSERT_FALSE(changes.empty());
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            Random random(seed);
            const Minute change = changes[random.below(changes.size())];
            const Stretch stretch(name, change - 3 * kDay, change + 3 * kDay);
            for (int i = 0; i < 12; ++i) {
                const std::string text = rule_for(random);
                const DaylightPolicy policy{random.chance(500'000) ? SkippedTime::shift : SkippedTime::skip,
                                            random.chance(500'000) ? RepeatedTime::first : RepeatedTime::both};
                SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed) + ": " + text + " around minute " +
                             std::to_string(change));
                const Walked expected = walk(SlowCron(text), stretch, policy);
                // The first day of the stretch is left to the walk, which has to see the clocks of the day before.
                const Minute begin = change - 2 * kDay;
                const Minute end = change + 3 * kDay;
                const std::set<Minute> wanted(expected.firings.lower_bound(begin), expected.firings.end());
                const CronSchedule schedule(*CronRule::parse(text), zone, policy);
                ASSERT_EQ(forward(schedule, begin, end), wanted);
                ASSERT_EQ(backward(schedule, begin, end), wanted);
                skipped += expected.skipped;
                repeated += expected.repeated;
                firings += wanted.size();
            }
        }
    }
    EXPECT_GT(skipped, 500);
    EXPECT_GT(repeated, 500);
    EXPECT_GT(firings, 50'000u);
}

}  // namespace
}  // namespace duewheel::cron_minute_walk_test
