// The nominal times of a schedule's rule, ready to be asked: its expression read, its zone loaded.
//
// A rule says times without end; where a schedule stands among them (how many there were, which comes next) is its
// state's. All answers are pure functions of the rule and the zone data.
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

// What clocks do to a nominal time.
enum class ClockNote : std::uint8_t {
    none,
    shifted,      // its local time is skipped, so it comes at the end of the gap
    first_pass,   // its local time comes twice; this is the first
    second_pass,  // and this the second
};
std::string_view clock_note_name(ClockNote note);

// A value; copies share their zone. Functions may be called from several threads at the same time.
class ScheduleTimes {
  public:
    // Codes, with the member as field: bad_cron, bad_interval, bad_instant, bad_zone, bad_exclusion, out_of_range (a
    // rest of nothing, or of more than kRepeatEveryMaxMs).
    static Result<ScheduleTimes> make(const TimesRule& rule, const FindZone& find_zone);

    // The first nominal time later than `after_ms`, within start and end; none: never. `from_ms`: since when the rule
    // holds, from which `every` counts where it has no start. About a microsecond; at worst, where days are excluded
    // for years on end, a hundred.
    std::optional<DueMs> next(DueMs after_ms, DueMs from_ms) const;

    // What local clocks are ahead of UTC.
    std::int32_t offset_s(DueMs at_ms) const;
    // The first nominal time later than `decided_ms`, which was decided while local clocks were `offset_s` ahead of
    // UTC. Where the data of the zone say by now that they were not, clocks have been moved: times of day that had come
    // by then do not come once more. Stretches of time go on: of a rule that names every hour, and from a start that is
    // an instant.
    std::optional<DueMs> next_after_change(DueMs decided_ms, std::int32_t offset_s, DueMs from_ms) const;
    // Whether zone data say anything about it.
    bool depends_on_zone() const;

    ClockNote note(DueMs at_ms) const;
    // "2026-11-23T09:00:00.000+01:00", without `T` and offset read by people. The local time of an instant.
    std::string local_text(DueMs at_ms) const;

    // The same rule without one of its bounds.
    ScheduleTimes without_start() const;
    ScheduleTimes without_end() const;
    ScheduleTimes without_closed_days() const;

    // The same rule as if no clock were ever changed over it and no day excluded; what it says beyond this one's times
    // is what those policies leave out. None where the rule has no such policies.
    std::optional<ScheduleTimes> without_policies() const;
    // Why a nominal time of without_policies() is none of this rule.
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
    ExclusionCalendar closed_;  // of all but cron, which knows it itself
    std::variant<Every, CronSchedule, RepeatingInterval> what_;
};

}  // namespace duewheel
