#include "message/schedule_state.h"

#include "message/fields.h"
#include "message/queue_settings.h"
#include "message/retry_fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kKind = 2,
    kText = 3,
    kEvery = 4,
    kZone = 5,
    kSkipsGaps = 6,
    kRepeatsFolds = 7,
    kClosed = 8,
    kStart = 9,
    kEnd = 10,
    kTimes = 11,
    kJitter = 12,
    kMisfire = 13,
    kMisfireWindow = 14,
    kOverlap = 15,
    kQueue = 16,
    kOrderKey = 17,
    kPriority = 18,
    kExpiresAfter = 19,
    kRetry = 20,  // and the four after it
    kContentHash = 25,
    kPaused = 40,
    kCreated = 41,
    kFrom = 42,
    kNext = 43,
    kNextRun = 44,
    kPassUntil = 45,
    kLast = 46,
    kLastOffset = 47,
    kZoneData = 48,
    kMade = 49,
    kLate = 50,
    kFired = 51,
    kSkipped = 52,
    kMerged = 53,
    kMadeUp = 54,
    kPassedFrom = 55,
    kPassedTo = 56,
    kPassedCount = 57,
    kPassedWhy = 58,
    kLastId = 59,
    kLastRun = 60,
    kWaiting = 61,
    kWaitingRun = 62,
    kWaitingLate = 63,
};

// Subjects of `rule` records are hashed apart from those of `conf` records.
constexpr std::uint32_t kRuleSeed = 1u << 16;

template <class E>
void read_enum(FieldReader& from, E& into, E least, E most) {
    std::uint8_t number = 0;
    from.number(number);
    if (number < static_cast<std::uint8_t>(least) || number > static_cast<std::uint8_t>(most)) return from.refuse();
    into = static_cast<E>(number);
}

void write_rule(FieldWriter& to, const ScheduleRule& rule) {
    to.number(kKind, static_cast<std::uint64_t>(rule.times.kind));
    to.text(kText, rule.times.text);
    to.signed_number(kEvery, rule.times.every_ms);
    to.text(kZone, rule.times.zone);
    to.number(kSkipsGaps, rule.times.skips_gaps ? 1 : 0);
    to.number(kRepeatsFolds, rule.times.repeats_folds ? 1 : 0);
    to.text(kClosed, rule.times.closed);
    to.signed_number(kStart, rule.times.start_ms);
    to.signed_number(kEnd, rule.times.end_ms);
    to.number(kTimes, rule.times.times);
    to.signed_number(kJitter, rule.jitter_ms);
    to.number(kMisfire, static_cast<std::uint64_t>(rule.misfire));
    to.signed_number(kMisfireWindow, rule.misfire_window_ms);
    to.number(kOverlap, static_cast<std::uint64_t>(rule.overlap));
    to.text(kQueue, rule.queue);
    to.text(kOrderKey, rule.order_key);
    to.signed_number(kPriority, rule.priority);
    to.signed_number(kExpiresAfter, rule.expires_after_ms);
    write_retry_choice(to, kRetry, rule.retry);
    to.number(kContentHash, rule.content_hash);
}

void write_progress(FieldWriter& to, const ScheduleState& state) {
    to.number(kPaused, state.paused ? 1 : 0);
    to.signed_number(kCreated, state.created_ms);
    to.signed_number(kFrom, state.from_ms);
    to.signed_number(kNext, state.next_ms);
    to.number(kNextRun, state.next_run, 1);
    to.signed_number(kPassUntil, state.pass_until_ms);
    to.signed_number(kLast, state.last_ms);
    to.signed_number(kLastOffset, state.last_offset_s);
    to.text(kZoneData, state.zone_data);
    to.number(kMade, state.made);
    to.number(kLate, state.late);
    to.number(kFired, state.fired);
    to.number(kSkipped, state.skipped);
    to.number(kMerged, state.merged);
    to.number(kMadeUp, state.made_up);
    to.signed_number(kPassedFrom, state.passed_from_ms);
    to.signed_number(kPassedTo, state.passed_to_ms);
    to.number(kPassedCount, state.passed_count);
    to.number(kPassedWhy, static_cast<std::uint64_t>(state.passed_why));
    to.number(kLastId, state.last_id);
    to.signed_number(kLastRun, state.last_run_ms);
    to.signed_number(kWaiting, state.waiting_ms);
    to.number(kWaitingRun, state.waiting_run);
    to.number(kWaitingLate, state.waiting_late ? 1 : 0);
}

