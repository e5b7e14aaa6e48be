// A schedule: it creates messages at the times of a rule, and has a name. As a value, and in its byte form: the value
// of a `rule` record and of a row of the index.
//
// The rule determines nominal times, numbered from 1. Each is decided once, in order, when it has come: it creates a
// run (a message of its own), or is skipped, or is merged into another run. The state is the rule and its progress.
// Each record contains all of it, so the newest one is complete, except for the content of the messages (body,
// headers), which is only in the newest whole record of the schedule.
//
// The byte form is that of records: ascending tags without defaults. A field that this version does not know is an
// error (`newer_format`): a rule that is only partly understood would fire at wrong times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/message_template.h"

namespace duewheel {

// All these numbers are part of the log format.
enum class TimesKind : std::uint8_t {
    cron = 1,   // text: an expression
    every = 2,  // every_ms apart
    iso = 3,    // text: an ISO 8601 repeating interval
    at = 4,     // text: one instant, or a local time
};
enum class Misfire : std::uint8_t {
    once = 0,  // one run for all missed times
    all = 1,   // a run for each
    skip = 2,  // none
};
enum class Overlap : std::uint8_t {
    allow = 0,
    skip = 1,       // no run while the previous one is unfinished
    queue_one = 2,  // one run waits for its end, the newest; older ones are merged into it
};
// Why a nominal time was skipped.
enum class PassedWhy : std::uint8_t { none = 0, missed = 1, too_old = 2, paused = 3, overlap = 4 };

std::string_view times_kind_name(TimesKind kind);  // as the member of a request
std::string_view misfire_name(Misfire misfire);
std::string_view overlap_name(Overlap overlap);
std::string_view passed_why_name(PassedWhy why);

// The times as requested. Equal rules have equal nominal times.
struct TimesRule {
    TimesKind kind = TimesKind::every;
    std::string text;            // of all kinds except `every`
    std::int64_t every_ms = 0;   // of `every`
    std::string zone;            // empty: UTC
    bool skips_gaps = false;     // a local time that a clock change skips does not fire; else at the end of the gap
    bool repeats_folds = false;  // a local time that occurs twice fires twice; otherwise the first time
    std::string closed;          // days without a run, as duewheel/exclusion_calendar.h reads them
    DueMs start_ms = 0;          // no time before it; for `every` the first one. 0: none
    DueMs end_ms = 0;            // no time after it; 0: none
    std::uint64_t times = 0;     // number of nominal times; 0: unlimited

    bool operator==(const TimesRule&) const = default;
};

// All settings of a schedule, except the content of its messages.
struct ScheduleRule : MessageTemplate {
    TimesRule times;
    std::int64_t jitter_ms = 0;  // a run is due up to this much later
    Misfire misfire = Misfire::once;
    std::int64_t misfire_window_ms = 0;  // runs later than this are skipped, whatever `misfire` is; 0: none
    Overlap overlap = Overlap::allow;

    bool operator==(const ScheduleRule&) const = default;
};

struct ScheduleState {
    std::uint32_t revision = 0;  // incremented by each record; 0: there is no such schedule
    ScheduleRule rule;
    bool paused = false;
    DueMs created_ms = 0;
    DueMs from_ms = 0;           // times count after it: when the times were set
    DueMs next_ms = 0;           // 0: there are no more
    std::uint64_t next_run = 1;  // its number
    DueMs pass_until_ms = 0;     // times before it are skipped: they passed during a pause

    // The newest nominal time that was decided, 0: none; and the offset of local time from UTC at it, by the zone data
    // of that moment. With other data, the same local time is not decided again.
    DueMs last_ms = 0;
    std::int32_t last_offset_s = 0;
    std::string zone_data;  // version

    std::uint64_t made = 0;   // runs by the rule
    std::uint64_t late = 0;   // of these: created for missed times
    std::uint64_t fired = 0;  // runs fired manually
    std::uint64_t skipped = 0;
    std::uint64_t merged = 0;
    std::uint32_t made_up = 0;  // consecutive, since the last run that was on time
    // The newest sequence of consecutive times that were skipped for one reason.
    DueMs passed_from_ms = 0;
    DueMs passed_to_ms = 0;
    std::uint64_t passed_count = 0;
    PassedWhy passed_why = PassedWhy::none;

    MessageId last_id = 0;          // the newest run
    DueMs last_run_ms = 0;          // its nominal time
    DueMs waiting_ms = 0;           // queue_one: the nominal time of the waiting run; 0: none
    std::uint64_t waiting_run = 0;  // its number
    bool waiting_late = false;

    bool has_ended() const { return next_ms == 0 && waiting_ms == 0; }
    bool operator==(const ScheduleState&) const = default;
};

// The longest value of a valid schedule, with reserve: see the limits of each of its texts.
inline constexpr std::size_t kScheduleBytesMax = 8u << 10;
inline constexpr std::size_t kClosedDaysBytesMax = 4096;

// Empty for a state without a revision.
std::string encode_schedule(const ScheduleState& state);

// Codes: `damaged_record`, `newer_format`.
Result<ScheduleState> decode_schedule(std::string_view bytes);

}  // namespace duewheel
