// What calendar rules cost: the next firing from random instants, rules that never fire, reading a rule, loading a
// zone.
//
//     calendar_bench [CALLS]      one round: lines "workload<TAB>rule<TAB>calls<TAB>nanoseconds a call"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "shared/random.h"
#include "shared/system_clock.h"
#include <duewheel/cron_schedule.h>
#include <duewheel/repeating_interval.h>

namespace {

using namespace duewheel;
using std::chrono::milliseconds;
using std::chrono::sys_days;
using std::chrono::year;

// What is worked out goes here, so that no compiler leaves it out.
volatile std::int64_t sink = 0;

std::vector<Instant> random_instants() {
    const std::int64_t begin = Instant(sys_days(year(2020) / 1 / 1)).time_since_epoch().count();
    const std::int64_t end = Instant(sys_days(year(2038) / 1 / 1)).time_since_epoch().count();
    Random random(1);
    std::vector<Instant> instants(4096);
    for (Instant& instant : instants) instant = Instant(milliseconds(random.between(begin, end)));
    return instants;
}

void measure(const char* workload, const std::string& rule, int calls, const std::function<std::int64_t(int)>& call) {
    for (int i = 0; i < calls / 10 + 1; ++i) sink = call(i);
    const std::int64_t begin = monotonic_now_ns();
    for (int i = 0; i < calls; ++i) sink = call(i);
    const std::int64_t took = monotonic_now_ns() - begin;
    std::printf("%s\t%s\t%d\t%.1f\n", workload, rule.c_str(), calls, static_cast<double>(took) / calls);
}

std::int64_t number_of(const std::optional<Instant>& instant) {
    return instant ? instant->time_since_epoch().count() : 0;
}

CronSchedule schedule(const char* rule, const char* zone, DaylightPolicy policy = {}, const char* closed = "") {
    return {*CronRule::parse(rule), *Zone::load(zone), policy, *ExclusionCalendar::parse(closed)};
}

void measure_next(int calls) {
    const std::vector<Instant> instants = random_instants();
    const auto at = [&](int i) { return instants[static_cast<std::size_t>(i) % instants.size()]; };
    for (const char* zone : {"UTC", "Europe/Oslo"}) {
        for (const char* rule : {"*/5 * * * *", "0 9 * * MON-FRI", "30 2 * * *", "0 0 1 * *", "0 12 LW * *",
                                 "0 0 13 * FRI", "*/10 * * * * *", "0 0 29 2 *"}) {
            const CronSchedule subject = schedule(rule, zone);
            measure("next", std::string(rule) + " in " + zone, calls,
                    [&](int i) { return number_of(subject.next(at(i))); });
        }
    }
    const CronSchedule open = schedule("0 9 * * *", "Europe/Oslo", {}, "SAT SUN 12-25 12-26 2026-12-28..2026-12-31");
    measure("next", "0 9 * * * in Europe/Oslo, closed SAT SUN 12-25", calls,
            [&](int i) { return number_of(open.next(at(i))); });
    const CronSchedule daily = schedule("30 2 * * *", "Europe/Oslo");
    measure("previous", "30 2 * * * in Europe/Oslo", calls, [&](int i) { return number_of(daily.previous(at(i))); });
    const auto monthly = RepeatingInterval::parse("R/2020-01-31T09:00:00/P1M", *Zone::load("Europe/Oslo"));
    measure("next", "R/2020-01-31T09:00:00/P1M in Europe/Oslo", calls,
            [&](int i) { return number_of(monthly->next(at(i))); });
}

void measure_never(int calls) {
    const Instant from = sys_days(year(1970) / 1 / 2);
    for (const char* rule : {"0 0 30 2 *", "0 0 0 ? 2 MON#5 2026", "0 0 31 4,6,9,11 *"}) {
        const CronSchedule subject = schedule(rule, "Europe/Oslo");
        measure("never", std::string(rule) + " in Europe/Oslo", calls,
                [&](int) { return number_of(subject.next(from)); });
    }
    const CronSchedule closed = schedule("0 9 * * SUN", "Europe/Oslo", {}, "SAT SUN 12-25 2026-12-28..2026-12-31");
    measure("never", "0 9 * * SUN in Europe/Oslo, closed SAT SUN", calls,
            [&](int) { return number_of(closed.next(from)); });
    // All of its times are skipped, once a year since 1996.
    const CronSchedule skipped = schedule("30 2 * 3 SUNL", "Europe/Oslo", {SkippedTime::skip, RepeatedTime::first});
    measure("never", "30 2 * 3 SUNL in Europe/Oslo, skip", calls,
            [&](int) { return number_of(skipped.next(sys_days(year(1997) / 1 / 1))); });
}

}  // namespace

int main(int count, char** arguments) {
    const int calls = count > 1 ? std::atoi(arguments[1]) : 400'000;
    if (calls < 1000) {
        std::fprintf(stderr, "usage: calendar_bench [CALLS], 1000 or more\n");
        return 2;
    }
    measure_next(calls);
    measure_never(calls / 100);
    measure("parse", "*/15 8-17 1,15,L JAN-NOV MON-FRI", calls / 10, [](int) {
        return CronRule::parse("*/15 8-17 1,15,L JAN-NOV MON-FRI").ok() ? std::int64_t{1} : std::int64_t{0};
    });
    measure("load a zone", "Europe/Oslo", calls / 1000,
            [](int) { return Zone::load("Europe/Oslo")->offset_at(kCalendarBegin).count(); });
    return 0;
}
