// A schedule: what makes messages at the times of a rule, under a name. As a value, and in its byte form: the value of
// a `rule` record and of a row of the index.
//
// A rule says the nominal times, which count from 1; what becomes of each is decided once, in their order, when it has
// come. It makes a run (a message of its own), or is passed over: skipped, or merged into another run. The state is the
// rule and how far it has come; each record holds all of it, so that the newest one is all there is to know. What its
// messages hold (body, headers) stands in the schedule's newest whole record alone.
//
// The byte form is that of records: ascending tags, defaults left out. A field that this version does not know is an
// error (`newer_format`): a rule that is half understood would fire at wrong times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/message.h"
#include "message/retry_rule.h"

namespace duewheel {

// The numbers of all these stand in the log.
enum class TimesKind : std::uint8_t {
    cron = 1,   // text: an expression
    every = 2,  // every_ms apart
    iso = 3,    // text: an ISO 8601 repeating interval
    at = 4,     // text: one instant, or a local time
};
enum class Misfire : std::uint8_t {
    once = 0,  // one run for all that were missed
    all = 1,   // a run for each
    skip = 2,  // none
};
enum class Overlap : std::uint8_t {
    allow = 0,
    skip = 1,       // no run while the one before is unfinished
    queue_one = 2,  // one run waits for its end, the newest; older ones are merged into it
};
// Why a nominal time was passed over.
enum class PassedWhy : std::uint8_t { none = 0, missed = 1, too_old = 2, paused = 3, overlap = 4 };

std::string_view times_kind_name(TimesKind kind);  // as the member of a request that says it
std::string_view misfire_name(Misfire misfire);
std::string_view overlap_name(Overlap overlap);
std::string_view passed_why_name(PassedWhy why);

// What a user says of the times. Two rules that are equal have the same nominal times.
struct TimesRule {
    TimesKind kind = TimesKind::every;
    std::string text;            // of all kinds but `every`
    std::int64_t every_ms = 0;   // of that one
    std::string zone;            // empty: UTC
    bool skips_gaps = false;     // a local time that clocks skip does not fire; else at the end of the gap
    bool repeats_folds = false;  // a local time that comes twice fires twice; else in its first pass
    std::string closed;          // days without a run, as duewheel/exclusion_calendar.h reads them
    DueMs start_ms = 0;          // no time before it; of `every`: the first one. 0: none
    DueMs end_ms = 0;            // no time after it; 0: none
    std::uint64_t times = 0;     // nominal times in all; 0: without end

    bool operator==(const TimesRule&) const = default;
};

// All that a user says of a schedule, its messages' contents apart.
struct ScheduleRule {
    TimesRule times;
    std::int64_t jitter_ms = 0;  // a run is due so much later at most
    Misfire misfire = Misfire::once;
    std::int64_t misfire_window_ms = 0;  // what is later than that is skipped, whatever `misfire` says; 0: nothing is
    Overlap overlap = Overlap::allow;
    std::string queue;  // of the runs, as is what follows
    std::string order_key;
    std::int32_t priority = 0;
    std::int64_t expires_after_ms = 0;  // its due time; 0: never
    RetryChoice retry;
    std::uint64_t content_hash = 0;  // of body, headers and content type

    bool operator==(const ScheduleRule&) const = default;
};

struct ScheduleState {
    std::uint32_t revision = 0;  // rises with each record; 0: there is no such schedule
    ScheduleRule rule;
    bool paused = false;
    DueMs created_ms = 0;
    DueMs from_ms = 0;           // times count after it: when the rule of times was set
    DueMs next_ms = 0;           // 0: there is none any more
    std::uint64_t next_run = 1;  // its number
    DueMs pass_until_ms = 0;     // times before it are skipped: they came during a pause

    // The newest nominal time that was decided, 0: none; and what local clocks were ahead of UTC at it, by the zone
    // data of then. With other data, what has the same local time is not decided again.
    DueMs last_ms = 0;
    std::int32_t last_offset_s = 0;
    std::string zone_data;  // version

    std::uint64_t made = 0;   // runs by the rule
    std::uint64_t late = 0;   // of these: made up for after they were missed
    std::uint64_t fired = 0;  // runs by hand
    std::uint64_t skipped = 0;
    std::uint64_t merged = 0;
    std::uint32_t made_up = 0;  // in a row, since the last one that was on time
    // The newest stretch of times that were passed over, one after the other for one reason.
    DueMs passed_from_ms = 0;
    DueMs passed_to_ms = 0;
    std::uint64_t passed_count = 0;
    PassedWhy passed_why = PassedWhy::none;

    MessageId last_id = 0;          // the newest run
    DueMs last_run_ms = 0;          // its nominal time
    DueMs waiting_ms = 0;           // queue_one: the nominal time of the run that waits; 0: none does
    std::uint64_t waiting_run = 0;  // its number
    bool waiting_late = false;

    bool has_ended() const { return next_ms == 0 && waiting_ms == 0; }
    bool operator==(const ScheduleState&) const = default;
};

// The longest value of a legal schedule, with room to spare: see the limits of each of its texts.
inline constexpr std::size_t kScheduleBytesMax = 8u << 10;
inline constexpr std::size_t kClosedDaysBytesMax = 4096;

// Empty for a state without a revision.
std::string encode_schedule(const ScheduleState& state);

// Codes: `damaged_record`, `newer_format`.
Result<ScheduleState> decode_schedule(std::string_view bytes);

// Subjects of `rule` records. The numbers stand in the log.
inline constexpr std::uint32_t kSubjectSchedule = 1;

// The share of a `rule` record in the log's digest; 0 for an empty value.
std::uint64_t rule_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                        std::string_view value);

}  // namespace duewheel
