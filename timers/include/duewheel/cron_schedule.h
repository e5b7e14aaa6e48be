// The instants at which a cron rule fires in a time zone.
//
// Choose it for everything that is due by wall clock time. Drawback: it only calculates; a wheel or a timer service
// does the waiting.
//
// Example:
//     const CronSchedule nightly(*CronRule::parse("30 2 * * *"), *Zone::load("Europe/Oslo"));
//     const Instant now = sys_days{2026y / November / 21};
//     assert(nightly.next(now) == now + 1h + 30min);           // none: never again
//     for (const Instant due : nightly.upcoming(now, 10)) assert(due > now);
//     const CronSchedule two_nights(nightly.rule(), nightly.zone(), {}, {}, {.start = now, .end = now + 48h});
//     assert(two_nights.upcoming(now, 10).size() == 2);
//
// Clock changes. The nightly rule's 02:30 does not exist on one Sunday a year and occurs twice on another, and each
// behaviour is right for some users. By default it is never skipped and never fires twice:
//
//     clocks go 02:00 -> 03:00    02:30 does not exist    shift: at 03:00, the first instant there is   skip: not
//     clocks go 03:00 -> 02:00    02:30 occurs twice      first: only the first time                    both
//
// Several skipped times fire once, together. A rule that matches every hour ("*/10 * * * *") is about intervals, not
// times of day: if clocks jump by whole hours (less than a day), it continues unchanged, every ten minutes, whatever
// the policy is. docs/calendar.md has examples that a test runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <duewheel/cron_rule.h>
#include <duewheel/exclusion_calendar.h>
#include <duewheel/instant.h>
#include <duewheel/zone.h>

namespace duewheel {

enum class SkippedTime : std::uint8_t { shift, skip };
enum class RepeatedTime : std::uint8_t { first, both };

struct DaylightPolicy {
    SkippedTime skipped = SkippedTime::shift;
    RepeatedTime repeated = RepeatedTime::first;
};

// The start and end of a schedule: no firing before `start`, none after `end`.
struct CronWindow {
    std::optional<Instant> start{};
    std::optional<Instant> end{};
};

// An immutable value; all functions are pure and may be called from several threads at once.
//
// Cost: below a microsecond if the rule fires within some weeks; in the worst case one scan of the months and offset
// changes up to 2399, also if the result is never: a tenth of a millisecond.
class CronSchedule {
  public:
    CronSchedule(CronRule rule, Zone zone, DaylightPolicy policy = {}, ExclusionCalendar closed = {},
                 CronWindow window = {})
        : rule_(std::move(rule)),
          zone_(std::move(zone)),
          policy_(policy),
          closed_(std::move(closed)),
          window_(window) {}

    // The first firing later than `after`; the last one earlier than `before`. None: never.
    std::optional<Instant> next(Instant after) const;
    std::optional<Instant> previous(Instant before) const;
    // The next `count` firings, fewer if the rule ends.
    std::vector<Instant> upcoming(Instant after, std::size_t count) const;

    // Whether a jump of local clocks matters for this rule: a jump of whole hours, of less than a day, does not matter
    // for a rule that matches every hour, which fires equally often in every hour of elapsed time.
    bool notices(std::chrono::seconds jump) const;

    const CronRule& rule() const { return rule_; }
    const Zone& zone() const { return zone_; }
    const DaylightPolicy& policy() const { return policy_; }
    const ExclusionCalendar& closed() const { return closed_; }
    const CronWindow& window() const { return window_; }

  private:
    CronRule rule_;
    Zone zone_;
    DaylightPolicy policy_;
    ExclusionCalendar closed_;
    CronWindow window_;
};

}  // namespace duewheel
