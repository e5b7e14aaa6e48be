// When a cron rule fires in a time zone.
//
// Choose it for whatever is due by the clock on the wall. What it gives up: it says when and does nothing itself; a
// wheel or a timer service waits for it.
//
// Example:
//     const CronSchedule nightly(*CronRule::parse("30 2 * * *"), *Zone::load("Europe/Oslo"));
//     const Instant now = sys_days{2026y / November / 21};
//     assert(nightly.next(now) == now + 1h + 30min);           // none would be: never again
//     for (const Instant due : nightly.upcoming(now, 10)) assert(due > now);
//     const CronSchedule two_nights(nightly.rule(), nightly.zone(), {}, {}, {.start = now, .end = now + 48h});
//     assert(two_nights.upcoming(now, 10).size() == 2);
//
// Clocks are put forward and back. The nightly rule's 02:30 does not exist on one Sunday a year and comes twice on
// another, and each reading of that is right for somebody. The default is never skipped and never twice:
//
//     clocks go 02:00 -> 03:00    02:30 does not exist    shift: at 03:00, the first instant there is   skip: not
//     clocks go 03:00 -> 02:00    02:30 comes twice       first: in the first pass alone                both
//
// Several skipped times fire once, together. A rule that names every hour ("*/10 * * * *") says how often and not when:
// where clocks jump by whole hours (less than a day) it goes on as if nothing had happened, ten minutes after ten
// minutes, whatever the policy. docs/calendar.md has examples that a test runs.
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

// When a schedule begins and ends: no firing before `start`, none after `end`.
struct CronWindow {
    std::optional<Instant> start{};
    std::optional<Instant> end{};
};

// An immutable value; all functions are pure and may be called from several threads at the same time.
//
// Cost: below a microsecond when the rule fires within some weeks; at worst one walk over the months and changes of
// offset up to 2399, also when the answer is never: a tenth of a millisecond.
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
    // The next `count` firings, fewer when the rule ends.
    std::vector<Instant> upcoming(Instant after, std::size_t count) const;

    // Whether a jump of local clocks is one to this rule: a jump of whole hours, of less than a day, is none to a rule
    // that names every hour, which fires as often in every hour of time.
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
