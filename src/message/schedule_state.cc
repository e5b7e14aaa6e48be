#include "message/schedule_state.h"

#include "base/enum_name.h"
#include "base/error_codes.h"
#include "message/records/fields.h"
#include "message/records/template_fields.h"

namespace duewheel {
namespace {

// Field numbers are in the log: never change or re-use one.
template <class Visitor, class Schedule>
void schedule_fields(Visitor& visit, Schedule& state) {
    visit.number(1, state.revision);
    auto& rule = state.rule;
    visit.enumerator(2, rule.times.kind, TimesKind::cron, TimesKind::at);
    visit.text(3, rule.times.text);
    visit.signed_number(4, rule.times.every_ms);
    visit.text(5, rule.times.zone);
    visit.boolean(6, rule.times.skips_gaps);
    visit.boolean(7, rule.times.repeats_folds);
    visit.text(8, rule.times.closed);
    visit.signed_number(9, rule.times.start_ms);
    visit.signed_number(10, rule.times.end_ms);
    visit.number(11, rule.times.times);
    visit.signed_number(12, rule.jitter_ms);
    visit.enumerator(13, rule.misfire, Misfire::once, Misfire::skip);
    visit.signed_number(14, rule.misfire_window_ms);
    visit.enumerator(15, rule.overlap, Overlap::allow, Overlap::queue_one);
    message_template_fields(visit, 16, rule);  // and the nine after it
    visit.boolean(40, state.paused);
    visit.signed_number(41, state.created_ms);
    visit.signed_number(42, state.from_ms);
    visit.signed_number(43, state.next_ms);
    visit.number(44, state.next_run, 1);
    visit.signed_number(45, state.pass_until_ms);
    visit.signed_number(46, state.last_ms);
    visit.signed_number(47, state.last_offset_s);
    visit.text(48, state.zone_data);
    visit.number(49, state.made);
    visit.number(50, state.late);
    visit.number(51, state.fired);
    visit.number(52, state.skipped);
    visit.number(53, state.merged);
    visit.number(54, state.made_up);
    visit.signed_number(55, state.passed_from_ms);
    visit.signed_number(56, state.passed_to_ms);
    visit.number(57, state.passed_count);
    visit.enumerator(58, state.passed_why, PassedWhy::none, PassedWhy::overlap);
    visit.number(59, state.last_id);
    visit.signed_number(60, state.last_run_ms);
    visit.signed_number(61, state.waiting_ms);
    visit.number(62, state.waiting_run);
    visit.boolean(63, state.waiting_late);
    visit.text(64, rule.group);
}

}  // namespace

std::string_view times_kind_name(TimesKind kind) {
    return enum_name<TimesKind::at, TimesKind::cron>(kind, {"cron", "every", "iso", "at"});
}

std::string_view misfire_name(Misfire misfire) {
    return enum_name<Misfire::skip>(misfire, {"once", "all", "skip"});
}

std::string_view overlap_name(Overlap overlap) {
    return enum_name<Overlap::queue_one>(overlap, {"allow", "skip", "queue_one"});
}

std::string_view passed_why_name(PassedWhy why) {
    return enum_name<PassedWhy::overlap>(why, {"none", "missed", "too_old", "paused", "overlap"});
}

std::string encode_schedule(const ScheduleState& state) {
    return encode_revised(state, [](auto& visit, const auto& of) { schedule_fields(visit, of); });
}

Result<ScheduleState> decode_schedule(std::string_view bytes) {
    Result<ScheduleState> state = decode_revised<ScheduleState>(
        bytes, "a schedule holds", [](auto& visit, auto& of) { schedule_fields(visit, of); });
    if (state && state->revision != 0 && state->rule.queue.empty()) {
        return Error{"damaged_record"_code, "a schedule has no queue"};
    }
    return state;
}

}  // namespace duewheel
