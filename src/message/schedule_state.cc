#include "message/schedule_state.h"

#include <iterator>

#include "message/fields.h"
#include "message/queue_settings.h"
#include "message/template_fields.h"

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
    kTemplate = 16,  // and the nine after it
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
    message_template_fields(visit, kTemplate, rule);
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
    constexpr std::string_view kNames[] = {"cron", "every", "iso", "at"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(TimesKind::at));
    return kNames[static_cast<std::size_t>(kind) - 1];
}

std::string_view misfire_name(Misfire misfire) {
    constexpr std::string_view kNames[] = {"once", "all", "skip"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(Misfire::skip) + 1);
    return kNames[static_cast<std::size_t>(misfire)];
}

std::string_view overlap_name(Overlap overlap) {
    constexpr std::string_view kNames[] = {"allow", "skip", "queue_one"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(Overlap::queue_one) + 1);
    return kNames[static_cast<std::size_t>(overlap)];
}

std::string_view passed_why_name(PassedWhy why) {
    constexpr std::string_view kNames[] = {"none", "missed", "too_old", "paused", "overlap"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(PassedWhy::overlap) + 1);
    return kNames[static_cast<std::size_t>(why)];
}

std::string encode_schedule(const ScheduleState& state) {
    return encode_revised(state, [](auto& visit, const auto& of) { schedule_fields(visit, of); });
}

Result<ScheduleState> decode_schedule(std::string_view bytes) {
    Result<ScheduleState> state = decode_revised<ScheduleState>(
        bytes, "a schedule holds", [](auto& visit, auto& of) { schedule_fields(visit, of); });
    if (state && state->revision != 0 && state->rule.queue.empty()) {
        return Error{"damaged_record", "a schedule has no queue"};
    }
    return state;
}

std::uint64_t rule_term(std::uint32_t subject, std::string_view name_space, std::string_view name,
                        std::string_view value) {
    return settings_term(kRuleSeed + subject, name_space, name, value);
}

}  // namespace duewheel