bool read_rule_field(FieldReader& from, ScheduleRule& rule) {
    switch (from.tag()) {
        case kKind:
            return read_enum(from, rule.times.kind, TimesKind::cron, TimesKind::at), true;
        case kText:
            return from.text(rule.times.text), true;
        case kEvery:
            return from.signed_number(rule.times.every_ms), true;
        case kZone:
            return from.text(rule.times.zone), true;
        case kSkipsGaps:
            return from.boolean(rule.times.skips_gaps), true;
        case kRepeatsFolds:
            return from.boolean(rule.times.repeats_folds), true;
        case kClosed:
            return from.text(rule.times.closed), true;
        case kStart:
            return from.signed_number(rule.times.start_ms), true;
        case kEnd:
            return from.signed_number(rule.times.end_ms), true;
        case kTimes:
            return from.number(rule.times.times), true;
        case kJitter:
            return from.signed_number(rule.jitter_ms), true;
        case kMisfire:
            return read_enum(from, rule.misfire, Misfire::once, Misfire::skip), true;
        case kMisfireWindow:
            return from.signed_number(rule.misfire_window_ms), true;
        case kOverlap:
            return read_enum(from, rule.overlap, Overlap::allow, Overlap::queue_one), true;
        case kQueue:
            return from.text(rule.queue), true;
        case kOrderKey:
            return from.text(rule.order_key), true;
        case kPriority:
            return from.signed_number(rule.priority), true;
        case kExpiresAfter:
            return from.signed_number(rule.expires_after_ms), true;
        case kContentHash:
            return from.number(rule.content_hash), true;
        default:
            return read_retry_choice(from, kRetry, rule.retry);
    }
}

bool read_progress_field(FieldReader& from, ScheduleState& state) {
    switch (from.tag()) {
        case kRevision:
            return from.number(state.revision), true;
        case kPaused:
            return from.boolean(state.paused), true;
        case kCreated:
            return from.signed_number(state.created_ms), true;
        case kFrom:
            return from.signed_number(state.from_ms), true;
        case kNext:
            return from.signed_number(state.next_ms), true;
        case kNextRun:
            return from.number(state.next_run), true;
        case kPassUntil:
            return from.signed_number(state.pass_until_ms), true;
        case kLast:
            return from.signed_number(state.last_ms), true;
        case kLastOffset:
            return from.signed_number(state.last_offset_s), true;
        case kZoneData:
            return from.text(state.zone_data), true;
        case kMade:
            return from.number(state.made), true;
        case kLate:
            return from.number(state.late), true;
        case kFired:
            return from.number(state.fired), true;
        case kSkipped:
            return from.number(state.skipped), true;
        case kMerged:
            return from.number(state.merged), true;
        case kMadeUp:
            return from.number(state.made_up), true;
        case kPassedFrom:
            return from.signed_number(state.passed_from_ms), true;
        case kPassedTo:
            return from.signed_number(state.passed_to_ms), true;
        case kPassedCount:
            return from.number(state.passed_count), true;
        case kPassedWhy:
            return read_enum(from, state.passed_why, PassedWhy::none, PassedWhy::overlap), true;
        case kLastId:
            return from.number(state.last_id), true;
        case kLastRun:
            return from.signed_number(state.last_run_ms), true;
        case kWaiting:
            return from.signed_number(state.waiting_ms), true;
        case kWaitingRun:
            return from.number(state.waiting_run), true;
        case kWaitingLate:
            return from.boolean(state.waiting_late), true;
        default:
            return false;
    }
}

}  // namespace

std::string_view times_kind_name(TimesKind kind) {
    switch (kind) {
        case TimesKind::cron:
            return "cron";
        case TimesKind::every:
            return "every";
        case TimesKind::iso:
            return "iso";
        case TimesKind::at:
            return "at";
    }
    return "unknown";
}

std::string_view misfire_name(Misfire misfire) {
    switch (misfire) {
        case Misfire::once:
            return "once";
        case Misfire::all:
            return "all";
        case Misfire::skip:
            return "skip";
    }
    return "unknown";
}

std::string_view overlap_name(Overlap overlap) {
    switch (overlap) {
        case Overlap::allow:
            return "allow";
        case Overlap::skip:
            return "skip";
        case Overlap::queue_one:
            return "queue_one";
    }
    return "unknown";
}

std::string_view passed_why_name(PassedWhy why) {
    switch (why) {
        case PassedWhy::none:
            return "none";
        case PassedWhy::missed:
            return "missed";
        case PassedWhy::too_old:
            return "too_old";
        case PassedWhy::paused:
            return "paused";
        case PassedWhy::overlap:
            return "overlap";
    }
    return "unknown";
}

std::string encode_schedule(const ScheduleState& state) {
    std::string out;
    if (state.revision == 0) return out;
    FieldWriter to(out);
    to.number(kRevision, state.revision);
    write_rule(to, state.rule);
    write_progress(to, state);
    return out;
}

Result<ScheduleState> decode_schedule(std::string_view bytes) {
    ScheduleState state;
    FieldReader from(bytes);
    while (from.next()) {
        if (read_rule_field(from, state.rule) || read_progress_field(from, state)) continue;
        return Error{"newer_format",
                     "a schedule holds field " + std::to_string(from.tag()) +
                         ", which this version does not know: open the data with the version that wrote it"};
    }
    const bool is_whole = state.revision == 0 ? bytes.empty() : !state.rule.queue.empty();
    if (from.damaged() || !is_whole) return Error{"damaged_record", "a schedule cannot be read"};
    return state;
}

std::uint64_t rule_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                        std::string_view value) {
    return settings_term(kRuleSeed + subject, name_space, name, value);
}

}  // namespace duewheel
