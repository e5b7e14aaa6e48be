// The nominal times of a schedule's rule, ready for queries: its expression parsed, its zone loaded.
//
// A rule has unlimited times. The position of a schedule among them (how many have passed, which is next) is in its
// state. All results are pure functions of the rule and the zone data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "message/schedule_state.h"
#include <duewheel/cron_schedule.h>
#include <duewheel/exclusion_calendar.h>
#include <duewheel/repeating_interval.h>
#include <duewheel/zone.h>

namespace duewheel {

using FindZone = std::function<Result<Zone>(std::string_view name)>;

// The effect of clock changes on a nominal time.
enum class ClockNote : std::uint8_t {
    none,
    shifted,      // its local time is skipped, so it is at the end of the gap
    first_pass,   // its local time occurs twice; this is the first
    second_pass,  // and this the second
};
std::string_view clock_note_name(ClockNote note);

// A value; copies share their zone. Several threads may call it at once.
class ScheduleTimes {
  public:
    // Codes, with the member as field: bad_cron, bad_interval, bad_instant, bad_zone, bad_exclusion, out_of_range (a
    // (an interval of 0, or longer than kRepeatEveryMaxMs).
    static Result<ScheduleTimes> make(const TimesRule& rule, const FindZone& find_zone);

    // The first nominal time later than `after_ms`, within start and end; none: never. `from_ms`: when the rule was
    // set, from which `every` counts if it has no start. About a microsecond; in the worst case, with days excluded for
    // years, a hundred.
    std::optional<DueMs> next(DueMs after_ms, DueMs from_ms) const;

    // The offset of local time from UTC.
    std::int32_t offset_s(DueMs at_ms) const;
    // The first nominal time later than `decided_ms`, which was decided while local time was `offset_s` ahead of UTC.
    // If the zone data now has another offset for it, the clocks have been moved: times of day that had passed do not
    // occur again. Elapsed time continues: of a rule that matches every hour, and of one that starts at an
    // instant.
    std::optional<DueMs> next_after_change(DueMs decided_ms, std::int32_t offset_s, DueMs from_ms) const;
    // Whether zone data affects the rule.
    bool depends_on_zone() const;

    ClockNote note(DueMs at_ms) const;
    // The local time of an instant: "2026-11-23T09:00:00.000+01:00", or for people without `T` and offset.
    std::string local_text(DueMs at_ms) const;

    // The same rule without one of its bounds.
    ScheduleTimes without_start() const;
    ScheduleTimes without_end() const;
    ScheduleTimes without_closed_days() const;

    // The same rule without clock policies and excluded days. Its additional times are those that the policies exclude.
    // None if the rule has no such policies.
    std::optional<ScheduleTimes> without_policies() const;
    // Why a nominal time of without_policies() is not one of this rule.
    std::string_view why_excluded(DueMs at_ms) const;

  private:
    struct Every {
        std::int64_t every_ms;
    };

    ScheduleTimes(const TimesRule& rule, Zone zone, ExclusionCalendar closed,
                  std::variant<Every, CronSchedule, RepeatingInterval> what)
        : start_ms_(rule.start_ms),
          end_ms_(rule.end_ms),
          zone_(std::move(zone)),
          closed_(std::move(closed)),
          what_(std::move(what)) {}

    std::optional<DueMs> next_of_rule(DueMs after_ms, DueMs from_ms) const;
    std::chrono::local_days nominal_day(DueMs at_ms) const;
    DueMs end_of_day(DueMs at_ms) const;

    DueMs start_ms_;
    DueMs end_ms_;
    Zone zone_;
    ExclusionCalendar closed_;  // of all kinds except cron, which handles it itself
    std::variant<Every, CronSchedule, RepeatingInterval> what_;
};

}  // namespace duewheel
