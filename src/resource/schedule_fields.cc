#include "resource/schedule_fields.h"

#include "base/error_codes.h"
#include "resource/content_rows.h"

namespace duewheel {
namespace {

using content_rows::of_rule;

constexpr std::string_view kSkippedTimes[] = {"shift", "skip"};
constexpr std::string_view kRepeatedTimes[] = {"first", "both"};
constexpr std::string_view kMisfires[] = {"once", "all", "skip"};
constexpr std::string_view kOverlaps[] = {"allow", "skip", "queue_one"};

// The text of a rule that is of this kind.
template <TimesKind kKind>
FieldValue text_of(const void* resource) {
    const TimesRule& times = static_cast<const ScheduleRule*>(resource)->times;
    return times.kind == kKind ? FieldValue(times.text) : FieldValue();
}
FieldValue interval_of(const void* resource) {
    const TimesRule& times = static_cast<const ScheduleRule*>(resource)->times;
    return times.kind == TimesKind::every ? FieldValue(times.every_ms) : FieldValue();
}

template <auto Member>
constexpr auto kOfTimes = inside<&ScheduleRule::times, Member>;

constexpr Field kScheduleRows[] = {
    content_rows::kQueueOfRule<ScheduleRule>,
    by_hand(
        FieldKind::text, "cron",
        "A cron expression of 5 fields, of 6 fields that begin with seconds, or in Quartz syntax; or a macro such "
        "as @daily",
        {.page = "a [cron expression](calendar.md#cron-expressions) of 5 to 7 fields. One of `cron`, `every`, `iso` "
                 "and `at` is required",
         .min = 1,
         .limit = "limits.cron_max",
         .schema = R"({"examples": ["0 9 * * MON-FRI"]})",
         .option = "--cron FIELDS",
         .get = text_of<TimesKind::cron>}),
    by_hand(FieldKind::duration, "every", "A fixed interval: 10s, 1h",
            {.page = "a constant interval, 1 ms to 3660 days, from `start`, else from the put", .get = interval_of}),
    by_hand(FieldKind::text, "iso",
            "An ISO 8601 repeating interval, such as R5/2027-01-01T09:00:00/P1M. A start without an offset is local "
            "time in its zone",
            {.page = "an [ISO 8601 repeating interval](calendar.md#repeating-intervals): `R/2026-01-31T09:00:00/P1M`",
             .min = 1,
             .limit = "limits.interval_text_max",
             .schema = R"({"examples": ["R/2026-01-31T09:00:00/P1M"]})",
             .option = "--iso INTERVAL",
             .get = text_of<TimesKind::iso>}),
    by_hand(FieldKind::text, "at", "One time: an instant, or a local time in its zone: 2027-01-01T06:00",
            {.page = "one time: an instant, or a local time without offset, `2027-01-01T06:00:00`",
             .min = 1,
             .limit = "limits.interval_text_max",
             .schema = R"({"examples": ["2027-01-01T06:00:00"]})",
             .option = "--at TIME",
             .get = text_of<TimesKind::at>}),
    read_by_hand(text<kOfTimes<&TimesRule::zone>>(
        0, "zone", "Its time zone, of the IANA database, such as Europe/Oslo",
        {.page = "the IANA time zone of local times, such as `Europe/Oslo`; UTC by default",
         .when_absent = "UTC",
         .schema = R"({"examples": ["Europe/Oslo"]})",
         .option = "--zone,--tz ZONE"})),
    word<kOfTimes<&TimesRule::skips_gaps>>(
        0, "dst",
        "Only for cron: a local time that a clock change skips fires at the end of the gap (shift, the default), or "
        "not at all (skip)",
        kSkippedTimes,
        {.page = "only with `cron`: a local time [that clocks skip](calendar.md#when-clocks-change), `shift`, the "
                 "default, to the end of the gap, or `skip`",
         .code = "bad_policy"_code,
         .omits_default = true,
         .schema = R"({"type": "string"})",
         .option = "--dst POLICY"}),
    word<kOfTimes<&TimesRule::repeats_folds>>(
        0, "dst_repeat",
        "Only for cron: a local time that a clock change repeats fires at its first occurrence (first, the default), "
        "or at both",
        kRepeatedTimes,
        {.page = "only with `cron`: a local time that occurs twice, `first`, the default, or `both`",
         .code = "bad_policy"_code,
         .omits_default = true,
         .schema = R"({"type": "string"})",
         .option = "--dst-repeat POLICY"}),
    read_by_hand(text<kOfTimes<&TimesRule::closed>>(
        0, "closed", "Days without a run, such as 'SAT SUN 12-25 2026-12-28..2026-12-31'",
        {.page = "[days without a run](calendar.md#excluded-days): `\"SAT SUN 12-25\"`, up to 4 KiB; none by default",
         .limit = "limits.closed_days_max",
         .when_absent = "none",
         .option = "--closed DAYS"})),
    read_by_hand(instant<kOfTimes<&TimesRule::start_ms>>(
        0, "start", "No run before this time",
        {.page = "no run before this instant; no bound by default", .option = "--start TIME"})),
    read_by_hand(instant<kOfTimes<&TimesRule::end_ms>>(
        0, "end", "No run after this time",
        {.page = "no run after this instant; no bound by default", .option = "--end TIME"})),
    count<kOfTimes<&TimesRule::times>>(
        0, "times", "Total number of nominal times",
        {.page = "the number of nominal times from the first put on, whether they create a run or not; times of "
                 "earlier rules of the schedule count. No end by default",
         .limit = "limits.repeat_times_max",
         .when_absent = "unlimited"}),
    duration<&ScheduleRule::jitter_ms>(
        0, "jitter", "Delay each run by a random time up to this",
        {.page = "each run is due later by up to this duration, always the same for the same name and time. `due_ms` "
                 "of a lease is the nominal time, and `wait_ms` counts from it. None by default"}),
    word<&ScheduleRule::misfire>(
        0, "misfire",
        "How many runs are created for missed times: one for all of them (once, the default), one for each (all), or "
        "none (skip)",
        kMisfires,
        {.page = "[missed times](#missed-times): `once`, the default, `all` or `skip`",
         .code = "bad_policy"_code,
         .schema = R"({"type": "string"})",
         .option = "--misfire POLICY"}),
    duration<&ScheduleRule::misfire_window_ms>(
        0, "misfire_window", "Maximum age of a missed time that is made up for",
        {.page = "the maximum age of a missed time that is made up for; no limit by default",
         .min = 1,
         .when_absent = "no limit, and use `\"misfire\": \"skip\"` for no missed runs"}),
    word<&ScheduleRule::overlap>(
        0, "overlap", "What happens to a run while the previous one is unfinished: allow (default), skip, or queue_one",
        kOverlaps,
        {.page = "a run that is due [while the previous one is unfinished](#overlap): `allow`, the default, `skip` or "
                 "`queue_one`",
         .code = "bad_policy"_code,
         .schema = R"({"type": "string"})",
         .option = "--overlap POLICY"}),
    by_hand(FieldKind::flag, "paused", "Pause the schedule: it creates no runs until it is resumed",
            {.page = "whether it creates no runs; unchanged by default, and `false` for a new one",
             .schema = R"({"default": null, "writeOnly": true})"}),
    of_rule(content_rows::kBody),
    of_rule(content_rows::kBodyBase64),
    of_rule(content_rows::kJson),
    of_rule(content_rows::kHeaders),
    of_rule(content_rows::kKafka),
    of_rule(content_rows::kContentType),
    content_rows::kPriorityOfRule<ScheduleRule>,
    content_rows::kOrderKeyOfRule<ScheduleRule>,
    content_rows::kGroupOfRule<ScheduleRule>,
    content_rows::kExpiryOfRule<ScheduleRule>,
    content_rows::kRetryOfRule<ScheduleRule>,
};

}  // namespace

template <>
const FieldTable& fields_of<ScheduleRule>() {
    static const FieldTable table("a schedule's settings hold", kScheduleRows);
    return table;
}

}  // namespace duewheel
