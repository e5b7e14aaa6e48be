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

template <class Visitor, class Schedule>
void schedule_fields(Visitor& visit, Schedule& state) {
    visit.number(kRevision, state.revision);
    auto& rule = state.rule;
    visit.enumerator(kKind, rule.times.kind, TimesKind::cron, TimesKind::at);
    visit.text(kText, rule.times.text);
    visit.signed_number(kEvery, rule.times.every_ms);
    visit.text(kZone, rule.times.zone);
    visit.boolean(kSkipsGaps, rule.times.skips_gaps);
    visit.boolean(kRepeatsFolds, rule.times.repeats_folds);
    visit.text(kClosed, rule.times.closed);
    visit.signed_number(kStart, rule.times.start_ms);
    visit.signed_number(kEnd, rule.times.end_ms);
    visit.number(kTimes, rule.times.times);
    visit.signed_number(kJitter, rule.jitter_ms);
    visit.enumerator(kMisfire, rule.misfire, Misfire::once, Misfire::skip);
    visit.signed_number(kMisfireWindow, rule.misfire_window_ms);
    visit.enumerator(kOverlap, rule.overlap, Overlap::allow, Overlap::queue_one);
    visit.text(kQueue, rule.queue);
    visit.text(kOrderKey, rule.order_key);
    visit.signed_number(kPriority, rule.priority);
    visit.signed_number(kExpiresAfter, rule.expires_after_ms);
    retry_choice_fields(visit, kRetry, rule.retry);
    visit.number(kContentHash, rule.content_hash);
    visit.boolean(kPaused, state.paused);
    visit.signed_number(kCreated, state.created_ms);
    visit.signed_number(kFrom, state.from_ms);
    visit.signed_number(kNext, state.next_ms);
    visit.number(kNextRun, state.next_run, 1);
    visit.signed_number(kPassUntil, state.pass_until_ms);
    visit.signed_number(kLast, state.last_ms);
    visit.signed_number(kLastOffset, state.last_offset_s);
    visit.text(kZoneData, state.zone_data);
    visit.number(kMade, state.made);
    visit.number(kLate, state.late);
    visit.number(kFired, state.fired);
    visit.number(kSkipped, state.skipped);
    visit.number(kMerged, state.merged);
    visit.number(kMadeUp, state.made_up);
    visit.signed_number(kPassedFrom, state.passed_from_ms);
    visit.signed_number(kPassedTo, state.passed_to_ms);
    visit.number(kPassedCount, state.passed_count);
    visit.enumerator(kPassedWhy, state.passed_why, PassedWhy::none, PassedWhy::overlap);
    visit.number(kLastId, state.last_id);
    visit.signed_number(kLastRun, state.last_run_ms);
    visit.signed_number(kWaiting, state.waiting_ms);
    visit.number(kWaitingRun, state.waiting_run);
    visit.boolean(kWaitingLate, state.waiting_late);
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
    FieldWriter to(out);
    if (state.revision != 0) schedule_fields(to, state);
    return out;
}

Result<ScheduleState> decode_schedule(std::string_view bytes) {
    ScheduleState state;
    FieldsReader from(bytes);
    schedule_fields(from, state);
    if (Status known = from.end("a schedule holds"); !known) return std::move(known).error();
    const bool is_whole = state.revision == 0 ? bytes.empty() : !state.rule.queue.empty();
    if (from.damaged() || !is_whole) return Error{"damaged_record", "a schedule cannot be read"};
    return state;
}

std::uint64_t rule_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                        std::string_view value) {
    return settings_term(kRuleSeed + subject, name_space, name, value);
}

}  // namespace duewheel
