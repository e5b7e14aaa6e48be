#include "http_api/answers/watchdog_text.h"

#include "http_api/answers/rule_text.h"
#include "http_api/fields/field_writer.h"
#include "http_api/fields/instant_member.h"
#include "http_api/requests/content_text.h"
#include "resource/watchdog_fields.h"

namespace duewheel {

void write_rule(JsonWriter& json, const WatchdogRule& rule) {
    write_fields(json, fields_of<WatchdogRule>(), &rule);
}

void write_progress(JsonWriter& json, const WatchdogState& state) {
    json.number("feeds", state.feeds).number("fired", state.fired).number("merged", state.merged);
    if (state.owed_ms != 0) {
        json.open("overdue");
        write_instant(json, "due", "due_ms", state.owed_ms);
        write_instant(json, "last_fed", "last_fed_ms", state.owed_fed_ms);
        json.close();
    }
    if (state.last_id == 0) return;
    json.open("last_fired").text("id", std::to_string(state.last_id));
    write_instant(json, "due", "due_ms", state.last_due_ms);
    json.close();
}

void write_watchdog(JsonWriter& json, const WatchdogAnswer& answer) {
    open_named(json, "watchdog", answer.name_space, answer.name);
    if (answer.removed) return void(json.boolean("removed", *answer.removed).close());
    const WatchdogState& state = answer.state;
    json.text("state", state.due_ms != 0 ? "armed" : "asleep").number("revision", state.revision);
    write_instant(json, "created", "created_ms", state.created_ms);
    if (state.due_ms != 0) write_instant(json, "due", "due_ms", state.due_ms);
    if (answer.blocked_by != ErrorCode::none) json.text("blocked_by", name_of(answer.blocked_by));
    if (answer.late) json.boolean("late", *answer.late);
    write_instant(json, "last_fed", "last_fed_ms", state.fed_ms);
    write_progress(json, state);
    json.open("settings");
    write_rule(json, state.rule);
    if (answer.has_content) write_content(json, answer);
    json.close().close();
}

void write_fed(JsonWriter& json, const FedAnswer& answer) {
    open_named(json, "watchdog", answer.name_space, answer.name);
    write_instant(json, "due", "due_ms", answer.due_ms);
    json.boolean("late", answer.late).number("fired", answer.fired).close();
}

}  // namespace duewheel
