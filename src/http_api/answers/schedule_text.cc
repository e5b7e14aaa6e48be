#include "http_api/answers/schedule_text.h"

#include "calendar/instant_text.h"
#include "calendar/rule_words.h"
#include "http_api/answers/rule_text.h"
#include "http_api/fields/field_writer.h"
#include "http_api/fields/instant_member.h"
#include "http_api/requests/content_text.h"
#include "resource/schedule_fields.h"

namespace duewheel {
namespace {

// A text that cannot be parsed is its own words.
std::string words_of(const TimesRule& times, Language language) {
    if (times.kind == TimesKind::every) return words_of(std::chrono::milliseconds(times.every_ms), language);
    if (times.kind == TimesKind::at) return words_of_one(times.text, language);
    if (times.kind == TimesKind::cron) {
        const Result<CronRule> rule = CronRule::parse(times.text);
        return rule ? words_of(*rule, language) : times.text;
    }
    const Result<RepeatingInterval> interval = RepeatingInterval::parse(times.text, Zone::utc());
    return interval ? words_of(*interval, times.text, language) : times.text;
}

void write_words(JsonWriter& json, const TimesRule& times) {
    json.open("words").text("en", words_of(times, Language::en)).text("zh", words_of(times, Language::zh)).close();
}

std::string_view state_of(const ScheduleAnswer& answer) {
    if (answer.invalid_zone) return "invalid_zone";
    if (answer.state.has_ended()) return "ended";
    return answer.state.paused ? "paused" : "active";
}

}  // namespace

void write_rule(JsonWriter& json, const ScheduleRule& rule) {
    write_fields(json, fields_of<ScheduleRule>(), &rule);
}

void write_progress(JsonWriter& json, const ScheduleState& state) {
    json.open("runs").number("made", state.made).number("late", state.late).number("manual", state.fired);
    json.number("skipped", state.skipped).number("merged", state.merged).close();
    if (state.last_id != 0) {
        json.open("last_run").text("id", std::to_string(state.last_id));
        json.text("nominal", format_instant(state.last_run_ms)).number("nominal_ms", state.last_run_ms).close();
    }
    if (state.waiting_ms != 0) {
        json.open("waiting_run").number("occurrence", state.waiting_run);
        json.text("nominal", format_instant(state.waiting_ms)).number("nominal_ms", state.waiting_ms).close();
    }
    if (state.passed_why == PassedWhy::none) return;
    json.open("last_skipped").text("reason", passed_why_name(state.passed_why)).number("count", state.passed_count);
    json.text("from", format_instant(state.passed_from_ms)).number("from_ms", state.passed_from_ms);
    json.text("to", format_instant(state.passed_to_ms)).number("to_ms", state.passed_to_ms).close();
}

void write_schedule(JsonWriter& json, const ScheduleAnswer& answer) {
    open_named(json, "schedule", answer.name_space, answer.name);
    if (answer.removed) return void(json.boolean("removed", *answer.removed).close());
    const ScheduleState& state = answer.state;
    json.text("state", state_of(answer)).boolean("paused", state.paused);
    json.number("revision", state.revision);
    write_instant(json, "created", "created_ms", state.created_ms);
    if (state.next_ms != 0 && !answer.invalid_zone) {
        write_instant(json, "next", "next_ms", state.next_ms);
        json.number("next_occurrence", state.next_run);
    }
    if (answer.blocked_by != ErrorCode::none) json.text("blocked_by", name_of(answer.blocked_by));
    write_progress(json, state);
    json.text("zone_data", answer.zone_data);
    write_words(json, state.rule.times);
    json.open("settings");
    write_rule(json, state.rule);
    if (answer.has_content) write_content(json, answer);
    json.close().close();
}

void write_preview(JsonWriter& json, const PreviewAnswer& answer) {
    open_named(json, "schedule", answer.name_space, answer.name).boolean("paused", answer.paused);
    json.text("zone", answer.rule.zone.empty() ? "UTC" : answer.rule.zone).text("zone_data", answer.zone_data);
    write_words(json, answer.rule);
    json.open_array("times");
    for (const PreviewAnswer::Time& time : answer.times) {
        json.open();
        if (time.number != 0) json.number("occurrence", time.number);
        write_instant(json, "nominal", "nominal_ms", time.nominal_ms);
        json.text("local", time.local);
        write_instant(json, "due", "due_ms", time.due_ms);
        if (time.note != ClockNote::none) json.text("clock_change", clock_note_name(time.note));
        json.close();
    }
    json.close_array().open_array("excluded");
    for (const PreviewAnswer::Excluded& time : answer.excluded) {
        json.open();
        write_instant(json, "nominal", "nominal_ms", time.nominal_ms);
        json.text("local", time.local).text("reason", time.why).close();
    }
    json.close_array();
    if (answer.more_excluded) json.boolean("more_excluded", true);
    json.close();
}

}  // namespace duewheel
